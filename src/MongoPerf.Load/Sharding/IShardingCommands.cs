using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Sharding;

/// <summary>Who in a cluster is told.</summary>
internal enum ShardingTarget
{
    Router,

    /// <summary>The config server's primary, or the mongos that reaches it.</summary>
    Config,

    /// <summary>The primary of the database's primary shard.</summary>
    PrimaryShard,

    /// <summary>The primaries of all shards that own chunks of the collection.</summary>
    OwningShards,

    EveryShard,
}

/// <summary>One command of the sharding administration.</summary>
/// <param name="Target">Who runs it.</param>
/// <param name="Database">Where it runs.</param>
/// <param name="Command">The command without <c>$db</c>.</param>
internal sealed record ShardingCommand(ShardingTarget Target, string Database, BsonDocument Command);

/// <summary>How a cluster is told to shard: the one place where a mongos and a mongod that routes differ in administration.</summary>
/// <remarks>
/// Only words: nothing is sent here. Sources: MongoDB's manual for mongos; for a mongod that routes, what mongos itself sends
/// (docs/clusters.md).
/// </remarks>
internal interface IShardingCommands
{
    /// <param name="database">Its name.</param>
    /// <param name="primaryShard">The shard that is to hold its unsharded collections.</param>
    ShardingCommand EnableSharding(string database, string primaryShard);

    /// <param name="collection">Where.</param>
    /// <param name="key">The key by which it is sharded.</param>
    /// <param name="chunks">How many chunks there are to begin with, for a hashed key; null for the server's own number.</param>
    ShardingCommand ShardCollection(ShardedNamespace collection, ShardKey key, int? chunks);

    ShardingCommand DropCollection(ShardedNamespace collection);

    ShardingCommand DropDatabase(ShardedNamespace collection);

    /// <summary>
    /// A command about a collection's files and indexes, as one server takes it: createIndexes, dropIndexes, compact, validate.
    /// </summary>
    ShardingCommand OnCollection(ShardedNamespace collection, BsonDocument command);

    /// <summary>Cuts a range off and gives it to a shard.</summary>
    /// <param name="collection">Where.</param>
    /// <param name="from">The lower bound of a chunk.</param>
    /// <param name="to">The upper bound: within the same chunk, or its end.</param>
    /// <param name="shard">The shard that gets it.</param>
    /// <param name="isThere">It has the chunk already.</param>
    /// <param name="isCut">The chunk ends there already.</param>
    IReadOnlyList<ShardingCommand> PlaceRange(
        ShardedNamespace collection, BsonDocument from, BsonDocument to, string shard, bool isThere, bool isCut);

    /// <param name="shard">Its name.</param>
    /// <param name="zone">The zone's; it need not be there.</param>
    ShardingCommand AddToZone(string shard, string zone);

    /// <inheritdoc cref="AddToZone"/>
    ShardingCommand RemoveFromZone(string shard, string zone);

    /// <summary>Ties a range of a collection's key to a zone, which the balancer then keeps on the zone's shards.</summary>
    /// <param name="collection">"database.collection".</param>
    /// <param name="from">The lower bound, of all fields of the key.</param>
    /// <param name="to">The upper bound.</param>
    /// <param name="zone">Its name; null unties the range.</param>
    ShardingCommand TieRange(string collection, BsonDocument from, BsonDocument to, string? zone);

    /// <summary>Who knows the database's collections and their indexes.</summary>
    ShardingTarget Catalogue { get; }

    /// <summary>Who writes everything to disk when told to.</summary>
    ShardingTarget Storage { get; }

    ShardingCommand SwitchBalancer(bool on);

    /// <summary>Asks whether a collection is balanced (<c>balancerCompliant</c>).</summary>
    ShardingCommand BalancerStatus(ShardedNamespace collection);
}

/// <summary>A collection and where its database is at home.</summary>
/// <param name="Database">Its name.</param>
/// <param name="Collection">Its name.</param>
/// <param name="DatabaseVersion">Field version of config.databases; null before 5.0, or when the database is not there yet.</param>
internal sealed record ShardedNamespace(string Database, string Collection, BsonDocument? DatabaseVersion)
{
    public override string ToString() => $"{Database}.{Collection}";
}
