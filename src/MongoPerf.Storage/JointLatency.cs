using MongoPerf.Measurement;

namespace MongoPerf.Storage;

/// <summary>Latencies of several operations together: their histograms added up.</summary>
/// <param name="Service">The service times, from actual starts to replies.</param>
public sealed record JointLatency(LatencySummary Service)
{
    /// <summary>The response times, from when each was due to the reply; null unless all of them were due at some time.</summary>
    public LatencySummary? Response { get; init; }

    /// <summary>The lateness, from when each was due to its start; null as <see cref="Response"/> is.</summary>
    public LatencySummary? Lateness { get; init; }

    /// <returns>Null for a single operation, and where only some are answered: a time to send is no time to a reply.</returns>
    public static JointLatency? Of(IReadOnlyList<OperationLatency> all)
    {
        if (all.Count < 2 || all.Select(one => one.IsUnacknowledged).Distinct().Count() > 1)
            return null;
        return new JointLatency(LatencySummaries.From(Sum(all.Select(one => one.Service))))
        {
            Response = SumOrNull(all, one => one.Response), Lateness = SumOrNull(all, one => one.Lateness),
        };
    }

    private static LatencySummary? SumOrNull(IReadOnlyList<OperationLatency> all, Func<OperationLatency, LatencyHistogram?> of) =>
        all.All(one => of(one) is not null) ? LatencySummaries.From(Sum(all.Select(one => of(one)!))) : null;

    private static LatencyHistogram Sum(IEnumerable<LatencyHistogram> parts)
    {
        var sum = new LatencyHistogram();
        foreach (LatencyHistogram part in parts)
            part.AddTo(sum);
        return sum;
    }
}

/// <summary>What was recorded of one operation; response and lateness are null in a closed loop.</summary>
/// <param name="IsUnacknowledged">Its times are those to send.</param>
/// <param name="Service">The service time, from the actual start to the reply.</param>
/// <param name="Response">The response time, from when it was due to the reply.</param>
/// <param name="Lateness">The lateness, from when it was due to its start.</param>
public sealed record OperationLatency(
    bool IsUnacknowledged, LatencyHistogram Service, LatencyHistogram? Response, LatencyHistogram? Lateness);
