namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>
/// How much each second resembles the one before it, and what that costs: autocorrelated samples say less than as many independent ones.
/// </summary>
internal static class Autocorrelation
{
    /// <summary>The highest correlation: above it a window is one slow wave, and no correction would be worth its name.</summary>
    private const double Highest = 0.95;

    /// <summary>Correlation from one sample to the next, over several windows, each about its own mean.</summary>
    /// <returns>0 to 0.95; negative ones count as 0, which errs on the side of finding nothing.</returns>
    /// <remarks>
    /// An estimate about a window's own mean is too low by (1 + 4 r) / n, which is put right here (M. G. Kendall, "Note on bias in the
    /// estimation of autocorrelation", Biometrika 41, 1954).
    /// </remarks>
    public static double OfFirstOrder(IEnumerable<double[]> windows)
    {
        double products = 0;
        double squares = 0;
        int samples = 0;
        int count = 0;
        foreach (double[] window in windows.Where(w => w.Length > 1))
        {
            double mean = window.Average();
            double scale = mean == 0 ? 1 : mean;
            for (int i = 0; i < window.Length; i++)
            {
                double now = (window[i] - mean) / scale;
                squares += now * now;
                if (i > 0)
                    products += now * ((window[i - 1] - mean) / scale);
            }

            samples += window.Length;
            count++;
        }

        if (squares == 0)
            return 0;
        double length = (double)samples / count;
        double corrected = ((length * products / squares) + 1) / Math.Max(1, length - 4);
        return Math.Clamp(corrected, 0, Highest);
    }

    /// <summary>
    /// Computes by how much the variance of a mean (or of a rank sum) of so many samples in a row is larger than that of independent ones.
    /// </summary>
    /// <remarks>
    /// Exact for an autoregressive process of first order; near (1 + r) / (1 - r) for many values (G. V. Bayley, J. M. Hammersley, "The
    /// effective number of independent observations in an autocorrelated time series", 1946).
    /// </remarks>
    public static double VarianceInflation(double correlation, double samples)
    {
        double left = 1 - correlation;
        double ofMany = (1 + correlation) / left;
        return Math.Max(1, ofMany - (2 * correlation * (1 - Math.Pow(correlation, samples)) / (samples * left * left)));
    }

    /// <summary>
    /// The correlation of the ranks of values that have this one, for normal values: 6 / pi arcsin(r / 2) (K. Pearson, 1907).
    /// </summary>
    public static double OfRanks(double correlation) => 6 / Math.PI * Math.Asin(correlation / 2);

    /// <summary>Samples per block of a block bootstrap.</summary>
    /// <remarks>
    /// Carlstein's rule for first-order processes, n^(1/3) (sqrt(6) r / (1 - r^2))^(2/3) (E. Carlstein, Annals of Statistics 14, 1986),
    /// never more than a quarter of the window.
    /// </remarks>
    public static int BlockLength(double correlation, int samples)
    {
        double wanted = Math.Cbrt(samples) * Math.Pow(Math.Sqrt(6) * correlation / (1 - (correlation * correlation)), 2.0 / 3);
        return (int)Math.Clamp(Math.Ceiling(wanted), 1, Math.Max(1, samples / 4));
    }

    /// <summary>
    /// Computes by how much the deviation of a statistic that was drawn in blocks must grow, since blocks neither see a correlation beyond
    /// their length nor that a window's own mean is off.
    /// </summary>
    /// <param name="correlation">The correlation from one sample to the next.</param>
    /// <param name="samples">The samples in the window.</param>
    /// <param name="length">The length of a block, in samples.</param>
    public static double UnseenSpread(double correlation, int samples, int length)
    {
        double inflation = VarianceInflation(correlation, samples);
        double unseen = Math.Max(0.1, 1 - (inflation / samples));
        return Math.Sqrt(inflation / (VarianceInflation(correlation, length) * unseen));
    }
}
