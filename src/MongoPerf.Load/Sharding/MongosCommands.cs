using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Sharding;

/// <summary>What a mongos is told: it passes on what others must know.</summary>
internal sealed class MongosCommands : IShardingCommands
{
    public ShardingTarget Catalogue => ShardingTarget.Router;

    public ShardingTarget Storage => ShardingTarget.Router;

    public ShardingCommand EnableSharding(string database, string primaryShard) => Admin(("enableSharding", database));

    public ShardingCommand ShardCollection(ShardedNamespace collection, ShardKey key, int? chunks) => Admin(
    [
        ("shardCollection", collection.ToString()), ("key", key.Document), ("unique", false), ShardKey.Collation,
        .. chunks is null ? [] : new (string, object?)[] { ("numInitialChunks", chunks) },
    ]);

    public ShardingCommand DropCollection(ShardedNamespace collection) =>
        new(ShardingTarget.Router, collection.Database, BsonDocument.Of(("drop", collection.Collection)));

    public ShardingCommand DropDatabase(ShardedNamespace collection) =>
        new(ShardingTarget.Router, collection.Database, BsonDocument.Of(("dropDatabase", 1)));

    /// <remarks>All but compact, which it has not.</remarks>
    public ShardingCommand OnCollection(ShardedNamespace collection, BsonDocument command) =>
        new(command.First().Key == "compact" ? ShardingTarget.OwningShards : ShardingTarget.Router, collection.Database, command);

    /// <remarks>split and moveChunk, which every version has; moveRange came with 6.0.</remarks>
    public IReadOnlyList<ShardingCommand> PlaceRange(
        ShardedNamespace collection, BsonDocument from, BsonDocument to, string shard, bool isThere, bool isCut)
    {
        var commands = new List<ShardingCommand>();
        // At a bound that is there a split fails, without a code.
        if (!isCut)
            commands.Add(Admin(("split", collection.ToString()), ("middle", to)));
        if (!isThere)
            commands.Add(Admin(("moveChunk", collection.ToString()), ("bounds", new[] { from, to }), ("to", shard)));
        return commands;
    }

    public ShardingCommand AddToZone(string shard, string zone) => Admin(("addShardToZone", shard), ("zone", zone));

    public ShardingCommand RemoveFromZone(string shard, string zone) => Admin(("removeShardFromZone", shard), ("zone", zone));

    public ShardingCommand TieRange(string collection, BsonDocument from, BsonDocument to, string? zone) =>
        Admin(("updateZoneKeyRange", collection), ("min", from), ("max", to), ("zone", zone));

    public ShardingCommand SwitchBalancer(bool on) => Admin((on ? "balancerStart" : "balancerStop", 1));

    public ShardingCommand BalancerStatus(ShardedNamespace collection) => Admin(("balancerCollectionStatus", collection.ToString()));

    private static ShardingCommand Admin(params ReadOnlySpan<(string, object?)> elements) =>
        new(ShardingTarget.Router, "admin", BsonDocument.Of(elements));
}
