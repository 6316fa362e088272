using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Clusters;

/// <summary>How a machine's memory is shared among the processes of a cluster.</summary>
internal static class ClusterMemory
{
    /// <summary>The cache of a config server, an arbiter and a mongod that routes: they hold no data.</summary>
    public const long HelperCache = CacheSize.LeastByItself;

    /// <summary>
    /// All members that hold data share what a single mongod would take by default; one that is limited takes no more than the
    /// limit's own default.
    /// </summary>
    /// <param name="members">The members that hold data, together.</param>
    /// <param name="memoryBytes">The memory of the machine in bytes; read when 0.</param>
    /// <param name="helpers">Processes that hold none: a cluster's config servers and router, arbiters.</param>
    /// <param name="limitBytes">The limit of each member in bytes; 0 and null for none.</param>
    public static long DefaultCache(int members, long memoryBytes = 0, long? limitBytes = null, int helpers = 2)
    {
        long memory = memoryBytes > 0 ? memoryBytes : MachineMemory.ReadBytes();
        long share = Math.Max(CacheSize.LeastByItself, (MemoryLimit.DefaultCache(memory) - (helpers * HelperCache)) / members);
        return limitBytes is > 0 and { } limit ? Math.Min(share, MemoryLimit.DefaultCache(limit)) : share;
    }

    /// <param name="cacheBytes">The cache of each member in bytes.</param>
    /// <param name="members">The members that hold data, together.</param>
    /// <param name="memoryBytes">The memory of the machine in bytes; read when 0.</param>
    /// <param name="helpers">Processes that hold none: a cluster's config servers and router, arbiters.</param>
    /// <exception cref="DeploymentException">Too small for mongod, or all together more than the memory.</exception>
    public static void Check(long cacheBytes, int members, long memoryBytes = 0, int helpers = 2)
    {
        long memory = memoryBytes > 0 ? memoryBytes : MachineMemory.ReadBytes();
        CacheSize.Check(cacheBytes, memoryBytes: memory);
        if ((cacheBytes * members) + (helpers * HelperCache) <= memory)
            return;
        long fitting = ((memory * 2 / 3) - (helpers * HelperCache)) / members;
        string others =
            helpers > 0 ? $", plus {CacheSize.Text(HelperCache)} for each of {helpers} config servers, routers and arbiters," : "";
        throw new DeploymentException(
            Fault.WrongUsage,
            $"a cache of {CacheSize.Text(cacheBytes)} for each of {members} members{others} exceeds the memory: "
            + $"this machine has {CacheSize.Text(memory)}\nhint:  "
            + (fitting >= CacheSize.Least
                ? $"--cache {fitting >> 20}MB would leave a third to the page cache and the client"
                : $"use fewer {(helpers > 0 ? "--shards or " : "")}--members"));
    }
}
