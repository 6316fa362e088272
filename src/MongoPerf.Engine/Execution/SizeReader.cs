using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Execution;

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
