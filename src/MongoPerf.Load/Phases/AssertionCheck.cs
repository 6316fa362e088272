using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>Compares what a phase measured with what the scenario says must be true.</summary>
public static class AssertionCheck
{
    /// <summary>One of <see cref="Assertion.Latencies"/>, microseconds; null where it was not recorded.</summary>
    public static double? LatencyOf(string metric, OperationResult result) => metric switch
    {
        "serviceP50" => result.LatencyMicroseconds.P50,
        "serviceP99" => result.LatencyMicroseconds.P99,
        "latenessP50" => result.LatenessMicroseconds?.P50,
        "latenessP99" => result.LatenessMicroseconds?.P99,
        _ => Latency(metric, result.ReportedMicroseconds),
    };

    internal static AssertionResult Check(Assertion assertion, PhaseOutcome outcome) =>
        Check(assertion, outcome.Record, () => Merged(outcome));

    /// <param name="assertion">The assertion of the phase.</param>
    /// <param name="record">The record with its results.</param>
    /// <param name="total">The judged latency of all its operations together.</param>
    public static AssertionResult Check(Assertion assertion, PhaseRecord record, Func<LatencyHistogram> total)
    {
        double? value = ValueOf(assertion, record, total);
        return new AssertionResult(
            assertion.Text, assertion.Holds(value), value) { IsLatency = Assertion.Latencies.Contains(assertion.Metric) };
    }

    private static double? ValueOf(Assertion assertion, PhaseRecord record, Func<LatencyHistogram> total)
    {
        OperationResult[] results =
            [.. assertion.Operation == Assertion.Total ? record.Done : record.Operations.Where(r => r.Operation == assertion.Operation)];
        return results.Length == 0 ? null : assertion.Metric switch
        {
            "rate" => results.Sum(r => r.OperationsPerSecond),
            "documentRate" => results.Sum(r => r.DocumentsPerSecond),
            "operations" => results.Sum(r => r.Operations),
            "documents" => results.Sum(r => r.Documents),
            "failed" => results.Sum(r => r.Failed),
            { } metric when results.Length == 1 => LatencyOf(metric, results[0]),
            // Of several only the latency that counts is merged.
            "serviceP50" or "serviceP99" or "latenessP50" or "latenessP99" => null,
            { } metric => Latency(metric, LatencySummaries.From(total())),
        };
    }

    private static LatencyHistogram Merged(PhaseOutcome outcome)
    {
        var all = new LatencyHistogram();
        foreach (GroupResult group in outcome.Groups.Where(group => group.Parts.All(part => part.Changes is null)))
            group.MergeReported().AddTo(all);
        return all;
    }

    private static double? Latency(string metric, LatencySummary latency) => metric switch
    {
        "min" => latency.Min,
        "mean" => latency.Mean,
        "p50" => latency.P50,
        "p90" => latency.P90,
        "p95" => latency.P95,
        "p99" => latency.P99,
        "p999" => latency.P999,
        _ => latency.Max,
    };
}
