namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Where a ratio lies with 95 % confidence.</summary>
public readonly record struct Interval(double Low, double High)
{
    /// <summary>Makes the interval of a ratio whose logarithm is known.</summary>
    public static Interval OfLogarithms(double low, double high) => new(Math.Exp(low), Math.Exp(high));
}

/// <summary>Two rows of values that stand against each other at one size, each in the order of time.</summary>
internal sealed record SamplePair(double[] Baseline, double[] Candidate);
