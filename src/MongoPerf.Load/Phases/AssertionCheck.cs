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

    /// <summary>One that <see cref="Assertion.IsLatency"/>, of several operations together; null where it was not recorded.</summary>
    public static double? LatencyOf(string metric, IEnumerable<OperationLatency> all)
    {
        bool isPercentile = Assertion.TryParsePercentile(metric, out string of, out double percent);
        var sum = new LatencyHistogram();
        foreach (OperationLatency one in all)
        {
            LatencyHistogram? part = of switch { "service" => one.Service, "lateness" => one.Lateness, _ => one.Response ?? one.Service };
            if (part is null)
                return null;
            part.AddTo(sum);
        }

        return isPercentile ? LatencySummaries.PercentileOf(sum, percent) : Latency(metric, LatencySummaries.From(sum));
    }

    internal static AssertionResult Check(Assertion assertion, PhaseOutcome outcome) => Check(assertion, outcome.Record,
        () => outcome.Groups.SelectMany(group => group.Parts).Select(part => (part.Operation.Name, part.Latency)));

    /// <param name="assertion">The assertion of the phase.</param>
    /// <param name="record">The record with its results.</param>
    /// <param name="latencies">What was recorded of each operation.</param>
    public static AssertionResult Check(
        Assertion assertion, PhaseRecord record, Func<IEnumerable<(string Operation, OperationLatency Latency)>> latencies)
    {
        double? value = ValueOf(assertion, record, latencies);
        return new AssertionResult(
            assertion.Text, assertion.Holds(value), value) { IsLatency = Assertion.IsLatency(assertion.Metric) };
    }

    private static double? ValueOf(
        Assertion assertion, PhaseRecord record, Func<IEnumerable<(string Operation, OperationLatency Latency)>> latencies)
    {
        OperationResult[] results =
            [.. assertion.Operation == Assertion.Total ? record.Done : record.Operations.Where(r => r.Operation == assertion.Operation)];
        return results.Length == 0 ? null : assertion.Metric switch
        {
            "rate" => results.Sum(r => r.OperationsPerSecond),
            "perMinute" => results.Sum(r => r.OperationsPerSecond) * 60,
            "documentRate" => results.Sum(r => r.DocumentsPerSecond),
            "operations" => results.Sum(r => r.Operations),
            "documents" => results.Sum(r => r.Documents),
            "failed" => results.Sum(r => r.Failed),
            { } metric when results.Length == 1 && Assertion.Latencies.Contains(metric) => LatencyOf(metric, results[0]),
            { } metric => LatencyOf(metric,
                latencies().Where(one => results.Any(result => result.Operation == one.Operation)).Select(one => one.Latency)),
        };
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
