using MongoPerf.Learning.Observing;

namespace MongoPerf.Learning.Writing;

/// <summary>What is changed in an operation that was tried and found more or less than the one that was seen.</summary>
public static class Adjustment
{
    /// <summary>What a server returns at first of a find that names no batch.</summary>
    private const int UsualBatch = 101;

    /// <summary>Shares that differ by less are practically one.</summary>
    private const double Least = 0.005;

    /// <summary>The operation as it is to be written; null where nothing simple helps.</summary>
    /// <param name="operation">As it was seen.</param>
    /// <param name="data">What the file says of its data.</param>
    /// <param name="documents">Found by one operation on average, when it was tried.</param>
    /// <param name="nothing">The share that found nothing; null if unknown.</param>
    public static LearnedOperation? Of(LearnedOperation operation, IWrittenData data, double documents, double? nothing)
    {
        if (operation.Replies is not { AreEnough: true, Failed: 0 } seen)
            return null;
        if (IsAbandoned(operation, seen) && documents > seen.Documents + 0.5)
            return operation with { Limit = (int)Math.Round(seen.Documents), Limits = new Dictionary<int, double>() };
        if (nothing is not { } tried || operation.IsUpsert || operation.Kind == "delete" || operation.IsRemove)
            return null;
        // Those that ask for what is there find nothing so often: other conditions see to it.
        double misses = new ShapeWriter(data, operation).Misses;
        double others = misses >= 1 ? 0 : Math.Clamp((tried - misses) / (1 - misses), 0, 1);
        double needed = others >= 1 ? misses : Math.Clamp((seen.Nothing - others) / (1 - others), 0, 1);
        return Math.Abs(needed - misses) < Least ? null : operation with { Misses = Math.Round(needed, 2) };
    }

    /// <summary>Whoever asked read no more of the cursor than its first batch, or so many, which then are the limit.</summary>
    private static bool IsAbandoned(LearnedOperation operation, ObservedReplies seen)
    {
        int? given = operation.BatchSize is > 1 and var size ? size : null;
        double batches = Math.Round(seen.Documents / (given ?? UsualBatch));
        return operation is { Kind: "find", Limit: null } && seen.Deviation < 0.5 && (given is null ? batches == 1 : batches >= 1)
            && Math.Abs(seen.Documents - (batches * (given ?? UsualBatch))) < 0.5;
    }
}
