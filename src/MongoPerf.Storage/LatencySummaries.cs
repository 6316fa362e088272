using MongoPerf.Measurement;

namespace MongoPerf.Storage;

/// <summary>Makes the stored summary of a histogram.</summary>
public static class LatencySummaries
{
    /// <summary>All null for an empty histogram. Overflow is part of none of the figures.</summary>
    public static LatencySummary From(LatencyHistogram histogram)
    {
        double[]? values = histogram.ValuesAtPercentiles(50, 90, 95, 99, 99.9);
        return new LatencySummary
        {
            Min = Rounded(histogram.Minimum),
            Mean = Rounded(histogram.Mean),
            P50 = Rounded(values?[0]),
            P90 = Rounded(values?[1]),
            P95 = Rounded(values?[2]),
            P99 = Rounded(values?[3]),
            P999 = Rounded(values?[4]),
            Max = Rounded(histogram.Maximum),
        };
    }

    /// <param name="histogram">What was recorded.</param>
    /// <param name="percent">More than 0, less than 100.</param>
    /// <returns>Microseconds; null for an empty histogram.</returns>
    public static double? PercentileOf(LatencyHistogram histogram, double percent) => Rounded(histogram.ValueAtPercentile(percent));

    /// <returns>Null for null: in a closed loop nothing is due.</returns>
    public static LatencySummary? FromPaced(LatencyHistogram? histogram) => histogram is null ? null : From(histogram);

    /// <summary>
    /// Rounds to the tenth of a microsecond that histograms begin with: the end of a bucket has more digits than were measured.
    /// </summary>
    public static double Rounded(double microseconds) => Math.Round(microseconds, 1);

    private static double? Rounded(double? microseconds) => microseconds is { } value ? Rounded(value) : null;
}
