using MathNet.Numerics;
using MathNet.Numerics.Distributions;

namespace MongoPerf.Reporting.Comparison.Statistics;

/// <summary>A row of values that is level up to one of them and falls, or rises, from there to its end: what a <see cref="Trend"/> all the way and a single step both miss.</summary>
/// <param name="From">The last value of the level part.</param>
/// <param name="Ratio">Of the end to the level, on the fitted line.</param>
/// <param name="P">Two-sided, corrected for the number of places at which the row might bend, 0 to 1.</param>
internal sealed record Bend(int From, double Ratio, double P)
{
    /// <summary>Two values could be one disturbance.</summary>
    private const int LeastAfter = 3;
    private const int LeastBefore = 3;

    /// <summary>The place whose broken line leaves least of the logarithms' variance (least squares), and its F test against a level throughout.</summary>
    /// <param name="values">Greater than 0, in order; null when there are fewer than 6.</param>
    /// <remarks>D. J. Hudson, "Fitting segmented curves whose join points have to be estimated", 1966. Values that are correlated bend by chance, though not far: the caller must
    /// ask for more than they wander by.</remarks>
    public static Bend? Of(double[] values)
    {
        int places = values.Length - LeastBefore - LeastAfter + 1;
        if (places < 1)
            return null;
        double[] logarithms = [.. values.Select(v => Math.Log(v))];
        Bend? best = null;
        double most = -1;
        for (int from = LeastBefore - 1; from < LeastBefore - 1 + places; from++)
        {
            int start = from;
            double[] beyond = [.. values.Select((_, i) => (double)Math.Max(0, i - start))];
            (double level, double slope) = Fit.Line(beyond, logarithms);
            double explained = GoodnessOfFit.RSquared(beyond.Select(x => level + (slope * x)), logarithms);
            if (!(explained > most))
                continue;
            most = explained;
            double f = explained * (values.Length - 2) / Math.Max(1 - explained, 1e-12);
            best = new Bend(from, Math.Exp(slope * beyond[^1]), Math.Min(1, places * (1 - FisherSnedecor.CDF(1, values.Length - 2, f))));
        }

        return best;
    }
}
