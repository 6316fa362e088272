using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Sharding;

/// <summary>Adds up what the $collStats stage tells of each shard, in the form that mongos gives collStats.</summary>
internal static class ShardedStatistics
{
    private static readonly string[] Summed = ["size", "storageSize", "freeStorageSize", "totalIndexSize", "totalSize", "numOrphanDocs"];

    /// <summary>One document for each shard that holds a part; the large parts that nobody reads are left out at the source.</summary>
    public static BsonDocument Request(string collection) => BsonDocument.Of(
        ("aggregate", collection),
        ("pipeline", new[]
        {
            BsonDocument.Of(("$collStats", BsonDocument.Of(("storageStats", BsonDocument.Empty)))),
            BsonDocument.Of(("$project", BsonDocument.Of(("storageStats.wiredTiger", 0), ("storageStats.indexDetails", 0)))),
        }),
        ("cursor", BsonDocument.Empty));

    public static string ShardOf(BsonDocument part) => part.FindString("shard") ?? "";

    /// <summary>As the shard itself counts.</summary>
    public static long CountOf(BsonDocument part) => part.FindInt64("storageStats.count") ?? 0;

    /// <param name="ns">"database.collection".</param>
    /// <param name="parts">What <see cref="Request"/> brought.</param>
    /// <param name="counts">Documents on each shard, orphans included.</param>
    /// <param name="chunks">Chunks that each shard owns.</param>
    public static BsonDocument Sum(
        string ns, IReadOnlyList<BsonDocument> parts, IReadOnlyDictionary<string, long> counts, IReadOnlyDictionary<string, long> chunks)
    {
        var shards = new List<(string Name, object? Stats)>();
        var indexes = new SortedDictionary<string, long>(StringComparer.Ordinal);
        foreach (BsonDocument part in parts.OrderBy(ShardOf, StringComparer.Ordinal))
        {
            string shard = ShardOf(part);
            BsonDocument stats = part.FindDocument("storageStats") ?? BsonDocument.Empty;
            foreach ((string name, BsonValue size) in stats.FindDocument("indexSizes") ?? BsonDocument.Empty)
                indexes[name] = indexes.GetValueOrDefault(name) + size.ToInt64();
            shards.Add((shard, BsonDocument.Of(
            [
                ("ns", ns), ("count", counts[shard]), .. stats.Where(e => e.Key != "count").Select(e => (e.Key, (object?)e.Value)),
                ("nchunks", chunks.GetValueOrDefault(shard)),
            ])));
        }

        long count = counts.Values.Sum();
        long SumOf(string field) => parts.Sum(part => part.FindInt64($"storageStats.{field}") ?? 0);
        return BsonDocument.Of(
        [
            ("sharded", true), ("ns", ns), ("count", count),
            .. Summed.Select(field => (field, (object?)SumOf(field))),
            ("indexSizes", BsonDocument.Of([.. indexes.Select(i => (i.Key, (object?)i.Value))])),
            ("avgObjSize", count == 0 ? 0.0 : (double)SumOf("size") / count),
            ("nindexes", indexes.Count),
            ("nchunks", chunks.Values.Sum()),
            ("shards", BsonDocument.Of([.. shards])),
            ("ok", 1.0),
        ]);
    }
}
