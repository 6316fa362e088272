using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>How the data ended up on the shards, in a sentence.</summary>
public static class ShardVerdict
{
    /// <summary>Farther from even than this is worth a reader's attention.</summary>
    private const double WorstThatIsGood = 0.1;

    /// <summary>
    /// Judges all collections that shards share; null without shards. Where nearly all documents are on one shard, <see cref="Crowded"/>
    /// says so.
    /// </summary>
    public static Verdict? Of(StoredRun run)
    {
        HashSet<string> crowded = [.. (run.Deployment?.Collections ?? [])
            .Where(static one => one.NearlyOnly is not null).Select(static one => one.Collection)];
        (string? Name, int Shards, Balance Balance)[] judged =
        [
            .. Distribution.Of(run).Where(one => one.Collection is null || !crowded.Contains(one.Collection))
                .Select(static one => (one.Collection, one.Shards.Count, Balance: Balance.Of(one.Shards)))
                .Where(static one => one.Balance is not null).Select(static one => (one.Collection, one.Count, one.Balance!)),
        ];
        MoveSum moves = ChunkMoves.Of(run).All;
        if (judged.Length == 0 && moves == MoveSum.None)
            return null;
        bool isEven = crowded.Count == 0 && judged.All(static one => IsEven(one.Balance));
        bool hasSeveral = Distribution.HasSeveral(run);
        string[] parts =
        [
            .. judged.Select(one => SpreadText(hasSeveral && one.Name is { } name ? Words.Of($" of {name}") : "", one.Shards, one.Balance)),
            Moves(moves),
            .. (run.Deployment?.Collections ?? []).Where(static one => one.Orphans > 0).Select(static one => Words.Of(
                $"{Words.Counted(one.Orphans, "orphan")} of {one.Collection} count in its sizes")),
        ];
        return new Verdict(isEven ? Grade.Good : Grade.Note, Words.Of($"shards: {string.Join("; ", parts)}"))
        {
            Finding = judged.All(static one => IsEven(one.Balance)) ? null : VerdictFinding.ShardImbalance,
        };
    }

    /// <summary>"both shards", "all 3 shards".</summary>
    public static string All(int shards) => shards == 2 ? Words.Of("both shards") : Words.Of($"all {shards} shards");

    private static bool IsEven(Balance balance) => balance.Worst <= WorstThatIsGood;

    private static string SpreadText(string of, int shards, Balance balance) => IsEven(balance)
        ? Words.Of($"documents{of} are spread evenly over {All(shards)} (at most {Units.Percent(balance.Worst)} from an even share)")
        : Words.Of($"{balance.Most.Shard} has {Units.Percent(balance.FromEven(balance.Most))} more{of} than an even share, "
            + $"{balance.Least.Shard} has {Units.Percent(-balance.FromEven(balance.Least))} less");

    /// <summary>Says that nearly all documents of a collection are on one shard of several; null when they are not.</summary>
    public static string? Crowded(CollectionSharding collection)
    {
        if (collection.NearlyOnly is not { Documents: { } there } part)
            return null;
        long all = collection.Parts.Sum(one => one.Documents ?? 0);
        string why = collection.Key is { } key ? Words.Of($"by its shard key {key}") : Words.Of("since it is not sharded");
        return Words.Of($"{collection.Collection}: shard {part.Shard} holds {Units.Percent((double)there / all)} of {Units.Exact(all)} "
            + $"documents {why}; the figures are those of one shard, not of {collection.Parts.Count}");
    }

    private static string Moves(MoveSum all)
    {
        if (all == MoveSum.None)
            return Words.Of("no chunks migrated");
        string failed = all.Failed == 0 ? "" : Words.Of($", {Units.Exact(all.Failed)} failed");
        return Words.Of($"{Words.Counted(all.Done, "migration")} moved {Words.Counted(all.Documents, "document")} in "
            + $"{Units.Duration(all.Seconds)}{failed}");
    }
}
