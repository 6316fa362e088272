using MongoPerf.Deployments;
using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Executors.Tyrant;
using MongoPerf.Engine.Executors.Wire;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Opens a plan's collections on the system that the deployment is.</summary>
/// <param name="on">The run's deployment.</param>
/// <param name="data">What the run does with data.</param>
/// <param name="run">The run's id.</param>
/// <param name="token">The run's token.</param>
/// <param name="keeper">Looks after the server when connections break.</param>
/// <param name="leases">What the run may write; null where nobody else could.</param>
/// <param name="log">Gets what happens to collections.</param>
internal sealed class RunCollections(RunDeployment on, DataSettings data, string run, string? token, ServerKeeper keeper, WriterLeases? leases, RunLog log)
{
    /// <param name="plan">To be run.</param>
    /// <param name="seed">Of its documents.</param>
    public IDataStore Open(Plan plan, ulong seed)
    {
        if (on.Deployment is not TyrantDeployment)
            return new WireDataStore(stored => Open(stored, plan.TargetOf(stored.Name)), seed, run, token);
        TyrantDataStore.Check(plan);
        return new TyrantDataStore(() => on.Deployment.Address, on.Connections, seed, run, SystemClock.Instance, ReconnectTime.Read(), keeper.BeforeReconnect);
    }

    /// <summary>One of the plan's collections; on a sharded deployment it is sharded by its own key, or by the command line's, or lies on the shard that it names.</summary>
    /// <param name="collection">Of the plan.</param>
    /// <param name="target">Its documents at the end.</param>
    private WireCollection Open(StoredCollection collection, long target)
    {
        var access = new CollectionAccess(() => on.Deployment.Select(ReadPreference.Primary, 0), on.Connections, data.Database, SystemClock.Instance, ReconnectTime.Read(), keeper.BeforeReconnect)
        {
            Leases = leases,
            Members = () => on.Deployment.Readable,
            Tell = line => log.Report("counters", line),
        };
        var shape = new CollectionShape(collection.Indexes, collection.Options);
        if (data.Sharding is not { } asked)
            return new WireCollection(access, collection.Name, collection.Documents, shape);
        var sharding = new ShardingPlan(on.Deployment.RequireCluster, on.Connections, asked, Math.Max(collection.Count, target))
        {
            Documents = collection.Documents,
            Key = collection.Shard is not null ? ShardKey.Parse("_id") : collection.ShardKey is { } key ? ShardKey.Of(key) : null,
            OnlyShard = collection.Shard - 1,
            Tell = log.Tell,
        };
        return new WireCollection(
            access, collection.Name, collection.Documents, shape, commands => new ShardedAdministration(sharding, data.Database, collection.Name, SystemClock.Instance, commands));
    }
}
