using MongoPerf.Measurement;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>A place in a row of values from which on they are distributed differently.</summary>
/// <param name="At">The first value behind the change, 0-based.</param>
/// <param name="P">The chance of a split as plain as this one where nothing changes, by permutations.</param>
internal readonly record struct ChangePoint(int At, double P);

/// <summary>Finds change points by E-divisive means.</summary>
/// <remarks>
/// <para>The method is that of D. S. Matteson and N. A. James ("A nonparametric approach for multiple change point analysis of
/// multivariate data", Journal of the American Statistical Association 109, 2014), which MongoDB's performance team runs over the history
/// of its own tests (D. Daly et al., "The use of change point detection to identify software performance regressions in a continuous
/// integration system", ICPE 2020). It assumes no distribution, and no outlier alone is a change.</para>
/// <para>A row is split where the energy distance (G. J. Székely and M. L. Rizzo, 2005, exponent 1) between the values before and behind
/// is greatest; the split stands if few permutations of the values within the pieces found so far have one as plain; then the pieces are
/// split in turn. A permutation test that can't be significant any more ends early (J. Besag and P. Clifford, 1991).</para>
/// <para>Permutations are seeded by a constant: the same runs give the same report.</para>
/// </remarks>
internal static class ChangePoints
{
    /// <summary>A piece has as many values or more: one run by itself is not a change.</summary>
    public const int LeastLength = 2;

    private const ulong Seed = 0x686973746f7279;
    private const int LeastPermutations = 999;

    /// <summary>Permutations for each chance that the level allows.</summary>
    private const double PermutationsPerLevel = 10;

    /// <summary>Rounding may not tell a permutation that changes nothing from the values as they are.</summary>
    private const double Tolerance = 1e-9;

    private readonly record struct Split(double Score, int At);

    /// <param name="values">Any finite ones, in the order of time.</param>
    /// <param name="level">0 to 1, exclusive: the chance of finding any change where there is none.</param>
    /// <returns>The changes in the order of the values.</returns>
    public static IReadOnlyList<ChangePoint> Find(double[] values, double level)
    {
        var found = new List<ChangePoint>();
        var random = new RandomStream(Seed);
        while (true)
        {
            int[] bounds = [0, .. found.Select(change => change.At).Order(), values.Length];
            Split best = BestOf(values, bounds);
            if (best.Score <= 0 || ProbabilityOf(values, bounds, best.Score, level, ref random) is not { } p)
                return [.. found.OrderBy(change => change.At)];
            found.Add(new ChangePoint(best.At, p));
        }
    }

    /// <summary>The fewest values in which a change can be significant: where they split into halves, no other order is as plain.</summary>
    public static int LeastValues(double level)
    {
        int least = 2 * LeastLength;
        for (double orders = 6; 2 / orders > level; least++)
            orders *= (least + 1.0) / (least + 1 - ((least + 1) / 2));
        return least;
    }

    /// <returns>Null when it is not below the level.</returns>
    private static double? ProbabilityOf(double[] values, int[] bounds, double score, double level, ref RandomStream random)
    {
        int all = Math.Max(LeastPermutations, (int)Math.Ceiling(PermutationsPerLevel / level));
        int most = (int)Math.Floor(level * (all + 1)) - 1;
        double[] shuffled = [.. values];
        int asPlain = 0;
        for (int i = 0; i < all; i++)
        {
            for (int piece = 1; piece < bounds.Length; piece++)
                Shuffle(shuffled.AsSpan(bounds[piece - 1]..bounds[piece]), ref random);
            if (BestOf(shuffled, bounds).Score >= score * (1 - Tolerance) && ++asPlain > most)
                return null;
        }

        return (asPlain + 1.0) / (all + 1);
    }

    private static Split BestOf(double[] values, int[] bounds)
    {
        var best = new Split(0, 0);
        for (int piece = 1; piece < bounds.Length; piece++)
        {
            Split own = BestOf(values.AsSpan(bounds[piece - 1]..bounds[piece]));
            if (own.Score > best.Score)
                best = own with { At = bounds[piece - 1] + own.At };
        }

        return best;
    }

    /// <summary>Moves the border from left to right: each value that passes it takes its distances along.</summary>
    private static Split BestOf(ReadOnlySpan<double> values)
    {
        var best = new Split(0, 0);
        int all = values.Length;
        double within = 0;
        double beyond = 0;
        for (int i = 0; i < all; i++)
        {
            for (int j = i + 1; j < all; j++)
                beyond += Math.Abs(values[i] - values[j]);
        }

        double total = beyond;
        for (int left = 1; left <= all - LeastLength; left++)
        {
            double passing = values[left - 1];
            for (int i = 0; i < left - 1; i++)
                within += Math.Abs(values[i] - passing);
            for (int j = left; j < all; j++)
                beyond -= Math.Abs(passing - values[j]);
            int right = all - left;
            if (left < LeastLength)
                continue;
            double between = total - within - beyond;
            double distance = (2 * between / ((double)left * right)) - MeanOf(within, left) - MeanOf(beyond, right);
            double score = (double)left * right / all * distance;
            if (score > best.Score)
                best = new Split(score, left);
        }

        return best;
    }

    /// <summary>The mean distance of so many values.</summary>
    private static double MeanOf(double sum, int count) => 2 * sum / ((double)count * (count - 1));

    private static void Shuffle(Span<double> values, ref RandomStream random)
    {
        for (int i = values.Length - 1; i > 0; i--)
        {
            int other = random.Next(i + 1);
            (values[i], values[other]) = (values[other], values[i]);
        }
    }
}
