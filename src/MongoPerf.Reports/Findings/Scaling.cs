using MathNet.Numerics.Distributions;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>How something grows with the documents: as their number to the power of an exponent.</summary>
/// <param name="Exponent">0 is not at all, 1 in proportion.</param>
/// <param name="Explained">Share of the variance of the logarithms that the power explains.</param>
/// <param name="Range">The ratio of the most documents to the fewest.</param>
/// <param name="P">The probability that there is no such growth, by an F test.</param>
internal sealed record Scaling(double Exponent, double Explained, double Range, double P)
{
    private const double Linear = 0.8;
    private const double Faster = 1.2;
    private const double LeastExplained = 0.9;
    private const double LeastRange = 4;

    /// <summary>A power describes it.</summary>
    public bool IsPower => Explained >= LeastExplained && Range >= LeastRange;

    public bool IsLinear => IsPower && Exponent >= Linear;

    /// <summary>The growth from the fewest documents to the most, by the power, as a factor.</summary>
    public double Growth => Math.Pow(Range, Exponent);

    public bool IsFaster => Exponent >= Faster;

    /// <summary>The exponent is the median of those between all pairs (H. Theil, 1950; P. K. Sen, 1968).</summary>
    /// <param name="documents">Greater than 0, each once.</param>
    /// <param name="values">Greater than 0; three at least.</param>
    public static Scaling Of(long[] documents, double[] values)
    {
        double[] x = [.. documents.Select(d => Math.Log(Math.Max(1, d)))];
        double[] y = [.. values.Select(v => Math.Log(v))];
        List<double> slopes = [];
        for (int i = 0; i < x.Length; i++)
        {
            for (int k = i + 1; k < x.Length; k++)
            {
                if (x[k] > x[i])
                    slopes.Add((y[k] - y[i]) / (x[k] - x[i]));
            }
        }

        double exponent = slopes.Count == 0 ? 0 : Quantiles.Median(slopes);
        double[] left = [.. y.Select((v, i) => v - (exponent * x[i]))];
        double all = Squares(y);
        double explained = all > 0 ? Math.Clamp(1 - (Squares(left) / all), 0, 1 - 1e-9) : 0;
        double f = explained * (x.Length - 2) / (1 - explained);
        return new Scaling(exponent, explained, Math.Exp(x.Max() - x.Min()), 1 - FisherSnedecor.CDF(1, x.Length - 2, f));
    }

    private static double Squares(double[] values)
    {
        double mean = values.Average();
        return values.Sum(v => (v - mean) * (v - mean));
    }
}
