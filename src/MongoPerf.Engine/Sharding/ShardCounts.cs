using MongoPerf.Engine.Collections;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Sharding;

/// <summary>Documents on each shard, orphans included. A server's own counter is wrong after a crash: where the shards' do not add up, each is set right by a scan of its _id index, once.</summary>
/// <remarks>One thread.</remarks>
internal sealed class ShardCounts(ShardedCollection collection, LongCommands longCommands)
{
    private readonly Dictionary<string, long> _corrections = [];

    /// <param name="parts">What <see cref="ShardedStatistics.Request"/> brought.</param>
    /// <param name="documents">Known to be in the collection.</param>
    /// <returns>By the shards' names.</returns>
    public IReadOnlyDictionary<string, long> Read(IReadOnlyList<BsonDocument> parts, long documents)
    {
        long orphans = parts.Sum(part => part.FindInt64("storageStats.numOrphanDocs") ?? 0);
        Dictionary<string, long> counts = Corrected(parts);
        if (counts.Values.Sum() - orphans == documents)
            return counts;
        foreach (BsonDocument part in parts)
        {
            string shard = ShardedStatistics.ShardOf(part);
            using MongoConnection? open = collection.Connections.TryOpenShard(shard);
            if (open is not null)
                _corrections[shard] = Count(open) - ShardedStatistics.CountOf(part);
        }

        return Corrected(parts);
    }

    private Dictionary<string, long> Corrected(IReadOnlyList<BsonDocument> parts) => parts.ToDictionary(
        ShardedStatistics.ShardOf, part => ShardedStatistics.CountOf(part) + _corrections.GetValueOrDefault(ShardedStatistics.ShardOf(part)));

    private long Count(MongoConnection shard) => longCommands.Run(shard, collection.Database, BsonDocument.Of(
        ("count", collection.Collection),
        ("query", BsonDocument.Of(("_id", BsonDocument.Of(("$gte", Bounds.Least))))),
        ("hint", BsonDocument.Of(("_id", 1))))).FindInt64("n") ?? 0;
}
