using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Whether a row falls, or rises, from value to value more often than a coin shows heads.</summary>
/// <remarks>
/// G. H. Moore, W. A. Wallis, "Time series significance tests based on signs of differences", 1943. Where each value is the last one and
/// chance, a fall is as likely as a rise, and noise about a level falls and rises in turn. So no correlation has to be estimated, for which
/// a smooth bend would be taken.
/// </remarks>
internal static class DifferenceSigns
{
    /// <param name="values">The values in order; neighbours that are equal say nothing.</param>
    /// <returns>Two-sided, 0 to 1.</returns>
    public static double P(double[] values)
    {
        int[] signs = [.. values.Zip(values.Skip(1), (before, after) => Math.Sign(after - before)).Where(sign => sign != 0)];
        int alike = Math.Max(signs.Count(sign => sign > 0), signs.Count(sign => sign < 0));
        return signs.Length == 0 ? 1 : Math.Min(1, 2 * (1 - Binomial.CDF(0.5, signs.Length, alike - 1)));
    }
}
