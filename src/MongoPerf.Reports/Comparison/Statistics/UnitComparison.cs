using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Compares few whole things, each of which is one observation: a window of a size, or a run.</summary>
/// <remarks>
/// Student's t on logarithms: a ratio's logarithm is additive, and the means that it is made of are close to normal. A rank test could not
/// reach the levels that <see cref="Holm"/> asks for with so few: five runs against five give 0.008 at least.
/// </remarks>
internal static class UnitComparison
{
    /// <summary>Do the differences lie beside zero?</summary>
    /// <param name="differences">Logarithms of ratios, one per size; two at least.</param>
    /// <returns>Two-sided p.</returns>
    public static double PairedP(double[] differences)
    {
        double error = Math.Sqrt(Variance(differences) / differences.Length);
        return P(differences.Average(), error, differences.Length - 1);
    }

    /// <summary>Do the two rows have one mean? Their variances may differ (B. L. Welch, 1947).</summary>
    /// <param name="baseline">Logarithms, one per run; two at least.</param>
    /// <param name="candidate">The candidate's values, as many as the baseline's or not.</param>
    /// <returns>Two-sided p.</returns>
    public static double WelchP(double[] baseline, double[] candidate)
    {
        double a = Variance(baseline) / baseline.Length;
        double b = Variance(candidate) / candidate.Length;
        double freedom = a + b == 0 ? 1 : (a + b) * (a + b) / ((a * a / (baseline.Length - 1)) + (b * b / (candidate.Length - 1)));
        return P(candidate.Average() - baseline.Average(), Math.Sqrt(a + b), freedom);
    }

    private static double P(double difference, double error, double freedom) =>
        error > 0 ? 2 * StudentT.CDF(0, 1, freedom, -Math.Abs(difference) / error) : difference == 0 ? 1 : 0;

    private static double Variance(double[] values)
    {
        double mean = values.Average();
        return values.Sum(v => (v - mean) * (v - mean)) / (values.Length - 1);
    }
}
