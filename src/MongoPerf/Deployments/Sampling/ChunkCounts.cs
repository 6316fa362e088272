using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Counts a collection's chunks by shard in the cluster's own map.</summary>
internal static class ChunkCounts
{
    /// <param name="config">To a config server or a mongos.</param>
    /// <param name="ns">database.collection.</param>
    /// <returns>Shards that own a chunk; none when the collection is not sharded.</returns>
    /// <remarks>Since 5.0 config.chunks knows a collection by its uuid, before by its name. An index serves either.</remarks>
    public static IReadOnlyDictionary<string, long> Read(MongoConnection config, string ns)
    {
        BsonDocument? collection = config.RunCursor("config", BsonDocument.Of(
            ("find", "collections"), ("filter", BsonDocument.Of(("_id", ns))), ("limit", 1), ("singleBatch", true))).FirstOrDefault();
        var counts = new Dictionary<string, long>(StringComparer.Ordinal);
        if (collection is null || collection.IsTrue("dropped"))
            return counts;
        BsonDocument match = collection.Find("timestamp") is not null && collection.Find("uuid") is { } uuid
            ? BsonDocument.Of(("uuid", uuid))
            : BsonDocument.Of(("ns", ns));
        foreach (BsonDocument shard in config.RunCursor("config", BsonDocument.Of(
            ("aggregate", "chunks"),
            ("pipeline", new[]
            {
                BsonDocument.Of(("$match", match)),
                BsonDocument.Of(("$group", BsonDocument.Of(("_id", "$shard"), ("chunks", BsonDocument.Of(("$sum", 1)))))),
            }),
            ("cursor", BsonDocument.Empty))))
        {
            counts[shard.FindString("_id") ?? ""] = shard.FindInt64("chunks") ?? 0;
        }

        return counts;
    }
}
