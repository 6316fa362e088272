using MongoPerf.Measurement;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>Groups whose threads don't have a connection each: what it took to have one.</summary>
internal static class ConnectionTables
{
    /// <summary>Of the operations: fewer that wait show in no percentile that most people look at.</summary>
    private const double ManyWait = 0.05;

    /// <summary>What is counted of one group's connections.</summary>
    private sealed record Use(PhaseRecord Phase, OperationResult Result, ConnectionResult Connections)
    {
        /// <summary>Of the group.</summary>
        public long Operations => Phase.Groups
            .FirstOrDefault(group => OperationResult.NameOf(Connections.Kind, group.Name) == Result.Operation)?.Operations ?? 0;

        public string Label => PhaseLabels.WithParameters(Phase, Result.Operation);

        /// <summary>Of the group's operations, those that waited.</summary>
        public double Share => (double)Result.Operations / Math.Max(1, Operations);

        public string Text => Connections.Kind switch
        {
            ConnectionKind.Pool => Words.Of($"pool of {Units.Exact(Connections.Count)}"),
            ConnectionKind.Churn => Words.Of("one for each operation"),
            _ => Words.Of($"{Units.Exact(Connections.Count)} at once"),
        };
    }

    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        Use[] waits = [.. Uses(run).Where(use => use.Connections.Kind == ConnectionKind.Pool)];
        if (waits.Length > 0)
            yield return ReportTables.Thinned(
                Words.Of("Waiting for a pooled connection: part of the latency of the operations that waited"),
                ["<phase", "<connections", "threads", "operations", "waited", "of operations", .. Times],
                [.. waits.Select(use => (IReadOnlyList<string>)
                [
                    use.Phase.Label(), use.Text, Units.Exact(use.Result.Threads), Units.Exact(use.Operations),
                    Units.Exact(use.Result.Operations), Units.Percent(use.Share), .. TimesOf(use.Result),
                ])]);
        Use[] opened = [.. Uses(run).Where(use => use.Connections.Kind != ConnectionKind.Pool)];
        if (opened.Length > 0)
            yield return ReportTables.Thinned(
                Words.Of("Connections opened: each from connecting to the end of its login, with TLS where it is on"),
                ["<phase", "<connections", "opened", "failed", "per second", .. Times],
                [.. opened.Select(use => (IReadOnlyList<string>)
                [
                    use.Phase.Label(), use.Text, Units.Exact(use.Result.Operations), Units.Exact(use.Result.Failed),
                    use.Connections.Kind == ConnectionKind.Churn ? Units.Rate(use.Result.OperationsPerSecond) : Units.None,
                    .. TimesOf(use.Result),
                ])]);
        List<IReadOnlyList<string>> storms = [.. opened.SelectMany(use => use.Connections.Storms.Select(storm => (IReadOnlyList<string>)
        [
            use.Phase.Label(), Units.Duration(storm.AtSeconds), Units.Exact(storm.Connections),
            Units.Exact(storm.Usable), storm.Seconds is { } seconds ? Units.Duration(seconds) : Units.None,
        ]))];
        if (storms.Count > 0)
            yield return ReportTables.Thinned(
                Words.Of("Connections opened at once"), ["<phase", "after", "connections", "usable", "all usable after"], storms);
    }

    /// <summary>Pools that many waited for, and whether all connections that were opened at once came to be.</summary>
    public static IEnumerable<Verdict> Verdicts(StoredRun run)
    {
        foreach (Use use in Uses(run))
        {
            if (use.Connections.Kind == ConnectionKind.Pool && use.Result.Operations > 0 && use.Share >= ManyWait)
                yield return new Verdict(Grade.Note, Words.Of($"{use.Label}: {Units.Percent(use.Share)} of the operations waited for one "
                    + $"of the pool's {Words.Counted(use.Connections.Count, "connection")}, p50 "
                    + $"{Units.Latency(use.Result.LatencyMicroseconds.P50)}, p99 {Units.Latency(use.Result.LatencyMicroseconds.P99)}: "
                    + $"that is part of their latency, and none of it the server's"));
            foreach (StormResult storm in use.Connections.Storms)
            {
                yield return storm.Seconds is { } seconds
                    ? new Verdict(Grade.Good, Words.Of($"{use.Label}: {Words.Counted(storm.Connections, "connection")} opened at once were "
                        + $"all usable after {Units.Duration(seconds)}"))
                    : new Verdict(Grade.Note, Words.Of($"{use.Label}: of {Words.Counted(storm.Connections, "connection")} opened at once "
                        + $"{Units.Exact(storm.Usable)} were usable when the phase ended or connections were lost again"));
            }
        }
    }

    private static IReadOnlyList<string> Times { get; } = ["mean", "p50", "p95", "p99", "max"];

    private static IEnumerable<string> TimesOf(OperationResult result) =>
    [
        Units.Latency(result.LatencyMicroseconds.Mean), Units.Latency(result.LatencyMicroseconds.P50),
        Units.Latency(result.LatencyMicroseconds.P95), Units.Latency(result.LatencyMicroseconds.P99),
        Units.Latency(result.LatencyMicroseconds.Max),
    ];

    private static IEnumerable<Use> Uses(StoredRun run) => run.Phases.SelectMany(phase =>
        phase.Operations.Where(result => result.Connections is not null).Select(result => new Use(phase, result, result.Connections!)));
}
