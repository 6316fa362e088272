using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>A row of values that rises or falls all the way.</summary>
/// <param name="Ratio">The ratio of its end to its beginning.</param>
/// <param name="Interval">The interval of the ratio.</param>
/// <param name="P">The probability of the test, two-sided.</param>
/// <param name="IsStraight">A straight line of the logarithms fits them better than a single step.</param>
internal sealed record Trend(double Ratio, Interval Interval, double P, bool IsStraight)
{
    private const int MostValues = 300;

    /// <summary>
    /// The fewest values: of fewer even all pairs that rise are too few deviations for Student's t with as little freedom, which would find
    /// no trend at all.
    /// </summary>
    private const int FewValues = 30;

    /// <summary>The slope is the median of those between all pairs, its test counts the pairs that rise.</summary>
    /// <param name="values">Greater than 0, in order; null when there are fewer than 6.</param>
    /// <remarks>
    /// H. B. Mann, 1945; M. G. Kendall, 1948; H. Theil, 1950; P. K. Sen, 1968. The variance grows by what the correlation of the values
    /// about the line does to it (as S. Yue, C. Wang, 2004, have it). More than 300 values are joined first.
    /// </remarks>
    public static Trend? Of(double[] values)
    {
        if (values.Length < 6)
            return null;
        double[] logarithms = [.. Quantiles.Joined(values, MostValues).Select(v => Math.Log(v))];
        int count = logarithms.Length;
        double[] slopes = new double[count * (count - 1) / 2];
        double rises = 0;
        int next = 0;
        for (int i = 0; i < count; i++)
        {
            for (int k = i + 1; k < count; k++)
            {
                slopes[next++] = (logarithms[k] - logarithms[i]) / (k - i);
                rises += Math.Sign(logarithms[k] - logarithms[i]);
            }
        }

        Array.Sort(slopes);
        double slope = slopes[slopes.Length / 2];
        double correlation = Autocorrelation.OfFirstOrder([[.. logarithms.Select((v, i) => Math.Exp(v - (slope * i)))]]);
        double inflation = Autocorrelation.VarianceInflation(Autocorrelation.OfRanks(correlation), count);
        double deviation = Math.Sqrt(inflation * count * (count - 1.0) * ((2 * count) + 5) / 18);
        double freedom = Math.Max(3, (count / inflation) - 2);
        double reach = deviation * StudentT.InvCDF(0, 1, freedom, 0.975) / 2;
        double low = slopes[(int)Math.Clamp((slopes.Length / 2.0) - reach, 0, slopes.Length - 1)];
        double high = slopes[(int)Math.Clamp((slopes.Length / 2.0) + reach, 0, slopes.Length - 1)];
        double deviations = -Math.Max(0, Math.Abs(rises) - 1) / deviation;
        double p = 2 * (count < FewValues ? Normal.CDF(0, 1, deviations) : StudentT.CDF(0, 1, freedom, deviations));
        return new Trend(
            Math.Exp(slope * (count - 1)), Interval.OfLogarithms(low * (count - 1), high * (count - 1)), p, IsLine(logarithms));
    }

    private static bool IsLine(double[] logarithms)
    {
        int count = logarithms.Length;
        var line = StraightLine.Through(logarithms);
        double sum = 0;
        double byStep = 0;
        for (int i = 1; i < count; i++)
        {
            sum += logarithms[i - 1] - line.Mean;
            byStep = Math.Max(byStep, sum * sum * count / (i * (double)(count - i)));
        }

        return line.Explained > byStep;
    }
}
