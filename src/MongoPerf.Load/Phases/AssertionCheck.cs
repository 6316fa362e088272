using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>Compares what a phase measured with what the scenario says must be true.</summary>
public static class AssertionCheck
{
    internal static AssertionResult Check(Assertion assertion, PhaseOutcome outcome) => Check(assertion, outcome.Record,
        () => outcome.Groups.SelectMany(group => group.Counted).Select(part => (part.Operation.Name, part.Latency)));

    /// <param name="assertion">The assertion of the phase.</param>
    /// <param name="record">The record with its results.</param>
    /// <param name="latencies">What was recorded of each operation.</param>
    public static AssertionResult Check(
        Assertion assertion, PhaseRecord record, Func<IEnumerable<(string Operation, OperationLatency Latency)>> latencies)
    {
        double? value = ValueOf(assertion, record, latencies);
        return new AssertionResult(assertion.Text, assertion.Holds(value), value)
        {
            IsLatency = LatencyMetric.Find(assertion.Metric) is not null, IsShare = assertion.IsShare,
        };
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
            "failed" => OrShare(results.Sum(r => r.Failed), results.Sum(r => r.Operations + r.Failed)),
            "foundNothing" => Nothing(effect => effect.FoundNothing),
            "matchedNothing" => Nothing(effect => effect.MatchedNothing),
            "changedNothing" => Nothing(effect => effect.ChangedNothing),
            { } name when LatencyMetric.Find(name) is { } metric => results.Length == 1 && metric.TryRead(results[0], out double? stored)
                ? stored
                : metric.Of(latencies().Where(one => results.Any(result => result.Operation == one.Operation))
                    .Select(one => one.Latency)),
            _ => null,
        };

        // Null where no reply tells: an insert finds nothing, and should not.
        double? Nothing(Func<EffectResult, long?> of)
        {
            OperationResult[] telling = [.. results.Where(r => r.Effect is { } effect && of(effect) is not null)];
            return telling.Length == 0 ? null : OrShare(telling.Sum(r => of(r.Effect!)!.Value), telling.Sum(r => r.Operations));
        }

        double? OrShare(long count, long all) => !assertion.IsShare ? count : all == 0 ? null : (double)count / all;
    }
}
