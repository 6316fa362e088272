using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>Some seconds of an operation held against others of it.</summary>
internal static class SecondEffects
{
    private const int LeastSeconds = 5;
    private const int MostSeconds = 500;

    public static FindingEffect? Rate(IReadOnlyList<SeriesSecond> outside, IReadOnlyList<SeriesSecond> inside) =>
        Of(outside, inside, second => second.Rate);

    public static FindingEffect? P99(IReadOnlyList<SeriesSecond> outside, IReadOnlyList<SeriesSecond> inside) =>
        Of(outside, inside, second => second.P99);

    private static FindingEffect? Of(
        IReadOnlyList<SeriesSecond> outside, IReadOnlyList<SeriesSecond> inside, Func<SeriesSecond, double> valueOf)
    {
        double[] baseline = Values(outside, valueOf);
        double[] candidate = Values(inside, valueOf);
        return baseline.Length < LeastSeconds || candidate.Length < LeastSeconds
            ? null
            : FindingEffect.Of(
                candidate.Average() / baseline.Average(), Bootstrap.OfSamples([new SamplePair(baseline, candidate)]).At(0.95));
    }

    private static double[] Values(IReadOnlyList<SeriesSecond> seconds, Func<SeriesSecond, double> valueOf) =>
        Quantiles.Joined([.. seconds.Select(valueOf).Where(v => v > 0)], MostSeconds);
}
