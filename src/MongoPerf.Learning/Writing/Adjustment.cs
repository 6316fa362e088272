using MongoPerf.Learning.Observing;

namespace MongoPerf.Learning.Writing;

/// <summary>What is changed in an operation that was tried and found more or less than the one that was seen.</summary>
public static class Adjustment
{
    /// <summary>Shares that differ by less are practically one.</summary>
    private const double Least = 0.005;

    /// <summary>The operation as it is to be written; null where nothing simple helps.</summary>
    /// <param name="operation">As it was seen.</param>
    /// <param name="data">What the file says of its data.</param>
    /// <param name="tried">The share that found nothing when it was tried.</param>
    public static LearnedOperation? Of(LearnedOperation operation, IWrittenData data, double tried)
    {
        if (operation.Replies is not { AreEnough: true, Failed: 0 } seen || operation.IsUpsert || operation.Kind == "delete"
            || operation.IsRemove)
            return null;
        // Those that ask for what is there find nothing so often: other conditions see to it.
        double misses = new ShapeWriter(data, operation).Misses;
        double others = misses >= 1 ? 0 : Math.Clamp((tried - misses) / (1 - misses), 0, 1);
        double needed = others >= 1 ? misses : Math.Clamp((seen.Nothing - others) / (1 - others), 0, 1);
        return Math.Abs(needed - misses) < Least ? null : operation with { Misses = Math.Round(needed, 2) };
    }
}
