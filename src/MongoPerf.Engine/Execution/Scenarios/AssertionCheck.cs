using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads.Scenarios;

namespace MongoPerf.Engine.Execution.Scenarios;

/// <summary>Compares what a phase measured with what the scenario says must be true.</summary>
internal static class AssertionCheck
{
    public static AssertionResult Check(Assertion assertion, IReadOnlyList<TestOutcome> outcomes)
    {
        double? value = ValueOf(assertion, outcomes);
        return new AssertionResult(assertion.Text, value, assertion.Holds(value)) { IsLatency = Assertion.Latencies.Contains(assertion.Metric) };
    }

    private static double? ValueOf(Assertion assertion, IReadOnlyList<TestOutcome> outcomes)
    {
        TestResult[] results =
        [
            .. outcomes.SelectMany(o => o.Results).Where(r => assertion.Operation == Assertion.Total || r.Test == assertion.Operation),
        ];
        return results.Length == 0 ? null : assertion.Metric switch
        {
            "rate" => results.Sum(r => r.OperationsPerSecond),
            "documentRate" => results.Sum(r => r.DocumentsPerSecond),
            "operations" => results.Sum(r => r.Operations),
            "documents" => results.Sum(r => r.Documents),
            "failed" => results.Sum(r => r.Failed),
            _ => Latency(assertion.Metric, results.Length == 1 ? results[0].LatencyMicroseconds : Merged(outcomes)),
        };
    }

    private static LatencySummary Merged(IReadOnlyList<TestOutcome> outcomes)
    {
        var all = new LatencyHistogram();
        foreach (TestOutcome outcome in outcomes)
            outcome.Phase.Service.AddTo(all);
        return LatencySummaries.From(all);
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
