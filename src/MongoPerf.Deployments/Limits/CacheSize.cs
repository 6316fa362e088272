using System.Globalization;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Limits;

/// <summary>What <c>--cache</c> may be, and how mongod is told.</summary>
public static class CacheSize
{
    /// <summary>Room for the pages of eight readers and a checkpoint; with less, mongod spends its time evicting.</summary>
    public const long Least = 64L * 1024 * 1024;

    /// <summary>The least cache that mongod takes by itself, and that <c>--wiredTigerCacheSizeGB</c> accepts (0.25 GB).</summary>
    public const long LeastByItself = 256L * 1024 * 1024;

    private const double GigaByte = 1024.0 * 1024 * 1024;

    /// <param name="bytes">The cache of one server in bytes.</param>
    /// <param name="servers">How many of that size run on this machine.</param>
    /// <param name="memoryBytes">The memory of the machine in bytes; read when 0.</param>
    /// <exception cref="DeploymentException">Too small for mongod, or all together more than the memory.</exception>
    public static void Check(long bytes, int servers = 1, long memoryBytes = 0)
    {
        if (bytes < Least)
            throw new DeploymentException(Fault.WrongUsage, $"--cache is {Text(bytes)}; allowed: {Text(Least)} or more");
        long memory = memoryBytes > 0 ? memoryBytes : MachineMemory.ReadBytes();
        if (bytes * servers > memory)
        {
            string sum = servers == 1 ? $"--cache is {Text(bytes)}" : $"--cache is {Text(bytes)} for each of {servers} servers";
            throw DeploymentException.WrongUsage($"{sum}, but this machine has {Text(memory)} of memory",
                "leave a third of it to the page cache and the client");
        }
    }

    /// <summary>The size for people: "256 MiB", "1.5 GiB".</summary>
    public static string Text(long bytes) => bytes < GigaByte
        ? (bytes / (GigaByte / 1024)).ToString("0.##", CultureInfo.InvariantCulture) + " MiB"
        : (bytes / GigaByte).ToString("0.##", CultureInfo.InvariantCulture) + " GiB";

    /// <summary>Options of mongod. What its own option refuses goes to WiredTiger, which takes the last size it is told.</summary>
    public static IReadOnlyList<string> Arguments(long bytes) => bytes >= LeastByItself
        ? ["--wiredTigerCacheSizeGB", Gigabytes(bytes)]
        : ["--wiredTigerEngineConfigString", $"cache_size={bytes >> 20}M"];

    /// <summary>The size as <c>--wiredTigerCacheSizeGB</c> takes it, in powers of 1,024.</summary>
    public static string Gigabytes(long bytes) => (bytes / GigaByte).ToString("0.####", CultureInfo.InvariantCulture);
}
