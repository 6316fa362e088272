using MongoPerf.Engine.Runs;

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
            ? $"all {sizes.Shards.Count} are within {Units.Percent(balance.Worst)} of even"
            : $"{balance.Most.Shard} has {Units.Percent(balance.FromEven(balance.Most))} more than an even share, {balance.Least.Shard} has {Units.Percent(-balance.FromEven(balance.Least))} less";
        return new Verdict(balance.Worst <= WorstThatIsGood ? Grade.Good : Grade.Note, $"shards: {spread}; {Moves(ChunkMoves.Of(run).All)}");
    }

    private static string Moves(MoveSum all)
    {
        if (all == MoveSum.None)
            return "no chunks migrated";
        string failed = all.Failed == 0 ? "" : $", {Units.Exact(all.Failed)} failed";
        return $"{Units.Counted(all.Done, "migration")} moved {Units.Counted(all.Documents, "document")} in {Units.Duration(TimeSpan.FromSeconds(all.Seconds))}{failed}";
    }
}
