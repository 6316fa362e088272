namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>The straight line through a row of values, by least squares.</summary>
/// <param name="Mean">The mean of the values: the line's height at the row's middle.</param>
/// <param name="Slope">The slope from one value to the next.</param>
/// <param name="Count">The number of values.</param>
internal readonly record struct StraightLine(double Mean, double Slope, int Count)
{
    private double Middle => (Count - 1) / 2.0;

    /// <summary>Sum of the squares that the slope explains.</summary>
    public double Explained => Slope * Slope * Squares(Count);

    /// <param name="values">Two at least.</param>
    public static StraightLine Through(double[] values)
    {
        double middle = (values.Length - 1) / 2.0;
        double mean = values.Average();
        return new StraightLine(mean, values.Select((v, i) => (v - mean) * (i - middle)).Sum() / Squares(values.Length), values.Length);
    }

    public double At(int place) => Mean + (Slope * (place - Middle));

    /// <summary>The sum of the squares of 0, 1, 2 … about their mean.</summary>
    private static double Squares(int count) => count * ((double)count * count - 1) / 12;
}
