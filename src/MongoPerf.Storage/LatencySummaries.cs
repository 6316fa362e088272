using MongoPerf.Measurement;

namespace MongoPerf.Storage;

/// <summary>Makes the stored summary of a histogram.</summary>
public static class LatencySummaries
{
    /// <summary>All null for an empty histogram. Overflow is part of none of the figures.</summary>
    public static LatencySummary From(LatencyHistogram histogram) => new()
    {
        Min = Rounded(histogram.Minimum),
        Mean = Rounded(histogram.Mean),
        P50 = Rounded(histogram.ValueAtPercentile(50)),
        P90 = Rounded(histogram.ValueAtPercentile(90)),
        P95 = Rounded(histogram.ValueAtPercentile(95)),
        P99 = Rounded(histogram.ValueAtPercentile(99)),
        P999 = Rounded(histogram.ValueAtPercentile(99.9)),
        Max = Rounded(histogram.Maximum),
    };

    /// <returns>Null for null: in a closed loop nothing is due.</returns>
    public static LatencySummary? FromPaced(LatencyHistogram? histogram) => histogram is null ? null : From(histogram);

    /// <summary>
    /// Rounds to the tenth of a microsecond that histograms begin with: the end of a bucket has more digits than were measured.
    /// </summary>
    private static double? Rounded(double? microseconds) => microseconds is { } value ? Math.Round(value, 1) : null;
}
