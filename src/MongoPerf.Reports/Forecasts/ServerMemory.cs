using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Forecasts;

/// <summary>What servers that hold data have, all of them together.</summary>
/// <param name="CacheBytes">The room for pages as operations use them, in bytes; null when it is not known.</param>
/// <param name="MemoryBytes">The cache, and the system's file cache beside it; null when it is not known.</param>
public sealed record ServerMemory(double? CacheBytes, double? MemoryBytes)
{
    /// <summary>mongod's least cache, and what its default leaves of a machine's memory before it takes half.</summary>
    private const double LeastCacheBytes = 256 << 20;
    private const double LeftByDefault = 1 << 30;

    /// <summary>
    /// Finds the memory of the run's deployment. Without a limit a server on the client's machine has the machine's memory; that of any
    /// other server is not known.
    /// </summary>
    public static ServerMemory Of(StoredRun run) => new(
        run.Deployment?.AllCacheBytes is > 0 and { } cache ? cache : null,
        CacheCrossing.MemoryOf(run) ?? (run.Environment is { ServerOnSameMachine: true } machine ? machine.MemoryBytes : null));

    /// <summary>
    /// Applies a request: what it does not name stays as it was, and a cache that it does not name is the default of the memory that it
    /// names.
    /// </summary>
    /// <param name="request">Bytes of each server that holds data.</param>
    /// <param name="servers">How many hold a part each.</param>
    public ServerMemory With(ForecastRequest request, int servers)
    {
        double? ofMemory = request.MemoryBytes is { } memory && CacheBytes is not null
            ? servers * Math.Max(LeastCacheBytes, (memory - LeftByDefault) / 2)
            : CacheBytes;
        return new ServerMemory(request.CacheBytes * servers ?? ofMemory, request.MemoryBytes * servers ?? MemoryBytes);
    }
}

/// <summary>How far to continue a run.</summary>
public sealed record ForecastRequest
{
    /// <summary>The documents in the collection, in increasing order; empty for twice and five times the largest measured.</summary>
    public IReadOnlyList<long> Documents { get; init; } = [];

    /// <summary>The memory of each server that holds data in bytes; null as in the run.</summary>
    public long? MemoryBytes { get; init; }

    /// <inheritdoc cref="MemoryBytes"/>
    public long? CacheBytes { get; init; }

    /// <summary>The room for the data folders of all servers together, in bytes; null for what was free when the run began.</summary>
    public long? DiskBytes { get; init; }

    /// <summary>Random reads per second that the disk serves: the bound of what a run that never read from it can't tell.</summary>
    public long DiskReads { get; init; } = DefaultDiskReads;

    /// <summary>The reads per second of one hard disk.</summary>
    public const long DefaultDiskReads = 100;
}
