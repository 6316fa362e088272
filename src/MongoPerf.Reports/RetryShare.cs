using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>How much of what transactions did came to nothing and was done again.</summary>
/// <param name="Attempts">The share of their attempts: 0 to 1.</param>
/// <param name="Time">The share of their threads' time, pauses between attempts included: 0 to 1.</param>
/// <param name="All">What became of them.</param>
public sealed record RetryShare(double Attempts, double Time, TransactionResult All)
{
    /// <returns>Null where none of them has transactions.</returns>
    public static RetryShare? Of(params IEnumerable<OperationResult> results)
    {
        OperationResult[] some = [.. results.Where(static result => result.Transactions is not null)];
        if (TransactionResult.Sum(some.Select(static result => result.Transactions)) is not { } all)
            return null;
        double seconds = some.Sum(static result => result.Seconds * result.Threads);
        long attempts = all.Committed + all.RolledBack + all.Retried;
        return new RetryShare(attempts > 0 ? (double)all.Retried / attempts : 0, seconds > 0 ? all.RetrySeconds / seconds : 0, all);
    }
}
