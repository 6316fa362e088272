namespace MongoPerf.Reports.Comparison.Statistics;

internal static class Quantiles
{
    /// <summary>NaN of nothing.</summary>
    public static double Median(IReadOnlyCollection<double> values)
    {
        if (values.Count == 0)
            return double.NaN;
        double[] sorted = [.. values];
        Array.Sort(sorted);
        int middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /// <summary>Neighbours joined to their averages so that there are at most so many.</summary>
    public static double[] Joined(double[] values, int most) =>
        values.Length <= most ? values : [.. Enumerable.Range(0, most)
            .Select(i => values[(int)((long)i * values.Length / most)..(int)((i + 1L) * values.Length / most)].Average())];
}
