using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Sampling;

namespace MongoPerf.Deployments.Clusters;

/// <summary>How a machine's memory is shared among the processes of a cluster.</summary>
internal static class ClusterMemory
{
    /// <summary>Of the config server and of a mongod that routes: they hold no data.</summary>
    public const long HelperCache = CacheSize.Least;

    private const int Helpers = 2;

    /// <summary>The members of all shards share what a single mongod would take by default; one that is limited takes no more than the limit's own default.</summary>
    /// <param name="members">Of all shards together.</param>
    /// <param name="memoryBytes">Of the machine; read when 0.</param>
    /// <param name="limitBytes">Of each member; 0 and null for none.</param>
    public static long DefaultCache(int members, long memoryBytes = 0, long? limitBytes = null)
    {
        long memory = memoryBytes > 0 ? memoryBytes : MachineMemory.ReadBytes();
        long share = Math.Max(CacheSize.Least, (MemoryLimit.DefaultCache(memory) - (Helpers * HelperCache)) / members);
        return limitBytes is > 0 and { } limit ? Math.Min(share, MemoryLimit.DefaultCache(limit)) : share;
    }

    /// <param name="cacheBytes">Of each member.</param>
    /// <param name="members">Of all shards together.</param>
    /// <param name="memoryBytes">Of the machine; read when 0.</param>
    /// <exception cref="DeploymentException">Too small for mongod, or all together more than the memory.</exception>
    public static void Check(long cacheBytes, int members, long memoryBytes = 0)
    {
        long memory = memoryBytes > 0 ? memoryBytes : MachineMemory.ReadBytes();
        CacheSize.Check(cacheBytes, memoryBytes: memory);
        if ((cacheBytes * members) + (Helpers * HelperCache) <= memory)
            return;
        long fitting = ((memory * 2 / 3) - (Helpers * HelperCache)) / members;
        throw new DeploymentException(
            DeploymentFault.WrongUsage,
            $"a cache of {CacheSize.Text(cacheBytes)} for each of {members} shard members, plus {CacheSize.Text(CacheSize.Least)} each for config server and router, exceeds the memory: "
            + $"this machine has {CacheSize.Text(memory)}\nhint:  "
            + (fitting >= CacheSize.Least ? $"--cache {fitting >> 20}MB would leave a third to the page cache and the client" : "use fewer --shards or --members"));
    }
}
