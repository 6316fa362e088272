using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Limits;
using MongoPerf.Storage;

namespace MongoPerf.Deployments;

/// <summary>How many shards the embedded server plays: as many as a cluster would have, each of one member.</summary>
internal static class EmbeddedShards
{
    /// <returns>0 where it is not to be sharded.</returns>
    /// <exception cref="DeploymentException">Something is asked for that only a real cluster has.</exception>
    public static int Of(DeploymentSettings settings)
    {
        if (settings.Topology != Topology.Sharded)
            return 0;
        if ((settings.Members is > 1 ? "--members" : settings.ConfigServers is > 1 ? "--config-servers" : null) is { } option)
        {
            throw DeploymentException.WrongUsage(
                $"{option} needs a mongod, and none was found: each shard of the embedded server is a part of one process",
                "'mongoperf server install 8.0' installs mongod and mongos; or omit the option");
        }

        int shards = settings.Shards ?? ClusterRequest.DefaultShards;
        return shards is >= 1 and <= ClusterLimits.MostShards ? shards
            : throw DeploymentException.WrongUsage(
                $"--shards is {shards}; allowed: 1 to {ClusterLimits.MostShards}", "choose another number");
    }
}
