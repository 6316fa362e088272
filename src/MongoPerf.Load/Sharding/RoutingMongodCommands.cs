using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Sharding;

/// <summary>What a mongos would tell config server and shards, for a cluster whose router is a mongod 6.0 or later.</summary>
internal sealed class RoutingMongodCommands : IShardingCommands
{
    private static readonly (string, object?) Majority = ("writeConcern", BsonDocument.Of(("w", "majority")));

    public ShardingTarget Catalogue => ShardingTarget.PrimaryShard;

    public ShardingTarget Storage => ShardingTarget.EveryShard;

    public ShardingCommand EnableSharding(string database, string primaryShard) =>
        Config(("_configsvrCreateDatabase", database), ("primaryShardId", primaryShard), Majority);

    public ShardingCommand ShardCollection(ShardedNamespace collection, ShardKey key, int? chunks) => new(
        ShardingTarget.PrimaryShard, collection.Database, BsonDocument.Of(
        [
            ("_shardsvrCreateCollection", collection.Collection), ("shardKey", key.Document), ("unique", false), ShardKey.Collation,
            .. chunks is null ? [] : new (string, object?)[] { ("numInitialChunks", (long)chunks) },
            ("databaseVersion", collection.DatabaseVersion), Majority,
        ]));

    public ShardingCommand DropCollection(ShardedNamespace collection) => new(
        ShardingTarget.PrimaryShard, collection.Database,
        BsonDocument.Of(("_shardsvrDropCollection", collection.Collection), ("databaseVersion", collection.DatabaseVersion), Majority));

    public ShardingCommand DropDatabase(ShardedNamespace collection) => new(
        ShardingTarget.PrimaryShard, collection.Database,
        BsonDocument.Of(("_shardsvrDropDatabase", 1), ("databaseVersion", collection.DatabaseVersion), Majority));

    /// <remarks>
    /// The command runs on shards that own chunks and no others: elsewhere createIndexes would make a collection of another uuid, and
    /// migrations to there would fail. A migration brings the indexes along.
    /// </remarks>
    public ShardingCommand OnCollection(ShardedNamespace collection, BsonDocument command) =>
        new(ShardingTarget.OwningShards, collection.Database, command);

    /// <remarks>A range that moves is cut off by that; one that stays ends where the next begins.</remarks>
    public IReadOnlyList<ShardingCommand> PlaceRange(
        ShardedNamespace collection, BsonDocument from, BsonDocument to, string shard, bool isThere, bool isCut) => isThere
            ? []
            : [Config(("_configsvrMoveRange", collection.ToString()), ("toShard", shard), ("min", from), ("max", to), Majority)];

    public ShardingCommand AddToZone(string shard, string zone) => Config(("_configsvrAddShardToZone", shard), ("zone", zone), Majority);

    public ShardingCommand RemoveFromZone(string shard, string zone) =>
        Config(("_configsvrRemoveShardFromZone", shard), ("zone", zone), Majority);

    public ShardingCommand TieRange(string collection, BsonDocument from, BsonDocument to, string? zone) =>
        Config(("_configsvrUpdateZoneKeyRange", collection), ("min", from), ("max", to), ("zone", zone), Majority);

    public ShardingCommand SwitchBalancer(bool on) => Config((on ? "_configsvrBalancerStart" : "_configsvrBalancerStop", 1));

    public ShardingCommand BalancerStatus(ShardedNamespace collection) =>
        Config(("_configsvrBalancerCollectionStatus", collection.ToString()));

    private static ShardingCommand Config(params ReadOnlySpan<(string, object?)> elements) =>
        new(ShardingTarget.Config, "admin", BsonDocument.Of(elements));
}
