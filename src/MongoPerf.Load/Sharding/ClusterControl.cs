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
/// <param name="clock">Times the waiting.</param>
/// <param name="tell">Hears what the balancer was set to and what came of it, a line at a time.</param>
public sealed class ClusterControl(
    Func<ShardedCluster> cluster, ConnectionSettings settings, string database, IClock clock, Action<string> tell)
{
    private readonly ClusterConnections _connections = new(cluster, settings);
    private readonly Lock _lock = new();

    /// <summary>The cluster's settings before the first operation that changed them; null while none has.</summary>
    private BsonDocument? _before;

    /// <summary>
    /// Gives the cluster a chunk size and a balancer for collections that are there. What these were is noted with the collections, and
    /// put back when they go.
    /// </summary>
    public void Apply(ShardingSettings sharding) => Tuning().Apply(sharding);

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
    /// Puts the balancer back to what it was before the first operation that set it; nothing when none did. Says what
    /// could not be put back.
    /// </summary>
    public void Restore()
    {
        IReadOnlyList<string> differing;
        lock (_lock)
        {
            if (_before is null)
                return;
            // Also when the run was stopped, which ends all that its own connections wait for.
            using MongoConnection config = new ClusterConnections(cluster, settings with { Stop = CancellationToken.None }).OpenConfig();
            differing = ClusterTuning.Restore(config, _before);
            _before = null;
        }

        foreach (string line in differing.DefaultIfEmpty("balancer: restored"))
            tell(line);
    }

    private void Set(string mode)
    {
        lock (_lock)
        {
            using MongoConnection config = _connections.OpenConfig();
            _before ??= ClusterTuning.Read(config);
            Tuning().SetBalancer(config, mode);
        }

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

    private ClusterTuning Tuning() => new(_connections, Open("", CancellationToken.None).Commands);

    private ShardedCollection Open(string collection, CancellationToken stop) =>
        new(_connections, database, collection, new LongCommands { Stop = stop });
}
