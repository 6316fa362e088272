using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// A scenario that names shards, or sets the balancer, is sharded wherever there are shards: a deployment says itself what it is. Where
/// the user may not shard, it lies as it is found.
/// </summary>
internal static class AskedSharding
{
    /// <param name="on">Where the run is.</param>
    /// <param name="request">Of the run.</param>
    /// <param name="store">Keeps what the run is asked to do, so that it is resumed and cleaned as it was.</param>
    public static RunRequest On(RunDeployment on, RunRequest request, RunStore store)
    {
        DataSettings data = request.Settings.Data;
        Plan plan = request.Plan.Plan;
        bool isAsked = plan.Collections.Any(collection => collection.ShardKey is not null || collection.Shard is not null)
            || plan.Operations.Any(operation => operation is SetBalancer);
        if (data.Sharding is not null || !isAsked || on.Deployment.Cluster is not { Shards.Count: > 0 }
            || !on.Inspection.Rights.May("enableSharding", data.Database, plan.MainCollection ?? ""))
            return request;
        request = request with { Settings = request.Settings with { Data = data with { Sharding = new ShardingSettings() } } };
        store.SetSettings(request.Settings);
        return request;
    }
}
