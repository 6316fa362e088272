using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>What is sampled of a deployment: one server, every member of a replica set on this machine, or every part of a cluster.</summary>
internal sealed class RunSamplers(IDeployment deployment, ConnectionSettings connections)
{
    /// <summary>Shards first; then the router and the config server, which hold none of the data.</summary>
    public IReadOnlyList<IServerSampler> Servers()
    {
        if (deployment is TyrantDeployment)
            return [new TyrantSampler(() => deployment.Address, connections)];
        if (deployment.Members.Count > 0)
            return [.. deployment.Members.Select(member => new ServerSampler(() => member, connections))];
        if (deployment.Cluster is not { } parts)
            return [new ServerSampler(() => deployment.Select(ReadPreference.Primary, 0), connections)];
        List<ServerSampler> servers = [.. parts.Shards.Select(shard => new ServerSampler(() => PrimaryOf(shard.Name), connections))];
        servers.Add(new ServerSampler(() => deployment.Address, connections, holdsData: false));
        // For config.* a mongos is queried itself.
        if (parts.ConfigAddress != parts.RouterAddress)
            servers.Add(new ServerSampler(() => Parts.ConfigAddress, connections, holdsData: false));
        return servers;
    }

    /// <param name="collection">Of the run.</param>
    /// <param name="since">When the run began.</param>
    /// <returns>Null unless the deployment is sharded.</returns>
    public ClusterSampler? Shards(ShardedNamespace collection, DateTimeOffset since) =>
        deployment.Cluster is null ? null : new ClusterSampler(() => deployment.Cluster, connections, collection, since);

    private ShardedCluster Parts =>
        deployment.RequireCluster();

    private ServerAddress PrimaryOf(string shard) => Parts.Shards.FirstOrDefault(one => one.Name == shard)?.Primary
        ?? throw new ConnectionFailedException(deployment.Address, $"the address of shard {shard} is unknown at the moment");
}
