using MongoPerf.Deployments.Sampling;

namespace MongoPerf.Deployments.Clusters;

/// <summary>How a machine's memory is shared among the processes of a cluster.</summary>
internal static class ClusterMemory
{
    /// <summary>Of the config server and of a mongod that routes: they hold no data.</summary>
    public const long HelperCache = CacheSize.Least;

    private const int Helpers = 2;
    private const long GigaByte = 1L << 30;

    /// <summary>The members of all shards share what a single mongod would take by default: half of the memory above 1 GB.</summary>
    /// <param name="members">Of all shards together.</param>
    /// <param name="memoryBytes">Of the machine; read when 0.</param>
    public static long DefaultCache(int members, long memoryBytes = 0)
    {
        long memory = memoryBytes > 0 ? memoryBytes : MachineMemory.ReadBytes();
        return Math.Max(CacheSize.Least, (((memory - GigaByte) / 2) - (Helpers * HelperCache)) / members);
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
            $"caches are {CacheSize.Gigabytes(cacheBytes)} GB for each of {members} members of shards and 0.25 GB each for config server and router, "
            + $"this machine has {CacheSize.Gigabytes(memory)} GB of memory\nhint:  "
            + (fitting >= CacheSize.Least ? $"--cache {fitting >> 20}MB would leave a third of it to the file system and the client" : "take fewer --shards or --members"));
    }

    /// <summary>What mongod needs beside its cache (connections, sorts, journal, some of the file system's cache): a quarter of it, at least 1 GB.</summary>
    public static long LimitFor(long cacheBytes) => cacheBytes + Math.Max(GigaByte, cacheBytes / 4);

    /// <exception cref="DeploymentException">A process would be killed as soon as its cache fills.</exception>
    public static void CheckLimit(long limitBytes, long cacheBytes)
    {
        long least = cacheBytes + CacheSize.Least;
        if (limitBytes < least)
        {
            throw new DeploymentException(
                DeploymentFault.WrongUsage,
                $"--memory-limit is {CacheSize.Gigabytes(limitBytes)} GB, with a cache of {CacheSize.Gigabytes(cacheBytes)} GB at least {CacheSize.Gigabytes(least)} GB are allowed\n"
                + "hint:  a process that goes beyond its limit is killed by the system; a smaller --cache leaves it more room");
        }
    }
}
