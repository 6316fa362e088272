using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Rank test of two rows of samples, adjusted for samples that are autocorrelated.</summary>
/// <remarks>
/// <para>H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than the other", 1947. Over
/// several sizes the rank sums are added with weights 1 / (n + m + 1) (P. van Elteren, "On the combination of independent two sample tests
/// of Wilcoxon", 1960).</para>
/// <para>The variance is multiplied by what the correlation from second to second does to it
/// (<see cref="Autocorrelation.VarianceInflation"/>), and the result is held against Student's t with as many degrees of freedom as there
/// are independent samples, less two, since that correlation is itself only estimated.</para>
/// </remarks>
internal static class MannWhitney
{
    /// <returns>Two-sided p; 1 when nothing varies.</returns>
    public static double PValue(IReadOnlyList<SamplePair> sizes)
    {
        double correlation = Autocorrelation.OfRanks(
            Autocorrelation.OfFirstOrder(sizes.SelectMany(s => (double[][])[s.Baseline, s.Candidate])));
        double sum = 0;
        double variance = 0;
        double independent = 0;
        foreach (SamplePair size in sizes)
        {
            int count = size.Baseline.Length + size.Candidate.Length;
            (double excess, double ofExcess) = RankSum(size.Baseline, size.Candidate);
            double inflation = Autocorrelation.VarianceInflation(correlation, count / 2.0);
            sum += excess / (count + 1);
            variance += inflation * ofExcess / (count + 1.0) / (count + 1.0);
            independent += count / inflation;
        }

        if (variance <= 0)
            return 1;
        return 2 * StudentT.CDF(0, 1, Math.Max(1, independent - 2), -Math.Abs(sum) / Math.Sqrt(variance));
    }

    /// <summary>
    /// The first row's rank sum above what it would be on average, and the variance of independent samples; equal values share their ranks.
    /// </summary>
    private static (double Excess, double Variance) RankSum(double[] first, double[] second)
    {
        double[] all = [.. first, .. second];
        int[] order = [.. Enumerable.Range(0, all.Length)];
        Array.Sort((double[])all.Clone(), order);
        double ranks = 0;
        double ties = 0;
        for (int i = 0; i < order.Length;)
        {
            int end = i + 1;
            while (end < order.Length && all[order[end]] == all[order[i]])
                end++;
            double rank = (i + 1 + end) / 2.0;
            for (int k = i; k < end; k++)
                ranks += order[k] < first.Length ? rank : 0;
            double alike = end - i;
            ties += (alike * alike * alike) - alike;
            i = end;
        }

        double n = first.Length;
        double m = second.Length;
        double total = n + m;
        return (ranks - (n * (total + 1) / 2), n * m / 12 * (total + 1 - (ties / (total * (total - 1)))));
    }
}
