using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>The size from which on the other side is ahead.</summary>
/// <param name="Documents">The first size of the second part.</param>
/// <param name="Before">Mean ratio of the sizes below.</param>
/// <param name="After">Mean ratio from there on.</param>
internal sealed record Crossover(long Documents, Ratio Before, Ratio After)
{
    /// <summary>Three on each side, below which an interval says nothing.</summary>
    public const int LeastSizes = 2 * LeastOfPart;

    private const int LeastOfPart = 3;
    private const double Level = 0.05;

    /// <summary>Both parts must lie surely on their side of 1, whichever of the splits is taken.</summary>
    /// <param name="sizes">The sizes by documents, ascending; each is one observation.</param>
    /// <param name="operations">
    /// The operations that are searched beside each other: their chances of a false alarm are shared (Bonferroni), as are those of the
    /// splits and of the two parts.
    /// </param>
    /// <returns>The split whose weaker part is the surest; null when there is none.</returns>
    /// <remarks>Student's t on logarithms, as in <see cref="UnitComparison"/>.</remarks>
    public static Crossover? Find(IReadOnlyList<(long Documents, double Ratio)> sizes, int operations)
    {
        if (sizes.Count < LeastSizes)
            return null;
        double[] logarithms = [.. sizes.Select(size => Math.Log(size.Ratio))];
        int splits = logarithms.Length - LeastSizes + 1;
        double level = Level / (2.0 * splits * Math.Max(1, operations));
        (Crossover Crossover, double Distance)? best = null;
        for (int split = LeastOfPart; split <= logarithms.Length - LeastOfPart; split++)
        {
            (double before, double beforeReach) = Mean(logarithms[..split], level);
            (double after, double afterReach) = Mean(logarithms[split..], level);
            double distance = Math.Min(Math.Abs(before) - beforeReach, Math.Abs(after) - afterReach);
            if (distance <= 0 || Math.Sign(before) == Math.Sign(after) || (best is { } other && distance <= other.Distance))
                continue;
            best = (new Crossover(sizes[split].Documents, RatioOf(before, beforeReach), RatioOf(after, afterReach)), distance);
        }

        return best?.Crossover;
    }

    private static Ratio RatioOf(double mean, double reach) => new(Math.Exp(mean), Interval.OfLogarithms(mean - reach, mean + reach));

    private static (double Mean, double Reach) Mean(double[] values, double level)
    {
        double mean = values.Average();
        double variance = values.Sum(v => (v - mean) * (v - mean)) / (values.Length - 1);
        return (mean, StudentT.InvCDF(0, 1, values.Length - 1, 1 - (level / 2)) * Math.Sqrt(variance / values.Length));
    }
}
