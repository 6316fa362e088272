using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Whether a row of values has another level in stretches whose places were known before anybody looked at them.</summary>
internal static class KnownStretches
{
    /// <summary>The highest correlation: above it a row is one slow wave.</summary>
    private static readonly double[] Correlations = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

    /// <summary>How much less likely than the best, as a logarithm, a correlation may be.</summary>
    private const double Unlikely = 1;

    /// <summary>
    /// The probability that the level is the same: two-sided, by Student's t of the least squares that noise correlated from value to value
    /// asks for.
    /// </summary>
    /// <param name="values">Greater than 0, in the order of time.</param>
    /// <param name="isInside">Which of them lie in a stretch, some of either kind; null leaves a value out.</param>
    /// <param name="beside">Greater than 0, of each value: what else the values follow, by a power that is fitted as well.</param>
    /// <remarks>
    /// S. J. Prais, C. B. Winsten, "Trend estimators and serial correlation", 1954. A short row hardly shows its correlation, so the
    /// largest p of all that fit it is taken (by the restricted likelihood of H. D. Patterson, R. Thompson, Biometrika 58, 1971). Where
    /// noise is a slow wave, only the changes at the ends of stretches count.
    /// </remarks>
    public static double P(double[] values, bool?[] isInside, double[]? beside = null)
    {
        (double Likelihood, double P)[] fits = [.. Correlations.Select(correlation => Fit(values, isInside, beside, correlation))];
        double best = fits.Max(fit => fit.Likelihood);
        return fits.Where(fit => fit.Likelihood >= best - Unlikely).Max(fit => fit.P);
    }

    private static (double Likelihood, double P) Fit(double[] values, bool?[] isInside, double[]? beside, double correlation)
    {
        int[] places = [.. Enumerable.Range(0, values.Length).Where(i => isInside[i] is not null)];
        double[] level = new double[places.Length];
        double[] change = new double[places.Length];
        double[] other = new double[places.Length];
        double[] whitened = new double[places.Length];
        double scales = 0;
        for (int k = 0; k < places.Length; k++)
        {
            // Of a value on the one before it, which may lie further away.
            double before = k == 0 ? 0 : Math.Pow(correlation, places[k] - places[k - 1]);
            double scale = Math.Sqrt((1 - (correlation * correlation)) / (1 - (before * before)));
            level[k] = scale * (1 - before);
            change[k] = scale * (Inside(k) - (k == 0 ? 0 : before * Inside(k - 1)));
            whitened[k] = Whitened(values);
            if (beside is not null)
                other[k] = Whitened(beside);
            scales += Math.Log(scale);

            double Whitened(double[] row) => scale * (Math.Log(row[places[k]]) - (k == 0 ? 0 : before * Math.Log(row[places[k - 1]])));
        }

        double ofLevel = Product(level, level);
        double[] left = Without(whitened, level, ofLevel);
        double[] step = Without(change, level, ofLevel);
        double freedom = places.Length - 2;
        double[] followed = Without(other, level, ofLevel);
        double ofFollowed = Product(followed, followed);
        // Of none, or of one that is always the same, nothing can be told apart.
        if (ofFollowed > 1e-9)
        {
            left = Without(left, followed, ofFollowed);
            step = Without(step, followed, ofFollowed);
            ofLevel *= ofFollowed;
            freedom--;
        }

        double ofStep = Product(step, step);
        double difference = Product(step, left) / ofStep;
        left = Without(left, step, ofStep);
        double squares = Math.Max(1e-12, Product(left, left));
        double likelihood = scales - (freedom / 2 * Math.Log(squares)) - (Math.Log(ofLevel * ofStep) / 2);
        return (likelihood, 2 * StudentT.CDF(0, 1, freedom, -Math.Abs(difference) / Math.Sqrt(squares / freedom / ofStep)));

        double Inside(int k) => isInside[places[k]] == true ? 1 : 0;
    }

    private static double[] Without(double[] values, double[] part, double squares)
    {
        double share = Product(values, part) / squares;
        return [.. values.Zip(part, (value, one) => value - (share * one))];
    }

    private static double Product(double[] a, double[] b) => a.Zip(b, (x, y) => x * y).Sum();
}
