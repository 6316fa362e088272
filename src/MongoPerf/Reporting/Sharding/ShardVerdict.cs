using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Findings;

namespace MongoPerf.Reporting.Sharding;

/// <summary>How the data ended up on the shards, in a sentence.</summary>
internal static class ShardVerdict
{
    /// <summary>Farther from even than this is worth a reader's attention.</summary>
    private const double WorstThatIsGood = 0.1;

    /// <summary>Null unless the data are on several shards.</summary>
    public static Verdict? Of(StoredRun run)
    {
        if (ShardTables.LastOf(run) is not { } sizes || Balance.Of(sizes.Shards) is not { } balance)
            return null;
        string spread = balance.Worst <= WorstThatIsGood
            ? Words.Of($"all {sizes.Shards.Count} are within {Units.Percent(balance.Worst)} of an even share")
            : Words.Of($"{balance.Most.Shard} has {Units.Percent(balance.FromEven(balance.Most))} more than an even share, {balance.Least.Shard} has {Units.Percent(-balance.FromEven(balance.Least))} less");
        bool isEven = balance.Worst <= WorstThatIsGood;
        return new Verdict(isEven ? Grade.Good : Grade.Note, Words.Of($"shards: {spread}; {Moves(ChunkMoves.Of(run).All)}")) { Finding = isEven ? null : VerdictFinding.ShardImbalance };
    }

    /// <summary>Says that nearly all documents of a collection are on one shard of several; null when they are not.</summary>
    public static string? Crowded(CollectionSharding collection)
    {
        if (collection.NearlyOnly is not { Documents: { } there } part)
            return null;
        long all = collection.Parts.Sum(one => one.Documents ?? 0);
        string why = collection.Key is { } key ? Words.Of($"by its shard key {key}") : Words.Of("since it is not sharded");
        return Words.Of($"{collection.Collection}: shard {part.Shard} holds {Units.Percent((double)there / all)} of {Units.Exact(all)} documents {why}; the figures are those of one shard, not of {collection.Parts.Count}");
    }

    private static string Moves(MoveSum all)
    {
        if (all == MoveSum.None)
            return Words.Of("no chunks migrated");
        string failed = all.Failed == 0 ? "" : Words.Of($", {Units.Exact(all.Failed)} failed");
        return Words.Of($"{Words.Counted(all.Done, "migration")} moved {Words.Counted(all.Documents, "document")} in {Units.Duration(TimeSpan.FromSeconds(all.Seconds))}{failed}");
    }
}
