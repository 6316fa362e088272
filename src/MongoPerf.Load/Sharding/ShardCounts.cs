using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// Documents on each shard, orphans included. A server's own counters are wrong after a crash: where the shards' do not add up, each is
/// counted in its _id index, and validate corrects those that were wrong, once.
/// </summary>
/// <remarks>One thread.</remarks>
internal sealed class ShardCounts(ShardedCollection collection, LongCommands longCommands)
{
    /// <summary>The corrections for shards whose counters stay wrong because validate was refused.</summary>
    private readonly Dictionary<string, long> _corrections = [];
    private bool _routerValidated;

    /// <param name="router">Open.</param>
    /// <param name="parts">What <see cref="ShardedStatistics.Request"/> brought.</param>
    /// <param name="documents">Known to be in the collection.</param>
    /// <returns>True when shards have other statistics now.</returns>
    public bool Correct(MongoConnection router, IReadOnlyList<BsonDocument> parts, long documents)
    {
        long orphans = parts.Sum(part => part.FindInt64("storageStats.numOrphanDocs") ?? 0);
        if (Read(parts).Values.Sum() - orphans == documents)
            return false;
        bool isCorrected = false;
        bool isAnyAsked = false;
        foreach (BsonDocument part in parts)
        {
            string shard = ShardedStatistics.ShardOf(part);
            using MongoConnection? open = collection.Connections.TryOpenShard(shard);
            // From 8.0 on shards show most users nothing but their state.
            if (open is null || TryCount(open) is not { } counted)
                continue;
            isAnyAsked = true;
            _corrections[shard] = counted - ShardedStatistics.CountOf(part);
            if (_corrections[shard] == 0
                || longCommands.TryRun(open, collection.Database, CollectionCommands.Validate(collection.Collection)) is not { } reply
                || !reply.IsTrue("valid"))
                continue;
            _corrections[shard] = 0;
            isCorrected = true;
        }

        if (isAnyAsked || _routerValidated || collection.Connections.Cluster.Router != RouterKind.Mongos)
            return isCorrected;
        // The router passes it on to all of them; once, because what it can't mend it will not mend later either.
        _routerValidated = true;
        return longCommands.TryRun(router, collection.Database, CollectionCommands.Validate(collection.Collection)) is not null;
    }

    /// <returns>The counts by the shards' names.</returns>
    public IReadOnlyDictionary<string, long> Read(IReadOnlyList<BsonDocument> parts) => parts.ToDictionary(
        ShardedStatistics.ShardOf,
        part => ShardedStatistics.CountOf(part) + _corrections.GetValueOrDefault(ShardedStatistics.ShardOf(part)));

    /// <returns>Null when the shard does not let this user.</returns>
    private long? TryCount(MongoConnection shard) =>
        longCommands.TryRun(shard, collection.Database, CollectionCommands.CountIds(collection.Collection))?.FindInt64("n");
}
