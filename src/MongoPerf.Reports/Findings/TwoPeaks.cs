using MongoPerf.Measurement;

namespace MongoPerf.Reports.Findings;

/// <summary>Two peaks of a latency's distribution with a valley between them.</summary>
/// <param name="Fast">Where the first lies, microseconds.</param>
/// <param name="Valley">Where the fewest lie between them.</param>
/// <param name="Slow">Where the second lies.</param>
/// <param name="SlowShare">The share of the operations that lie beyond the valley.</param>
/// <param name="Depth">How many fewer there are in the valley than at the lower peak, as a share.</param>
internal sealed record TwoPeaks(double Fast, double Valley, double Slow, double SlowShare, double Depth)
{
    private const int BinsPerDecade = 12;
    private const int Bins = BinsPerDecade * 8;

    /// <summary>The least share of the operations on either side.</summary>
    private const double LeastShare = 0.1;
    private const double LeastRatio = 3;
    private const double LeastDepth = 0.8;
    private const double Deviations = 5;
    private const long LeastOperations = 1000;

    public double Ratio => Slow / Fast;

    /// <summary>
    /// Looks for two peaks on logarithms, in bins of a fifth: both sides must hold a tenth of the operations, the peaks lie a factor of
    /// three apart, and the valley be a fifth of the lower peak or less, by five deviations of its count.
    /// </summary>
    /// <returns>Null for one peak, and for fewer than 1,000 operations.</returns>
    public static TwoPeaks? Find(LatencyHistogram histogram)
    {
        double[] counts = new double[Bins];
        foreach ((double microseconds, long count) in histogram.Buckets())
            counts[Math.Clamp((int)(Math.Log10(microseconds * 10) * BinsPerDecade), 0, Bins - 1)] += count;
        double all = counts.Sum();
        if (all < LeastOperations)
            return null;
        TwoPeaks? best = null;
        double before = 0;
        for (int valley = 1; valley < Bins - 1; valley++)
        {
            before += counts[valley - 1];
            double share = (all - before - (counts[valley] / 2)) / all;
            if (share < LeastShare || share > 1 - LeastShare)
                continue;
            int fast = Highest(counts, 0, valley);
            int slow = Highest(counts, valley + 1, Bins);
            double lower = Math.Min(counts[fast], counts[slow]);
            double depth = 1 - (counts[valley] / Math.Max(1, lower));
            bool isPlain = lower - counts[valley] > Deviations * Math.Sqrt(lower + counts[valley]);
            if (depth >= LeastDepth && isPlain && At(slow) / At(fast) >= LeastRatio && (best is null || depth > best.Depth))
                best = new TwoPeaks(At(fast), At(valley), At(slow), share, depth);
        }

        return best;
    }

    /// <summary>
    /// Another histogram has a part of its operations, half as much as is asked for of the whole, on each side of the valley.
    /// </summary>
    public bool IsIn(LatencyHistogram part)
    {
        long slow = part.Buckets().Where(bucket => bucket.Microseconds > Valley).Sum(bucket => bucket.Count);
        return slow >= LeastShare / 2 * part.TotalCount && slow <= (1 - (LeastShare / 2)) * part.TotalCount;
    }

    private static int Highest(double[] counts, int from, int to) => Enumerable.Range(from, to - from).MaxBy(i => counts[i]);

    /// <summary>The middle of a bin, microseconds.</summary>
    private static double At(int bin) => Math.Pow(10, (bin + 0.5) / BinsPerDecade) / 10;
}
