using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>One collection of a cluster: where its parts are, and commands to whoever must be told about it.</summary>
/// <remarks>One thread. What is read is read anew each time: chunks move.</remarks>
internal sealed class ShardedCollection(ClusterConnections connections, string database, string collection, LongCommands longCommands)
{
    private static readonly MongosCommands Mongos = new();
    private static readonly RoutingMongodCommands RoutingMongod = new();

    public ClusterConnections Connections { get; } = connections;

    public string Database { get; } = database;

    public string Collection { get; } = collection;

    public string Namespace => $"{Database}.{Collection}";

    public IShardingCommands Commands => Connections.Cluster.Router == RouterKind.Mongos ? Mongos : RoutingMongod;

    /// <summary>The database's entry in config.databases; null when there is none.</summary>
    public BsonDocument? FindDatabase()
    {
        using MongoConnection config = Connections.OpenConfig();
        return ConfigCatalogue.FindDatabase(config, Database);
    }

    /// <summary>The collection's entry in config.collections; null when it is not sharded.</summary>
    public BsonDocument? FindSharded()
    {
        using MongoConnection config = Connections.OpenConfig();
        return ConfigCatalogue.FindCollection(config, Namespace);
    }

    public ShardedNamespace ReadNamespace() => new(Database, Collection, FindDatabase()?.FindDocument("version"));

    /// <summary>Empty for a collection that is not sharded.</summary>
    public IReadOnlyDictionary<string, long> CountChunks()
    {
        using MongoConnection config = Connections.OpenConfig();
        return ConfigCatalogue.FindCollection(config, Namespace) is { } sharded
            ? ConfigCatalogue.CountChunks(config, sharded)
            : new Dictionary<string, long>();
    }

    /// <inheritdoc cref="ConfigCatalogue.ReadChunks"/>
    public IReadOnlyList<BsonDocument> ReadChunks()
    {
        using MongoConnection config = Connections.OpenConfig();
        return ConfigCatalogue.FindCollection(config, Namespace) is { } sharded ? ConfigCatalogue.ReadChunks(config, sharded) : [];
    }

    /// <summary>The first document of a collection of the database; null when there is none.</summary>
    public BsonDocument? FindFirst(MongoConnection router, string name, BsonDocument filter) => router.RunCursor(Database, BsonDocument.Of(
        ("find", name), ("filter", filter), ("limit", 1), ("singleBatch", true))).FirstOrDefault();

    /// <summary>Asks who knows the database's collections and indexes.</summary>
    public T AskCatalogue<T>(MongoConnection router, Func<MongoConnection, T> ask)
    {
        T? answer = default;
        On(router, Commands.Catalogue, connection => answer = ask(connection));
        return answer!;
    }

    public void Run(MongoConnection router, ShardingCommand command) =>
        On(router, command.Target, connection => longCommands.Run(connection, command.Database, command.Command));

    /// <summary>A collection that is not there is none the worse.</summary>
    public void Drop(MongoConnection router, string name)
    {
        ShardedNamespace target = ReadNamespace() with { Collection = name };
        if (target.DatabaseVersion is null && Commands is RoutingMongodCommands)
            return;
        ShardingCommand drop = Commands.DropCollection(target);
        On(router, drop.Target, connection => CollectionCommands.Drop(connection, drop.Database, drop.Command));
    }

    /// <summary>
    /// Does the same as <see cref="Run"/>, but shards do it at the same time, as a mongos has them; shards that get a part meanwhile
    /// follow.
    /// </summary>
    /// <exception cref="AggregateException">What failed, of each shard.</exception>
    public void RunTogether(MongoConnection router, ShardingCommand command)
    {
        if (command.Target != ShardingTarget.OwningShards)
        {
            Run(router, command);
            return;
        }

        var done = new HashSet<string>();
        while (ShardsOf(command.Target).Except(done).ToArray() is { Length: > 0 } next)
        {
            Task.WaitAll([.. next.Select(shard => Task.Factory.StartNew(() => RunOn(shard, command), CancellationToken.None,
                TaskCreationOptions.LongRunning, TaskScheduler.Default))]);
            done.UnionWith(next);
        }
    }

    /// <summary>The balancer has nothing left to do for it.</summary>
    public bool IsBalanced(MongoConnection router)
    {
        string buckets = ConfigCatalogue.BucketsOf(Namespace);
        ShardedNamespace place = ReadNamespace();
        ShardingCommand ask = Commands.BalancerStatus(FindSharded()?.FindString("_id") != buckets ? place
            : place with { Collection = buckets[(Database.Length + 1)..] });
        bool isBalanced = false;
        On(router, ask.Target, connection => isBalanced = connection.RunCommand(ask.Database, ask.Command).IsTrue("balancerCompliant"));
        return isBalanced;
    }

    /// <summary>Does something at each of those that are meant, one after the other.</summary>
    public void On(MongoConnection router, ShardingTarget target, Action<MongoConnection> action)
    {
        switch (target)
        {
            case ShardingTarget.Router:
                action(router);
                break;
            case ShardingTarget.Config:
                using (MongoConnection config = Connections.OpenConfig())
                    action(config);
                break;
            default:
                foreach (string shard in ShardsOf(target))
                {
                    using MongoConnection open = Connections.OpenShard(shard);
                    action(open);
                }

                break;
        }
    }

    private void RunOn(string shard, ShardingCommand command)
    {
        using MongoConnection open = Connections.OpenShard(shard);
        longCommands.Run(open, command.Database, command.Command);
    }

    private IReadOnlyList<string> ShardsOf(ShardingTarget target) => target switch
    {
        ShardingTarget.PrimaryShard => [FindDatabase()?.FindString("primary") ?? ""],
        ShardingTarget.OwningShards => [.. CountChunks().Keys.Order(StringComparer.Ordinal)],
        _ => [.. Connections.Cluster.Shards.Select(s => s.Name)],
    };
}
