using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// Reads and sets what a cluster knows of itself, in database config. Layouts: MongoDB's manual, "config database"; chunks by uuid since
/// 5.0, by name before.
/// </summary>
public static class ConfigCatalogue
{
    /// <summary>What the name of a time series' buckets begins with.</summary>
    public const string Buckets = "system.buckets.";

    private const string Config = "config";
    private const string TimeSeries = "timeseriesFields";
    private const string Tags = "tags";

    /// <returns>{_id, primary, version}; null when there is no such database.</returns>
    public static BsonDocument? FindDatabase(MongoConnection config, string database) =>
        FindOne(config, "databases", BsonDocument.Of(("_id", database)));

    /// <remarks>
    /// Of a time series the buckets are sharded, and have the entry: its key is returned by the fields that documents have
    /// (MongoDB's manual, "Shard a Time Series Collection").
    /// </remarks>
    /// <returns>{_id, key, uuid, timestamp}; null when the collection is not sharded.</returns>
    public static BsonDocument? FindCollection(MongoConnection config, string ns) => FindOne(config, "collections", BsonDocument.Of(
        ("_id", BsonDocument.Of(("$in", new[] { ns, BucketsOf(ns) }))), ("dropped", BsonDocument.Of(("$ne", true))),
        ("unsplittable", BsonDocument.Of(("$ne", true))))) is { } found ? WithKeyOfDocuments(found) : null;

    /// <summary>A collection as <see cref="FindCollection"/> gave it holds the buckets of a time series.</summary>
    public static bool IsTimeSeries(BsonDocument collection) => collection.Find(TimeSeries) is not null;

    /// <summary>Where the buckets are, if this is a time series.</summary>
    /// <param name="ns">"database.collection".</param>
    public static string BucketsOf(string ns)
    {
        int dot = ns.IndexOf('.', StringComparison.Ordinal) + 1;
        return $"{ns[..dot]}{Buckets}{ns[dot..]}";
    }

    /// <summary>Names of the shards, in their order.</summary>
    public static IReadOnlyList<string> ShardNames(MongoConnection config) =>
        [.. Find(config, "shards", BsonDocument.Empty).Select(shard => shard.FindString("_id") ?? "").Order(StringComparer.Ordinal)];

    /// <summary>Shards that are in no zone, or only in zones whose names begin so.</summary>
    public static IReadOnlyList<string> ShardsOnlyIn(MongoConnection config, string prefix) =>
        [.. Find(config, "shards", BsonDocument.Empty)
            .Where(shard => shard.FindDocument(Tags) is not { } tags
                || (tags.Any() && tags.All(tag => tag.Value.ToString().StartsWith(prefix, StringComparison.Ordinal))))
            .Select(shard => shard.FindString("_id") ?? "")];

    /// <summary>Takes an empty list of zones away from a shard. Who may not do that leaves it: it says the same as none.</summary>
    public static void RemoveEmptyTags(MongoConnection config, string shard) => config.RunUnchecked(Config, BsonDocument.Of(
        ("update", "shards"),
        ("updates", new[]
        {
            BsonDocument.Of(
                ("q", BsonDocument.Of(("_id", shard), (Tags, BsonDocument.Of(("$size", 0))))),
                ("u", BsonDocument.Of(("$unset", BsonDocument.Of((Tags, "")))))),
        }),
        ("writeConcern", BsonDocument.Of(("w", "majority")))));

    /// <summary>How many chunks of a collection each shard owns.</summary>
    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="collection">The collection as <see cref="FindCollection"/> gave it.</param>
    public static IReadOnlyDictionary<string, long> CountChunks(MongoConnection config, BsonDocument collection)
    {
        BsonDocument match = ChunksOf(collection);
        return config.RunCursor(Config, BsonDocument.Of(
            ("aggregate", "chunks"),
            ("pipeline", new[]
            {
                BsonDocument.Of(("$match", match)),
                BsonDocument.Of(("$group", BsonDocument.Of(("_id", "$shard"), ("chunks", BsonDocument.Of(("$sum", 1)))))),
            }),
            ("cursor", BsonDocument.Empty))).ToDictionary(group => group.FindString("_id") ?? "", group => group.FindInt64("chunks") ?? 0);
    }

