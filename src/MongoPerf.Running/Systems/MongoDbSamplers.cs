using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Systems;

/// <summary>Which parts of a deployment of MongoDB are sampled.</summary>
internal static class MongoDbSamplers
{
    /// <summary>Shards first; then the router and the config server, which hold none of the data.</summary>
    public static IReadOnlyList<IServerSampler> OpenServers(IDeployment deployment, ConnectionSettings connections)
    {
        if (deployment.Members.Count > 0)
            return [.. deployment.Members.Select(member => new ServerSampler(() => member, connections))];
        if (deployment.Cluster is not { } parts)
            return [new ServerSampler(() => deployment.Select(ReadPreference.Primary, 0), connections)];
        List<ServerSampler> servers = parts.Direct != DirectAccess.Allowed ? []
            : [.. parts.Shards.Select(shard => new ServerSampler(() => PrimaryOf(deployment, shard.Name), connections.ForShard()))];
        // Several mongos share the threads, and each counts only what came through it.
        servers.AddRange(parts.Router == RouterKind.Mongos && deployment.Readable is { Count: > 1 } routers
            ? routers.Select(router => new ServerSampler(() => router, connections, holdsData: false))
            : [new ServerSampler(() => deployment.Address, connections, holdsData: false)]);
        // For config.* a mongos is queried itself.
        if (parts.ConfigAddress != parts.RouterAddress)
            servers.Add(new ServerSampler(() => deployment.RequireCluster().ConfigAddress, connections, holdsData: false));
        return servers;
    }

    public static ReplicaSampler? OpenReplicas(IDeployment deployment, DeploymentInfo info, ConnectionSettings connections) =>
        deployment.Cluster is { Direct: DirectAccess.Allowed } cluster
            ? new ReplicaSampler(
                cluster.Shards.Select(shard => (Func<ServerAddress>)(() => PrimaryOf(deployment, shard.Name))), connections.ForShard())
        : deployment.Cluster is null && info.Topology == Topology.ReplicaSet
            ? new ReplicaSampler([() => deployment.Select(ReadPreference.Primary, 0)], connections)
        : null;

    private static ServerAddress PrimaryOf(IDeployment deployment, string shard) =>
        deployment.RequireCluster().Shards.FirstOrDefault(one => one.Name == shard)?.Primary
        ?? throw new ConnectionFailedException(deployment.Address, $"the address of shard {shard} is unknown at the moment");
}
