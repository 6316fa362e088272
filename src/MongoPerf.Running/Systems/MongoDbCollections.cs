using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Systems;

/// <summary>Opens a plan's collections on a MongoDB.</summary>
internal static class MongoDbCollections
{
    /// <inheritdoc cref="DatabaseSystem.CheckBatches"/>
    public static void CheckBatches(ServerAddress server, ConnectionSettings connections, Plan plan)
    {
        InsertDocuments[] inserts = [.. plan.Operations.OfType<InsertDocuments>()];
        Operation[] others = [.. plan.Operations.Where(one => SessionLimit.Find(one) is not null)];
        if (inserts.Length + others.Length == 0)
            return;
        using MongoConnection connection = MongoConnection.Open(server, connections);
        foreach (InsertDocuments insert in inserts)
            BatchLimit.Check(connection.Server, insert);
        foreach (Operation one in others)
            SessionLimit.Check(connection.Server, one);
    }

    /// <summary>
    /// One of the plan's collections; on a sharded deployment it is sharded by its own key, or by the command line's, or lies on the
    /// shard that it names.
    /// </summary>
    /// <param name="run">The run on the deployment.</param>
    /// <param name="collection">A collection of the plan.</param>
    /// <param name="target">Its documents at the end.</param>
    public static WireCollection Open(SystemRun run, StoredCollection collection, long target)
    {
        IDeployment deployment = run.Deployment;
        var access = new CollectionAccess(
            () => deployment.Select(ReadPreference.Primary, 0), run.Connections, run.Data.Database, SystemClock.Instance,
            run.ReconnectFor, run.BeforeReconnect)
        {
            Leases = run.Leases,
            ReadsOnly = collection.IsExisting,
            Members = () => deployment.Readable,
            Notify = line => run.Report("counters", line),
        };
        var shape = new CollectionShape(collection.Indexes, collection.Options);
        // Of a scenario on a cluster that nobody has called sharded only what the file itself shards is.
        if (collection.IsExisting || run.Data.Sharding is not { } asked
            || (asked.ShardKey is null && !run.Data.IsExisting && collection.ShardKey is null && collection.Shard is null))
            return new WireCollection(access, collection.Name, collection.Documents, shape);
        var sharding = new ShardingPlan(deployment.RequireCluster, run.Connections, asked, Math.Max(collection.Count, target))
        {
            Documents = collection.Documents,
            Key = collection.Shard is not null ? ShardKey.Parse("_id") : collection.ShardKey is { } key ? ShardKey.Of(key) : null,
            OnlyShard = collection.Shard - 1,
            Presplit = collection.Presplit,
            Zones = collection.Zones,
            Run = run.Id,
            Notify = run.Notify,
        };
        return new WireCollection(
            access, collection.Name, collection.Documents, shape,
            commands => new ShardedAdministration(sharding, run.Data.Database, collection.Name, SystemClock.Instance, commands));
    }
}