    /// <summary>A collection's chunks in the order of their bounds: {min, max, shard}.</summary>
    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="collection">The collection as <see cref="FindCollection"/> gave it.</param>
    public static IReadOnlyList<BsonDocument> ReadChunks(MongoConnection config, BsonDocument collection) =>
        [.. config.RunCursor(Config, BsonDocument.Of(
            ("find", "chunks"), ("filter", ChunksOf(collection)), ("sort", BsonDocument.Of(("min", 1)))))];

    private static BsonDocument WithKeyOfDocuments(BsonDocument collection)
    {
        const string Time = "control.min.", Meta = "meta";
        return !IsTimeSeries(collection) || collection.FindDocument("key") is not { } key ? collection : BsonDocument.Of(
        [
            ("key", BsonDocument.Of([.. key.Select(field => (NameInDocuments(field.Key), (object?)field.Value))])),
            .. collection.Where(e => e.Key != "key").Select(e => (e.Key, (object?)e.Value)),
        ]);

        string NameInDocuments(string field) =>
            field.StartsWith(Time, StringComparison.Ordinal) ? field[Time.Length..]
            : field == Meta || field.StartsWith(Meta + ".", StringComparison.Ordinal)
                ? collection.FindString($"{TimeSeries}.metaField") + field[Meta.Length..]
            : field;
    }

    private static BsonDocument ChunksOf(BsonDocument collection) => collection.Find("timestamp") is not null
        ? BsonDocument.Of(("uuid", collection.Find("uuid")))
        : BsonDocument.Of(("ns", collection.FindString("_id")));

    /// <summary>The ranges of a collection that are tied to zones: {min, max, tag}.</summary>
    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="ns">"database.collection".</param>
    public static IReadOnlyList<BsonDocument> ZoneRanges(MongoConnection config, string ns) =>
        [.. Find(config, "tags", BsonDocument.Of(("ns", ns)))];

    /// <summary>The balancer leaves the collection as it is: what the shell's sh.disableBalancing does.</summary>
    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="ns">"database.collection".</param>
    public static void LeaveUnbalanced(MongoConnection config, string ns) => config.RunCommand(Config, BsonDocument.Of(
        ("update", "collections"),
        ("updates", new[]
        {
            BsonDocument.Of(("q", BsonDocument.Of(("_id", ns))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("noBalance", true)))))),
        }),
        ("writeConcern", BsonDocument.Of(("w", "majority")))));

    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="id">"chunksize" or "balancer".</param>
    public static BsonDocument? FindSetting(MongoConnection config, string id) => FindOne(config, "settings", BsonDocument.Of(("_id", id)));

    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="id">"chunksize" or "balancer".</param>
    /// <param name="change">An update such as {$set: …}, or a whole document; null deletes the setting.</param>
    public static void ChangeSetting(MongoConnection config, string id, BsonDocument? change)
    {
        (string, object?) majority = ("writeConcern", BsonDocument.Of(("w", "majority")));
        BsonDocument which = BsonDocument.Of(("_id", id));
        config.RunCommand(Config, change is null
            ? BsonDocument.Of(("delete", "settings"), ("deletes", new[] { BsonDocument.Of(("q", which), ("limit", 1)) }), majority)
            : BsonDocument.Of(
                ("update", "settings"), ("updates", new[] { BsonDocument.Of(("q", which), ("u", change), ("upsert", true)) }), majority));
    }

    private static BsonDocument? FindOne(MongoConnection config, string collection, BsonDocument filter) =>
        Find(config, collection, filter).FirstOrDefault();

    private static IEnumerable<BsonDocument> Find(MongoConnection config, string collection, BsonDocument filter) =>
        config.RunCursor(Config, BsonDocument.Of(("find", collection), ("filter", filter)));
}
