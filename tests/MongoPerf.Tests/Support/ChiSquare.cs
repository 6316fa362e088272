namespace MongoPerf.Tests.Support;

/// <summary>Pearson's chi-square test of counts against expected shares.</summary>
internal static class ChiSquare
{
    /// <summary>
    /// Fewer expected hits than this in a bin, and the test's distribution no longer holds; such bins are pooled with their neighbours.
    /// </summary>
    private const double LeastExpected = 10;

    /// <summary>Right draws fail once in 10,000; seeds are fixed, so that is never or always.</summary>
    private const double NormalQuantile = 3.719;

    /// <summary>Fails when the counts are not those of the shares.</summary>
    /// <param name="shares">They add up to 1.</param>
    public static void AssertAgrees(IReadOnlyList<double> shares, IReadOnlyList<long> counts)
    {
        Assert.Equal(shares.Count, counts.Count);
        Assert.Equal(1, shares.Sum(), 1e-9);
        (double statistic, int freedom) = Compare(shares, counts);
        Assert.True(freedom > 0, "one bin only: nothing is compared");
        Assert.True(statistic < Quantile(freedom),
            $"chi-square is {statistic:0.0}, and at {freedom} degrees of freedom at most {Quantile(freedom):0.0} are likely");
    }

    /// <returns>The statistic, and one degree of freedom less than there are bins after pooling.</returns>
    public static (double Statistic, int Freedom) Compare(IReadOnlyList<double> shares, IReadOnlyList<long> counts)
    {
        double total = counts.Sum();
        double statistic = 0;
        int bins = 0;
        double expected = 0;
        double found = 0;
        double left = total;
        for (int i = 0; i < shares.Count; i++)
        {
            expected += shares[i] * total;
            found += counts[i];
            // The last bin takes what is too little for one more.
            bool full = expected >= LeastExpected && left - expected >= LeastExpected;
            if (!full && i < shares.Count - 1)
                continue;
            if (expected > 0)
                statistic += (found - expected) * (found - expected) / expected;
            else if (found > 0)
                statistic = double.PositiveInfinity;
            bins++;
            left -= expected;
            (expected, found) = (0, 0);
        }

        return (statistic, bins - 1);
    }

    /// <summary>What chi-square stays below but once in 10,000 (E. B. Wilson, M. M. Hilferty, 1931).</summary>
    public static double Quantile(int freedom)
    {
        double spread = 2.0 / (9 * freedom);
        return freedom * Math.Pow(1 - spread + (NormalQuantile * Math.Sqrt(spread)), 3);
    }
}
