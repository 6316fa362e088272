using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Collections;

/// <summary>Reads sizes out of collStats, a single server's or (with <c>shards</c>) a router's.</summary>
internal static class SizeReader
{
    /// <param name="stats">The reply.</param>
    /// <param name="documents">Known to be stored; the server's own counter may be wrong after a crash.</param>
    public static SizeResult Read(BsonDocument stats, long documents)
    {
        return new SizeResult
        {
            Documents = documents,
            DataBytes = stats.FindInt64("size") ?? 0,
            StorageBytes = stats.FindInt64("storageSize") ?? 0,
            FreeStorageBytes = stats.FindInt64("freeStorageSize"),
            IndexBytes = stats.FindInt64("totalIndexSize") ?? 0,
            Indexes = ReadIndexes(stats),
            Shards = ReadShards(stats.FindDocument("shards")),
        };
    }

    /// <summary>Of several collections that are one to the user; indexes are named with their collections.</summary>
    /// <param name="parts">The last one's documents are those that count.</param>
    /// <param name="documents">Known to be stored.</param>
    public static SizeResult Sum(IReadOnlyList<(string Name, SizeResult Size)> parts, long documents) => new()
    {
        Documents = documents,
        DataBytes = parts.Sum(p => p.Size.DataBytes),
        StorageBytes = parts.Sum(p => p.Size.StorageBytes),
        FreeStorageBytes = parts.All(p => p.Size.FreeStorageBytes is not null) ? parts.Sum(p => p.Size.FreeStorageBytes) : null,
        IndexBytes = parts.Sum(p => p.Size.IndexBytes),
        Indexes = parts.SelectMany(p => p.Size.Indexes.Select(i => ($"{p.Name}.{i.Key}", i.Value))).ToDictionary(),
        Shards =
        [
            .. parts.SelectMany(p => p.Size.Shards.Select(shard => (p.Name, Shard: shard))).GroupBy(p => p.Shard.Shard).OrderBy(g => g.Key, StringComparer.Ordinal).Select(shard => new ShardSize(
                shard.Key, shard.Where(p => p.Name == parts[^1].Name).Sum(p => p.Shard.Documents), shard.Sum(p => p.Shard.DataBytes), shard.Sum(p => p.Shard.StorageBytes),
                shard.Sum(p => p.Shard.IndexBytes), shard.Sum(p => p.Shard.Chunks))
            {
                Orphans = shard.All(p => p.Shard.Orphans is not null) ? shard.Sum(p => p.Shard.Orphans) : null,
                Indexes = shard.SelectMany(p => p.Shard.Indexes.Select(i => ($"{p.Name}.{i.Key}", i.Value))).ToDictionary(),
            }),
        ],
    };

    private static List<ShardSize> ReadShards(BsonDocument? shards)
    {
        var sizes = new List<ShardSize>();
        foreach ((string name, BsonValue value) in shards ?? BsonDocument.Empty)
        {
            BsonDocument stats = value.ToDocument();
            long? orphans = stats.FindInt64("numOrphanDocs");
            sizes.Add(new ShardSize(
                name, (stats.FindInt64("count") ?? 0) - (orphans ?? 0), stats.FindInt64("size") ?? 0, stats.FindInt64("storageSize") ?? 0,
                stats.FindInt64("totalIndexSize") ?? 0, stats.FindInt64("nchunks") ?? 0)
            {
                Orphans = orphans,
                Indexes = ReadIndexes(stats),
            });
        }

        return sizes;
    }

    private static Dictionary<string, long> ReadIndexes(BsonDocument stats)
    {
        var indexes = new Dictionary<string, long>();
        foreach ((string name, BsonValue size) in stats.FindDocument("indexSizes") ?? BsonDocument.Empty)
            indexes[name] = size.ToInt64();
        return indexes;
    }
}
