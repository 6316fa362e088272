using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>What each client of a merged run did.</summary>
internal static class ClientTable
{
    /// <returns>Null for a run of one client.</returns>
    public static ReportTable? Of(StoredRun run)
    {
        if (run.Run.Clients.Count == 0)
            return null;
        // A growth measures the same at each size: clients are told apart by what they did at all of them.
        var rows = new List<IReadOnlyList<string>>();
        foreach (var operation in run.Phases.SelectMany(phase => phase.Operations.Select(result => (phase.Phase, Result: result))).GroupBy(one => (one.Phase, one.Result.Operation)))
        {
            double all = operation.Sum(one => one.Result.Operations);
            rows.AddRange(operation.SelectMany(one => one.Result.Clients).GroupBy(share => share.Client).Select(client => (IReadOnlyList<string>)
            [
                operation.Key.Phase, operation.Key.Operation, client.Key, Units.Exact(client.Sum(share => share.Operations)), Units.Percent(client.Sum(share => share.Operations) / all),
                Units.Rate(client.Average(share => share.OperationsPerSecond)), Units.Latency(client.Max(share => share.P99Microseconds)),
            ]));
        }

        PhaseRecord? latest = run.Phases.Where(phase => phase.StartSkewMilliseconds is not null).MaxBy(phase => phase.StartSkewMilliseconds);
        string clocks = latest?.StartSkewUncertaintyMilliseconds is >= 0.05 and var uncertainty ? $" ±{uncertainty:0.0}" : "";
        string starts = latest?.StartSkewMilliseconds is { } most ? Words.Of($" (phases began within {most:0.0}{clocks} ms of one another)") : "";
        return ReportTables.Thinned(Words.Of($"Operations by client{starts}"), ["<phase", "<operation", "<client", "operations", "share", "per second", "p99"], rows);
    }
}
