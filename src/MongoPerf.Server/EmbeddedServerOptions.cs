namespace MongoPerf.Server;

/// <summary>How an <see cref="EmbeddedServer"/> is started.</summary>
public sealed record EmbeddedServerOptions
{
    private const long LeastDefaultCacheBytes = 64L << 20;
    private const long MostDefaultCacheBytes = 1L << 30;

    /// <summary>0 takes a free port.</summary>
    public int Port { get; init; }

    /// <summary>The folder of the data; made when it is not there. One process at a time.</summary>
    public required string DataPath { get; init; }

    /// <summary>
    /// Bytes for blocks read from files and for memory not yet written to them, together; at least 32 MB.
    /// Null: a quarter of memory, 1 GB at most.
    /// </summary>
    public long? CacheBytes { get; init; }

    /// <summary>Null: four fifths of the handles that the process may have, 16,384 at most.</summary>
    public int? MaximumConnections { get; init; }

    internal long EffectiveCacheBytes =>
        CacheBytes ?? Math.Clamp(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4, LeastDefaultCacheBytes, MostDefaultCacheBytes);
}
