using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>Operations that are made of steps: what each step took, and what became of their transactions.</summary>
internal static class StepTables
{
    /// <summary>Of the transactions, or of their time: fewer are as usual as a full disk queue.</summary>
    private const double ManyRetries = 0.05;

    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        List<IReadOnlyList<string>> steps = [.. Results(run)
            .SelectMany(one => one.Result.Steps.Select(step => Row(one.Phase, one.Result, step)))];
        if (steps.Count > 0)
            yield return ReportTables.Thinned(
                Words.Of("Steps: each from its command to its reply"),
                ["<phase", "<operation", "<step", "count", "per operation", "failed", "mean", "p50", "p95", "p99", "max"], steps);
        List<IReadOnlyList<string>> transactions = [.. Results(run)
            .Where(one => one.Result.Transactions is not null).Select(one => Row(one.Phase, one.Result, one.Result.Transactions!))];
        if (transactions.Count > 0)
            yield return ReportTables.Thinned(
                Words.Of("Transactions"),
                ["<phase", "<operation", "committed", "per second", "rolled back", "aborted", "run again", "committed again",
                    "outcome unknown", "time in retries"],
                transactions);
    }

    /// <summary>Transactions that were run again so often that it shows in the figures, and those that nobody knows about.</summary>
    public static IEnumerable<Verdict> Verdicts(StoredRun run)
    {
        foreach ((PhaseRecord phase, OperationResult result) in Results(run))
        {
            if (RetryShare.Of(result) is not { All: var all } retries)
                continue;
            string label = PhaseLabels.Of(phase, result.Operation);
            if (all.Retried > 0 && Math.Max(retries.Attempts, retries.Time) >= ManyRetries)
                yield return new Verdict(Grade.Note, Words.Of($"{label}: {Units.Exact(all.Retried)} of "
                    + $"{Words.Counted(retries.AllAttempts, "attempt")} were retried after write conflicts or other transient errors "
                    + $"({Units.Percent(retries.Attempts)}; {Words.Counted(all.Committed, "transaction")} committed); retries took "
                    + $"{Units.Percent(retries.Time)} of {retries.TimeText}"))
                {
                    Finding = VerdictFinding.Retries, Operations = [PhaseLabels.WithParameters(phase, result.Operation)],
                };
            if (all.Unknown > 0)
                yield return new Verdict(Grade.Note, Words.Of($"{label}: the outcome of {Words.Counted(all.Unknown, "transaction")} is "
                    + $"unknown: the connection broke during the commit, and no server could be asked afterwards; "
                    + $"each counts as failed, and may be stored"));
        }
    }

    private static IEnumerable<(PhaseRecord Phase, OperationResult Result)> Results(StoredRun run) =>
        run.Phases.SelectMany(phase => phase.Operations.Where(result => result.Steps.Count > 0).Select(result => (phase, result)));

    private static IReadOnlyList<string> Row(PhaseRecord phase, OperationResult result, StepResult step) =>
    [
        phase.Label(), result.Operation, step.Step, Units.Exact(step.Operations),
        result.Operations == 0 ? Units.None : Units.Significant((double)step.Operations / result.Operations), Units.Exact(step.Failed),
        Units.Latency(step.LatencyMicroseconds.Mean), Units.Latency(step.LatencyMicroseconds.P50),
        Units.Latency(step.LatencyMicroseconds.P95), Units.Latency(step.LatencyMicroseconds.P99),
        Units.Latency(step.LatencyMicroseconds.Max),
    ];

    private static IReadOnlyList<string> Row(PhaseRecord phase, OperationResult result, TransactionResult all) =>
    [
        phase.Label(), result.Operation, Units.Exact(all.Committed), Units.Rate(result.Seconds > 0 ? all.Committed / result.Seconds : null),
        Units.Exact(all.RolledBack), Units.Exact(all.Aborted), Units.Exact(all.Retried), Units.Exact(all.CommitRetried),
        Units.Exact(all.Unknown), Units.Percent(RetryShare.Of(result)!.Time),
    ];
}
