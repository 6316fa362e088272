using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Comparison;

/// <summary>Candidate to baseline.</summary>
/// <param name="Value">1 where they are alike.</param>
/// <param name="Interval">95 %; null where there is too little to say.</param>
/// <param name="Narrow">90 %: both ends of it are one-sided bounds of 95 %, which is what a test of equivalence asks for.</param>
public sealed record Ratio(double Value, Interval? Interval, Interval? Narrow = null)
{
    /// <summary>Seconds in which nothing was done make bounds that are no numbers: they say nothing either.</summary>
    public Interval? Interval { get; } = IfFinite(Interval);

    /// <inheritdoc cref="Interval"/>
    public Interval? Narrow { get; } = IfFinite(Narrow);

    public static Ratio Of(double value, Drawn drawn) => new(value, drawn.At(0.95), drawn.At(0.9));

    private static Interval? IfFinite(Interval? interval) =>
        interval is { } i && double.IsFinite(i.Low) && double.IsFinite(i.High) ? i : null;
}
