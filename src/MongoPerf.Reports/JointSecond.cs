using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>A second of a mix as a whole: its operations are sampled together.</summary>
internal static class JointSecond
{
    /// <summary>Used again for each second: a run of a day has very many.</summary>
    [ThreadStatic]
    private static LatencyHistogram? _sum;

    /// <summary>Adds up the latencies of all its operations.</summary>
    /// <param name="mix">Whose second it is.</param>
    /// <param name="histograms">The histograms of each operation that was done in it.</param>
    /// <returns>Good until the thread's next call; null where they can't be added up, or were not read.</returns>
    public static LatencyHistogram? Sum(OperationMix mix, IReadOnlyList<ReadOnlyMemory<byte>> histograms)
    {
        if (mix.Total.ReportedMicroseconds.P50 is null || histograms.Count == 0 || histograms.Any(histogram => histogram.IsEmpty))
            return null;
        LatencyHistogram sum = _sum ??= new LatencyHistogram();
        sum.Clear();
        foreach (ReadOnlyMemory<byte> histogram in histograms)
            HistogramEncoding.DecodeInto(sum, histogram.Span);
        return sum;
    }

    /// <summary>What one of its operations adds to its rate: documents where all of the mix inserts, operations otherwise.</summary>
    public static double CountOf(OperationMix mix, OperationResult result, double count) =>
        result.IsInsert && !mix.Total.IsInsert ? count / Math.Max(1, result.Batch) : count;
}
