using MongoPerf.Load.Collections;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Sharding;

/// <summary>Sizes of a sharded collection, from what the $collStats stage returns for each shard.</summary>
internal static class ShardedStatistics
{
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

    public static bool IsTimeSeries(BsonDocument part) => part.Find("storageStats.timeseries") is not null;

    /// <summary>The count of a shard as it counts itself.</summary>
    public static long CountOf(BsonDocument part) => part.FindInt64("storageStats.count") ?? 0;

    /// <param name="parts">What <see cref="Request"/> returned.</param>
    /// <param name="counts">Documents on each shard, orphans included.</param>
    /// <param name="chunks">Chunks that each shard owns.</param>
    /// <param name="documents">Known to be stored.</param>
    public static SizeResult Sum(
        IReadOnlyList<BsonDocument> parts, IReadOnlyDictionary<string, long> counts, IReadOnlyDictionary<string, long> chunks,
        long documents)
    {
        ShardSize[] shards =
        [
            .. parts.OrderBy(ShardOf, StringComparer.Ordinal)
                .Select(part => SizeReader.ReadShard(ShardOf(part), StatisticsOf(part), counts[ShardOf(part)],
                    chunks.GetValueOrDefault(ShardOf(part)))),
        ];
        return new SizeResult
        {
            Documents = documents,
            DataBytes = shards.Sum(shard => shard.DataBytes),
            StorageBytes = shards.Sum(shard => shard.StorageBytes),
            FreeStorageBytes = parts.Sum(part => StatisticsOf(part).FindInt64("freeStorageSize") ?? 0),
            IndexBytes = shards.Sum(shard => shard.IndexBytes),
            Indexes = shards.SelectMany(shard => shard.Indexes)
                .GroupBy(index => index.Key).OrderBy(index => index.Key, StringComparer.Ordinal)
                .ToDictionary(index => index.Key, index => index.Sum(one => one.Value)),
            Shards = shards,
        };
    }

    private static BsonDocument StatisticsOf(BsonDocument part) => part.FindDocument("storageStats") ?? BsonDocument.Empty;
}
