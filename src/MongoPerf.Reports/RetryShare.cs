using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>How much of what transactions did came to nothing and was done again.</summary>
/// <param name="AllAttempts">What <paramref name="Attempts"/> is a share of.</param>
/// <param name="Attempts">The share of their attempts: 0 to 1.</param>
/// <param name="Time">The share of the time that they took, pauses between attempts included: 0 to 1.</param>
/// <param name="IsOfThreads">
/// The time is that of their threads: runs of earlier versions did not store that of the transactions themselves.
/// </param>
/// <param name="All">What became of them.</param>
public sealed record RetryShare(long AllAttempts, double Attempts, double Time, bool IsOfThreads, TransactionResult All)
{
    /// <returns>Null where none of them has transactions.</returns>
    public static RetryShare? Of(params IEnumerable<OperationResult> results)
    {
        OperationResult[] some = [.. results.Where(static result => result.Transactions is not null)];
        if (TransactionResult.Sum(some.Select(static result => result.Transactions)) is not { } all)
            return null;
        double seconds = all.Seconds ?? some.Sum(static result => result.Seconds * result.Threads);
        // Those that were made again are among the aborted ones.
        long attempts = all.Committed + all.RolledBack + all.Aborted + all.Unknown;
        return new RetryShare(attempts, Share(all.Retried, attempts), Share(all.RetrySeconds, seconds), all.Seconds is null, all);
    }

    /// <summary>"its transactions' time": what <see cref="Time"/> is a share of.</summary>
    public string TimeText => IsOfThreads ? Words.Of("its threads' time") : Words.Of("its transactions' time");

    /// <summary>An attempt that began before the measured part counts whole, and threads' time does not include all of it.</summary>
    private static double Share(double part, double whole) => whole > 0 ? Math.Clamp(part / whole, 0, 1) : 0;
}
