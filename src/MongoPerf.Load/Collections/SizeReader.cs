using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Collections;

/// <summary>Reads sizes out of collStats, a single server's or (with <c>shards</c>) a router's.</summary>
public static class SizeReader
{
    /// <param name="stats">The reply.</param>
    /// <param name="documents">Known to be stored; the server's own counter may be wrong after a crash.</param>
    public static SizeResult Read(BsonDocument stats, long documents) => new()
    {
        Documents = documents,
        DataBytes = stats.FindInt64("size") ?? 0,
        StorageBytes = stats.FindInt64("storageSize") ?? 0,
        FreeStorageBytes = stats.FindInt64("freeStorageSize"),
        IndexBytes = stats.FindInt64("totalIndexSize") ?? 0,
        Indexes = ReadIndexes(stats),
        UsedIndexBytes = ReadUsed(stats),
        Buckets = stats.FindInt64("timeseries.bucketCount"),
        Shards = [.. (stats.FindDocument("shards") ?? BsonDocument.Empty).Select(shard => ReadShard(shard.Key, shard.Value.ToDocument()))],
    };

    /// <summary>Adds up the sizes of several collections that are one to the user; indexes are named with their collections.</summary>
    /// <param name="parts">The last one's documents are those that count.</param>
    /// <param name="documents">Known to be stored.</param>
    public static SizeResult Sum(IReadOnlyList<(string Name, SizeResult Size)> parts, long documents) => new()
    {
        Documents = documents,
        DataBytes = parts.Sum(p => p.Size.DataBytes),
        StorageBytes = parts.Sum(p => p.Size.StorageBytes),
        FreeStorageBytes = parts.All(p => p.Size.FreeStorageBytes is not null) ? parts.Sum(p => p.Size.FreeStorageBytes) : null,
        IndexBytes = parts.Sum(p => p.Size.IndexBytes),
        AreOfCheckpoint = parts.Any(p => p.Size.AreOfCheckpoint),
        Indexes = parts.SelectMany(p => p.Size.Indexes.Select(i => ($"{p.Name}.{i.Key}", i.Value))).ToDictionary(),
        Shards =
        [
            .. parts.SelectMany(p => p.Size.Shards.Select(shard => (p.Name, Shard: shard)))
                .GroupBy(p => p.Shard.Shard).OrderBy(g => g.Key, StringComparer.Ordinal).Select(shard => new ShardSize(
                    shard.Key,
                    shard.Where(p => p.Name == parts[^1].Name).Sum(p => p.Shard.Documents),
                    shard.Sum(p => p.Shard.DataBytes),
                    shard.Sum(p => p.Shard.StorageBytes),
                    shard.Sum(p => p.Shard.IndexBytes), shard.Sum(p => p.Shard.Chunks))
                {
                    Orphans = shard.All(p => p.Shard.Orphans is not null) ? shard.Sum(p => p.Shard.Orphans) : null,
                    Indexes = shard.SelectMany(p => p.Shard.Indexes.Select(i => ($"{p.Name}.{i.Key}", i.Value))).ToDictionary(),
                }),
        ],
    };

    /// <param name="shard">Its name.</param>
    /// <param name="stats">The statistics of the shard's part.</param>
    /// <param name="count">Its documents, orphans included.</param>
    /// <param name="chunks">The chunks that it owns.</param>
    public static ShardSize ReadShard(string shard, BsonDocument stats, long count, long chunks)
    {
        long? orphans = stats.FindInt64("numOrphanDocs");
        return new ShardSize(shard, count - (orphans ?? 0), stats.FindInt64("size") ?? 0, stats.FindInt64("storageSize") ?? 0,
            stats.FindInt64("totalIndexSize") ?? 0, chunks)
        {
            Orphans = orphans,
            Indexes = ReadIndexes(stats),
        };
    }

    private static ShardSize ReadShard(string shard, BsonDocument stats) =>
        ReadShard(shard, stats, stats.FindInt64("count") ?? 0, stats.FindInt64("nchunks") ?? 0);

    /// <remarks>A router does not hand it on. An index without a checkpoint has 0.</remarks>
    private static Dictionary<string, long>? ReadUsed(BsonDocument stats)
    {
        var used = new Dictionary<string, long>();
        foreach ((string name, BsonValue details) in stats.FindDocument("indexDetails") ?? BsonDocument.Empty)
        {
            if (details.Type == BsonType.Document && details.ToDocument().FindInt64("block-manager.checkpoint size") is > 0 and var bytes)
                used[name] = bytes;
        }

        return used.Count == 0 ? null : used;
    }

    private static Dictionary<string, long> ReadIndexes(BsonDocument stats)
    {
        var sizes = new Dictionary<string, long>();
        foreach ((string name, BsonValue bytes) in stats.FindDocument("indexSizes") ?? BsonDocument.Empty)
        {
            if (bytes.IsNumber)
                sizes[name] = bytes.ToInt64();
        }

        return sizes;
    }
}
