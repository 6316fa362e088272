namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Keeps the chance of any false alarm among several tests at the level of one.</summary>
internal static class Holm
{
    /// <summary>Each p as it counts beside the others (at most 1).</summary>
    /// <remarks>
    /// S. Holm, "A simple sequentially rejective multiple test procedure", 1979: the smallest is multiplied by the number of tests, the
    /// next by one less, and none may fall below the one before it. Nothing is assumed about how the tests depend on each other.
    /// </remarks>
    public static double[] Adjust(IReadOnlyList<double> p)
    {
        int[] order = [.. Enumerable.Range(0, p.Count).OrderBy(i => p[i])];
        double[] adjusted = new double[p.Count];
        double least = 0;
        for (int i = 0; i < order.Length; i++)
        {
            least = Math.Max(least, Math.Min(1, p[order[i]] * (p.Count - i)));
            adjusted[order[i]] = least;
        }

        return adjusted;
    }
}
