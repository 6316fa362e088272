using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Runs;

/// <summary>Makes the stored summary of a histogram.</summary>
public static class LatencySummaries
{
    /// <summary>All null for an empty histogram. Overflow is part of none of the figures.</summary>
    public static LatencySummary From(LatencyHistogram histogram) => new()
    {
        Min = histogram.Minimum,
        Mean = histogram.Mean,
        P50 = histogram.ValueAtPercentile(50),
        P90 = histogram.ValueAtPercentile(90),
        P95 = histogram.ValueAtPercentile(95),
        P99 = histogram.ValueAtPercentile(99),
        P999 = histogram.ValueAtPercentile(99.9),
        Max = histogram.Maximum,
    };
}
