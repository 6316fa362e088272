using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>
/// The columns that tables have of operations' results: rates and latencies always, everything else where one of the results has it.
/// </summary>
/// <remarks>Where a rate was set, response time is what counts: service time stands beside it, and both are named.</remarks>
/// <param name="results">All that the table shows.</param>
internal sealed class ResultColumns(IReadOnlyList<OperationResult> results)
{
    private static readonly string[] Always = ["ops/s", "docs/s", "MB/s", "failed"];
    private static readonly string[] Latencies = ["p50", "p95", "p99", "p99.9", "max"];

    private readonly bool _hasRate = results.Any(r => r.HasRate);
    private readonly bool _hasLoss = results.Any(r => r.Unacknowledged is not null);
    private readonly bool _hasNothing = results.Any(r => r.Effect is not null && OperationVerdicts.NothingOf(r) != "0");
    private readonly bool _hasPlan = results.Any(r => r.Plan is not null);

    public IReadOnlyList<string> Names =>
    [
        .. Always,
        .. _hasRate ? [.. Latencies.Select(name => $"response {name}"), "service p50", "service p99", "lateness p99"] : Latencies,
        .. When(_hasNothing, "came to nothing"),
        .. When(_hasLoss, "lost", "drain"),
        .. When(_hasPlan, "<index", "examined/op"),
    ];

    /// <summary>The cells of a result, as many as there are names.</summary>
    public IReadOnlyList<string> Of(OperationResult r)
    {
        return
        [
            // What steps read and what they write adds up to no rate of either.
            Units.Rate(r.OperationsPerSecond), r.Steps.Count > 0 ? Units.None : Units.Rate(r.DocumentsPerSecond),
            Units.Rate(r.MegabytesPerSecond), Units.Exact(r.Failed),
            .. LatenciesOf(_hasRate ? r.ResponseMicroseconds : r.LatencyMicroseconds),
            .. When(_hasRate, Units.Latency(r.LatencyMicroseconds.P50), Units.Latency(r.LatencyMicroseconds.P99),
                Units.Latency(r.LatenessMicroseconds?.P99)),
            .. When(_hasNothing, OperationVerdicts.NothingOf(r)),
            .. _hasLoss ? Loss(r.Unacknowledged) : [],
            .. When(_hasPlan, r.Plan is null ? Units.None : PlannedSource.IndexesOf(r.Plan), PlannedSource.ExaminedText(r.Plan)),
        ];
    }

    private static string[] LatenciesOf(LatencySummary? l) =>
        [Units.Latency(l?.P50), Units.Latency(l?.P95), Units.Latency(l?.P99), Units.Latency(l?.P999), Units.Latency(l?.Max)];

    private static string[] Loss(UnacknowledgedResult? result) => result is null
        ? [Units.None, Units.None]
        :
        [
            Units.Exact(result.Lost),
            result.DrainSeconds < 1 ? Units.Latency(result.DrainSeconds * 1e6) : Units.Duration(result.DrainSeconds),
        ];

    private static string[] When(bool condition, params string[] fields) => condition ? fields : [];
}
