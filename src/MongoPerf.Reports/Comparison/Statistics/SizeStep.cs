using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>A fall in a short row of values, one for each size.</summary>
/// <param name="From">The last value before it, 0-based.</param>
/// <param name="To">The first value after it.</param>
/// <param name="Before">Level next to it, and after it.</param>
/// <param name="After">The level after it, below <paramref name="Before"/>.</param>
/// <param name="IsCliff">Most of the fall of the whole row lies in it.</param>
internal sealed record SizeStep(int From, int To, double Before, double After, bool IsCliff)
{
    public const int LeastSizes = 6;
    private const int Neighbours = 3;
    private const double CliffShare = 0.6;
    private const double LeastDeviation = 0.01;

    /// <summary>
    /// Two methods must put the fall at the same place: binary segmentation of the logarithms (A. J. Scott, M. Knott, 1974) whose t must
    /// hold against the number of places, and the largest shift between neighbours in ranks (J. L. Hodges, E. L. Lehmann, 1963), in which
    /// all of up to three values after lie below all before.
    /// </summary>
    /// <param name="values">Greater than 0, one for each size; fewer than 6 have none.</param>
    /// <param name="level">The level of the test.</param>
    /// <param name="least">The fall as a share.</param>
    public static SizeStep? Find(double[] values, double level, double least)
    {
        if (values.Length < LeastSizes)
            return null;
        double[] logarithms = [.. values.Select(v => Math.Log(v))];
        (int place, double p) = Segmented(logarithms);
        int[] places = [.. Enumerable.Range(2, values.Length - 3).Where(k => IsBelow(logarithms, k))];
        if (p >= level || places.Length == 0)
            return null;
        // A shift of medians is the same one place further on; the fall itself is not.
        int byRanks = places.MinBy(k => Shift(logarithms, k) + logarithms[k] - logarithms[k - 1]);
        if (Math.Abs(byRanks - place) > Math.Max(2, values.Length / 8))
            return null;
        double before = Quantiles.Median(Near(logarithms, byRanks - Neighbours, byRanks));
        double after = Quantiles.Median(Near(logarithms, byRanks, byRanks + Neighbours));
        double fall = before - after;
        if (fall < -Math.Log(1 - least))
            return null;
        int from = Math.Max(0, Array.FindLastIndex(logarithms, byRanks - 1, v => v >= before - (fall / 4)));
        int to = Array.FindIndex(logarithms, byRanks, v => v <= after + (fall / 4));
        double whole = logarithms[..Math.Min(Neighbours, from + 1)].Max() - Quantiles.Median(logarithms[^Neighbours..]);
        bool isCliff = fall >= CliffShare * whole && to - from <= Math.Max(2, values.Length / 4);
        return new SizeStep(from, to, Math.Exp(before), Math.Exp(after), isCliff);
    }

    private static (int Place, double P) Segmented(double[] values)
    {
        double all = values.Sum();
        double squares = values.Sum(v => v * v);
        int count = values.Length;
        double sum = values[0];
        (double Remainder, int Place, double Difference) best = (double.PositiveInfinity, 0, 0);
        for (int k = 2; k <= count - 2; k++)
        {
            sum += values[k - 1];
            double rest = squares - (sum * sum / k) - ((all - sum) * (all - sum) / (count - k));
            if (rest < best.Remainder)
                best = (rest, k, ((all - sum) / (count - k)) - (sum / k));
        }

        double deviation = Math.Max(LeastDeviation, Math.Sqrt(Math.Max(0, best.Remainder) / (count - 3)));
        double t = best.Difference / (deviation * Math.Sqrt((1.0 / best.Place) + (1.0 / (count - best.Place))));
        return (best.Place, Math.Min(1, (count - 3) * StudentT.CDF(0, 1, count - 3, t)));
    }

    private static double[] Near(double[] values, int from, int to) => values[Math.Max(0, from)..Math.Min(values.Length, to)];

    private static bool IsBelow(double[] values, int k) => Near(values, k, k + Neighbours).Max() < Near(values, k - Neighbours, k).Min();

    private static double Shift(double[] values, int k) =>
        Quantiles.Median([.. Near(values, k, k + Neighbours)
            .SelectMany(after => Near(values, k - Neighbours, k).Select(before => after - before))]);
}
