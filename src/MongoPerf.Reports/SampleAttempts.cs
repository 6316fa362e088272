using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>
/// Which samples belong together. A phase that ran again after a crash has samples of each attempt; the last attempt's are
/// the stored result's.
/// </summary>
internal static class SampleAttempts
{
    /// <summary>The rest of a second says too little.</summary>
    public const double LeastSeconds = 0.5;

    /// <summary>
    /// A sample covers all that came since the one before, however long that was; between two attempts lies at least the
    /// start of a process.
    /// </summary>
    private const double LongestGapMilliseconds = 1500;

    /// <summary>It belongs to the same attempt as the operation's sample before it.</summary>
    public static bool Continues(this Sample sample, Sample before) =>
        Continues(sample.StartMilliseconds, sample.IsWarmup, before.AtMilliseconds, before.IsWarmup);

    /// <inheritdoc cref="Continues(Sample, Sample)"/>
    public static bool Continues(this OperationSecond second, OperationSecond before) =>
        Continues(second.StartMilliseconds, second.IsWarmup, before.AtMilliseconds, before.IsWarmup);

    private static bool Continues(long start, bool isWarmup, long endBefore, bool wasWarmup) =>
        start - endBefore < LongestGapMilliseconds && (wasWarmup || !isWarmup);
}
