using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>What comes again and again in a row of values.</summary>
/// <param name="Length">Values from one to the next.</param>
/// <param name="Amplitude">Half the way from trough to peak of the folded row, as a share of its level.</param>
/// <param name="Explained">Share of the variance that the folded row explains.</param>
internal sealed record Period(double Length, double Amplitude, double Explained)
{
    public const int LeastValues = 40;
    private const int MostValues = 4096;
    private const int LeastLength = 4;
    private const double LeastTimes = 3.5;
    private const double LeastCorrelation = 0.3;
    private const double Deviations = 3.5;
    private const double HalvesAlike = 0.6;

    /// <summary>
    /// A peak of the autocorrelation, confirmed by folding the row at it: the profile must explain more than chance, and both halves of
    /// the row must have it.
    /// </summary>
    /// <param name="values">Greater than 0, in the order of time.</param>
    /// <param name="level">The level of the test that the fold explains nothing, corrected for the periods that were tried.</param>
    /// <remarks>M. S. Bartlett, 1946, for the deviation of an autocorrelation; D. A. Stellingwerf, 1978, for folding.</remarks>
    public static Period? Find(double[] values, double level)
    {
        if (values.Length < LeastValues)
            return null;
        double[] logarithms = [.. Quantiles.Joined(values, MostValues).Select(v => Math.Log(v))];
        var line = StraightLine.Through(logarithms);
        double[] left = [.. logarithms.Select((v, i) => v - line.At(i))];
        double[] correlations = Correlations(left, (int)(left.Length / LeastTimes));
        if (FirstPeak(correlations, left.Length) is not { } lag)
            return null;
        int bins = Math.Min(24, lag);
        double refined = Refine(correlations, lag);
        double[] profile = Fold(left, refined, bins);
        double explained = ShareExplained(left, refined, profile);
        double f = explained / (bins - 1) / Math.Max(1e-12, (1 - explained) / (left.Length - bins));
        double p = correlations.Length * (1 - FisherSnedecor.CDF(bins - 1, left.Length - bins, f));
        int half = left.Length / 2;
        double alike = Correlation(Fold(left[..half], refined, bins), Fold(left[half..], refined, bins, half));
        return p >= level || alike < HalvesAlike
            ? null
            : new Period(refined * values.Length / left.Length, (Math.Exp(profile.Max()) - Math.Exp(profile.Min())) / 2, explained);
    }

    /// <summary>The correlations by lag, from 0 on.</summary>
    private static double[] Correlations(double[] left, int most)
    {
        double squares = left.Sum(v => v * v);
        double[] correlations = new double[most + 1];
        for (int lag = 0; lag <= most && squares > 0; lag++)
        {
            double sum = 0;
            for (int i = lag; i < left.Length; i++)
                sum += left[i] * left[i - lag];
            // Longer lags have fewer products.
            correlations[lag] = sum / squares * left.Length / (left.Length - lag);
        }

        return correlations;
    }

    private static int? FirstPeak(double[] correlations, int values)
    {
        double first = Math.Clamp(correlations[1], 0, 0.9);
        double deviation = Math.Sqrt((1 + (first * first)) / (1 - (first * first)) / values);
        double needed = Math.Max(LeastCorrelation, Deviations * deviation);
        double lowest = 1;
        List<int> peaks = [];
        for (int lag = 1; lag < correlations.Length - 1; lag++)
        {
            lowest = Math.Min(lowest, correlations[lag]);
            if (lag >= LeastLength && correlations[lag] >= needed && correlations[lag] > correlations[lag - 1]
                && correlations[lag] >= correlations[lag + 1] && correlations[lag] - lowest >= needed)
                peaks.Add(lag);
        }

        // Multiples of a period peak too.
        return peaks.Count == 0 ? null : peaks.First(lag => correlations[lag] >= 0.8 * peaks.Max(peak => correlations[peak]));
    }

    private static double Refine(double[] correlations, int lag)
    {
        double bend = correlations[lag - 1] - (2 * correlations[lag]) + correlations[lag + 1];
        return bend >= 0 ? lag : lag + Math.Clamp((correlations[lag - 1] - correlations[lag + 1]) / (2 * bend), -0.5, 0.5);
    }

    private static int BinOf(int place, double length, int bins) => (int)(place % length / length * bins) % bins;

    private static double[] Fold(double[] left, double length, int bins, int start = 0)
    {
        double[] sums = new double[bins];
        int[] counts = new int[bins];
        for (int i = 0; i < left.Length; i++)
        {
            int bin = BinOf(i + start, length, bins);
            sums[bin] += left[i];
            counts[bin]++;
        }

        return [.. sums.Select((sum, bin) => sum / Math.Max(1, counts[bin]))];
    }

    private static double ShareExplained(double[] left, double length, double[] profile)
    {
        double rest = left.Select((v, i) => v - profile[BinOf(i, length, profile.Length)]).Sum(v => v * v);
        return 1 - (rest / left.Sum(v => v * v));
    }

    private static double Correlation(double[] a, double[] b)
    {
        double meanA = a.Average();
        double meanB = b.Average();
        double products = a.Zip(b, (x, y) => (x - meanA) * (y - meanB)).Sum();
        double squares = Math.Sqrt(a.Sum(x => (x - meanA) * (x - meanA)) * b.Sum(y => (y - meanB) * (y - meanB)));
        return squares > 0 ? products / squares : 0;
    }
}
