using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// What operations of a scenario do to a cluster behind its router: the balancer, and commands to all shards of a collection.
/// </summary>
/// <remarks>All threads may use it.</remarks>
/// <param name="cluster">Where its parts are now.</param>
/// <param name="settings">The settings as clients connect.</param>
/// <param name="database">The database of the collections.</param>
/// <param name="run">The run's id and token, by which the cluster knows who changed its settings.</param>
/// <param name="clock">Times the waiting.</param>
/// <param name="tell">Hears what the balancer was set to and what came of it, a line at a time.</param>
public sealed class ClusterControl(
    Func<ShardedCluster> cluster, ConnectionSettings settings, string database, (string Id, string? Token) run, IClock clock,
    Action<string> tell)
{
    private readonly ClusterConnections _connections = new(cluster, settings);
    private readonly Lock _lock = new();

    private SettingsHolder Run => SettingsHolder.ForRun(database, run.Id, run.Token);

    /// <summary>Gives the cluster a chunk size and a balancer for a run on collections that are there, until it ends.</summary>
    public void Apply(ShardingSettings sharding)
    {
        lock (_lock)
            Tuning(_connections).Apply(Run with { Balancer = sharding.Balancer, ChunkMegabytes = sharding.ChunkMegabytes });
    }

    /// <summary>Does what the operation says, its waiting included. That the time ends before all is balanced is no failure.</summary>
    internal void Do(SetBalancer operation, CancellationToken stop)
    {
        bool isWindow = operation.Mode == SetBalancer.Now;
        Set(isWindow ? "on" : operation.Mode);
        if (operation.Seconds > 0)
            Await(operation, stop);
        if (isWindow)
            Set("off");
    }

    /// <summary>Runs a command about a collection's files and indexes wherever they lie.</summary>
    /// <param name="collection">Its name.</param>
    /// <param name="command">The command as one server takes it.</param>
    /// <param name="stop">Ends the wait.</param>
    /// <exception cref="AggregateException">What failed, of each shard.</exception>
    internal void RunOnOwners(string collection, BsonDocument command, CancellationToken stop)
    {
        ShardedCollection owned = Open(collection, stop);
        using MongoConnection router = MongoConnection.Open(_connections.Cluster.RouterAddress, settings);
        owned.RunTogether(router, owned.Commands.OnCollection(owned.ReadNamespace(), command));
    }

    /// <summary>
    /// Gives up what the run, or one before it that was killed and that it resumes, has set for itself; nothing when none did. Says what
    /// is not as it was before.
    /// </summary>
    public void Restore()
    {
        lock (_lock)
        {
            // Also when the run was stopped, which ends all that its own connections wait for.
            ClusterTuning tuning = Tuning(new ClusterConnections(cluster, settings with { Stop = CancellationToken.None }));
            foreach (string line in tuning.GiveUp(Run, tuning.Find(Run.Key))?.DefaultIfEmpty("balancer: restored") ?? [])
                tell(line);
        }
    }

    /// <summary>Runs for which the cluster's settings are changed, each with its database.</summary>
    public IReadOnlyList<string> Holders()
    {
        using MongoConnection config = _connections.OpenConfig();
        return [.. SettingsRecord.Read(config).Holders.Select(one => $"run {one.Run} in database {one.Database}")];
    }

    private void Set(string mode)
    {
        lock (_lock)
            Tuning(_connections).Apply(Run with { Balancer = mode });
        tell($"balancer: {mode}");
    }

    private void Await(SetBalancer operation, CancellationToken stop)
    {
        long start = clock.Now;
        ShardedCollection[] collections = [.. operation.Balanced.Select(name => Open(name, stop))];
        using MongoConnection config = _connections.OpenConfig();
        bool isBalanced = BalanceWait.Until(clock, operation.Seconds, () => collections.All(c => c.IsBalanced(config)), stop);
        double seconds = clock.SecondsBetween(start, clock.Now);
        tell(isBalanced ? $"balancer: balanced after {seconds:0.0} s" : $"balancer: still not balanced after {seconds:0.0} s");
    }

    private ClusterTuning Tuning(ClusterConnections connections) => new(connections, Open("", CancellationToken.None).Commands);

    private ShardedCollection Open(string collection, CancellationToken stop) =>
        new(_connections, database, collection, new LongCommands { Stop = stop });
}
