namespace MongoPerf.Deployments.Limits;

/// <summary>What <c>--memory-limit</c> may be, and which cache goes with it.</summary>
public static class MemoryLimit
{
    /// <summary>
    /// The least limit that a scale makes: a mongod runs in 256 MB, but is killed there while it builds an index or serves a hundred
    /// connections.
    /// </summary>
    public const long LeastScaled = 512L << 20;

    /// <summary>mongod 6.0 takes 65 MB before its first client; the rest is for connections and sorts.</summary>
    private const long WithoutCache = 128L << 20;
    private const long GigaByte = 1L << 30;

    private static readonly Version FirstWithIndexMemory = new(4, 2);

    /// <summary>
    /// What mongod takes by itself on a machine with so much memory: half of what is above 1 GB, 256 MB at least, but what a limit below
    /// 512 MB leaves room for. It does not look into the control group that it is in.
    /// </summary>
    /// <param name="bytes">The limit, or the machine's memory.</param>
    public static long DefaultCache(long bytes) =>
        Math.Max(Math.Clamp((bytes - WithoutCache) * 2 / 3, CacheSize.Least, CacheSize.LeastByItself), (bytes - GigaByte) / 2);

    /// <summary>
    /// What mongod needs beside its cache (connections, sorts, journal, some of the file system's cache): a quarter of it, at least 1 GB.
    /// </summary>
    public static long For(long cacheBytes) => cacheBytes + Math.Max(GigaByte, cacheBytes / 4);

    /// <summary>
    /// The least memory that a mongod with such a cache runs in. The allocator's gaps take half of a small cache again: held to 256 MB,
    /// three shards with 128 MB each filled them and read their own program from disk.
    /// </summary>
    public static long LeastWith(long cacheBytes) => cacheBytes + Math.Min(WithoutCache + (cacheBytes / 2), CacheSize.LeastByItself);

    /// <summary>
    /// Options of a mongod that is held to a limit: its index builds take 200 MB by themselves, which a small group has not. They get an
    /// eighth of it, and the least that they can do with.
    /// </summary>
    /// <param name="limitBytes">Null for no limit.</param>
    /// <param name="version">The version of the mongod.</param>
    /// <remarks>Source: MongoDB's manual, maxIndexBuildMemoryUsageMegabytes.</remarks>
    public static IReadOnlyList<string> Arguments(long? limitBytes, Version version)
    {
        const int byItself = 200, least = 50;
        return limitBytes / 8 >> 20 is { } megabytes and < byItself && version >= FirstWithIndexMemory
            ? ["--setParameter", $"maxIndexBuildMemoryUsageMegabytes={Math.Max(least, megabytes)}"]
            : [];
    }

    /// <returns>What is wrong with the limit; null when nothing is.</returns>
    public static string? FindProblem(long limitBytes, long cacheBytes)
    {
        long least = LeastWith(cacheBytes);
        return limitBytes >= least ? null
            : $"is {CacheSize.Text(limitBytes)}; allowed with a cache of {CacheSize.Text(cacheBytes)}: {CacheSize.Text(least)} or more";
    }

    /// <exception cref="DeploymentException">
    /// A process would be killed as soon as its cache fills, or the system can't hold one to a limit.
    /// </exception>
    public static void Check(long limitBytes, long cacheBytes)
    {
        LinuxOnly.Require("--memory-limit", "without it the server may use all of the memory; --cache limits most of it");
        if (FindProblem(limitBytes, cacheBytes) is { } problem)
            throw DeploymentException.WrongUsage(
                $"--memory-limit {problem}", "the system kills a process that exceeds its limit; a smaller --cache leaves more room");
    }

    /// <summary>More than the machine has limits nothing.</summary>
    public static bool IsBeyond(long limitBytes, long machineBytes) => limitBytes > machineBytes;
}
