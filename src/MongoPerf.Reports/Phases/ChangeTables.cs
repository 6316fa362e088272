using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>Operations that watch a collection: which events came, and which did not.</summary>
internal static class ChangeTables
{
    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        List<IReadOnlyList<string>> rows = [.. Results(run).Select(one => Row(one.Phase, one.Result, one.Changes))];
        if (rows.Count > 0)
            yield return ReportTables.Thinned(
                Words.Of("Change streams: delay from the acknowledgement of a write to its event"),
                ["<phase", "<operation", "events", "per second", "timed", "mean", "p50", "p95", "p99", "max", "missing", "duplicated",
                    "out of order", "resumed"],
                rows);
    }

    /// <summary>Whether each acknowledged write came once and in its order.</summary>
    public static IEnumerable<Verdict> Verdicts(StoredRun run)
    {
        foreach ((PhaseRecord phase, OperationResult result, ChangeResult changes) in Results(run))
        {
            string label = PhaseLabels.Of(phase, result.Operation);
            if (changes.HasFault)
                yield return new Verdict(Grade.Bad, Words.Of($"{label}: of the events of acknowledged writes "
                    + $"{Units.Exact(changes.Missing)} are missing, {Units.Exact(changes.Duplicated)} duplicated and "
                    + $"{Units.Exact(changes.Misordered)} out of order; a write that only the primary has acknowledged may be rolled back "
                    + $"when the primary fails"));
            else if (changes.Followed > 0 && changes.Unsettled == 0)
                yield return new Verdict(Grade.Good, changes.Resumed > 0
                    ? Words.Of($"{label}: {Words.Counted(changes.Followed, "event")} of acknowledged writes; none is missing, duplicated "
                        + $"or out of order, though the stream broke off and was resumed {Words.Counted(changes.Resumed, "time")}")
                    : Words.Of($"{label}: {Words.Counted(changes.Followed, "event")} of acknowledged writes; none is missing, duplicated "
                        + $"or out of order"));
            if (changes.Unsettled > 0)
                yield return new Verdict(Grade.Note, Words.Of($"{label}: the events of {Words.Counted(changes.Unsettled, "write")} had not "
                    + $"come at the end: the connection broke, or a quiet shard had not told its time within 30 s "
                    + $"(periodicNoopIntervalSecs)"));
        }
    }

    private static IEnumerable<(PhaseRecord Phase, OperationResult Result, ChangeResult Changes)> Results(StoredRun run) =>
        run.Phases.SelectMany(phase => phase.Operations.Where(result => result.Changes is not null)
            .Select(result => (phase, result, result.Changes!)));

    private static IReadOnlyList<string> Row(PhaseRecord phase, OperationResult result, ChangeResult changes) =>
    [
        phase.Label(), result.Operation, Units.Exact(result.Operations), Units.Rate(result.OperationsPerSecond),
        Units.Exact(changes.Followed), Units.Latency(result.LatencyMicroseconds.Mean), Units.Latency(result.LatencyMicroseconds.P50),
        Units.Latency(result.LatencyMicroseconds.P95), Units.Latency(result.LatencyMicroseconds.P99),
        Units.Latency(result.LatencyMicroseconds.Max), Units.Exact(changes.Missing), Units.Exact(changes.Duplicated),
        Units.Exact(changes.Misordered), Units.Exact(changes.Resumed),
    ];
}
