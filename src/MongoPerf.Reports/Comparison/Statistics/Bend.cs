using MathNet.Numerics;
using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>A row of values that is level up to one of them and falls, or rises, from there to its end.</summary>
/// <param name="From">Place of the last level value; 0: the row falls, or rises, all the way.</param>
/// <param name="Ratio">The ratio of the end to the level, on the fitted line.</param>
/// <param name="P">Two-sided, corrected for the number of places at which the row might bend, 0 to 1.</param>
internal sealed record Bend(int From, double Ratio, double P)
{
    private const int LeastValues = 6;

    /// <summary>Two values could be one disturbance.</summary>
    private const int LeastBeyond = 3;

    /// <summary>
    /// The place whose broken line leaves least of the logarithms' variance (least squares), and its F test against a level throughout.
    /// </summary>
    /// <param name="values">Greater than 0, in order; null when there are fewer than 6, or all are equal.</param>
    /// <remarks>
    /// D. J. Hudson, "Fitting segmented curves whose join points have to be estimated", 1966. Values that are correlated bend by chance,
    /// though not far: the caller must ask for more than they wander by.
    /// </remarks>
    public static Bend? Of(double[] values)
    {
        if (values.Length < LeastValues)
            return null;
        double[] logarithms = [.. values.Select(v => Math.Log(v))];
        int places = values.Length - LeastBeyond;
        Bend? best = null;
        double most = -1;
        for (int from = 0; from < places; from++)
        {
            double[] beyond = [.. Enumerable.Range(-from, values.Length).Select(i => (double)Math.Max(0, i))];
            (double level, double slope) = Fit.Line(beyond, logarithms);
            double explained = GoodnessOfFit.RSquared(beyond.Select(x => level + (slope * x)), logarithms);
            // Also where it is no number: nothing varies.
            if (!(explained > most))
                continue;
            most = explained;
            double f = explained * (values.Length - 2) / Math.Max(1 - explained, 1e-12);
            best = new Bend(from, Math.Exp(slope * beyond[^1]), Math.Min(1, places * (1 - FisherSnedecor.CDF(1, values.Length - 2, f))));
        }

        return best;
    }
}
