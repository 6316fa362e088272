using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;

namespace MongoPerf.Server;

/// <summary>How an <see cref="EmbeddedServer"/> is started.</summary>
public sealed record EmbeddedServerOptions
{
    private const long LeastDefaultCacheBytes = 64L << 20;
    private const long MostDefaultCacheBytes = 4L << 30;

    /// <summary>
    /// Where it listens, and for whom. Users are those that <see cref="Users.UserStore"/> finds in <see cref="DataPath"/>.
    /// </summary>
    public ListenOptions Listen { get; init; } = new();

    /// <summary>The folder of the data; made when it is not there. One process at a time. Null: in memory, and gone at the end.</summary>
    public string? DataPath { get; init; }

    /// <summary>
    /// Bytes for blocks read from files and for memory not yet written to them, together; at least 32 MB.
    /// Null: a quarter of memory, 4 GB at most.
    /// </summary>
    public long? CacheBytes { get; init; }

    /// <summary>0: a standalone server. Else it answers as a mongos in front of so many shards.</summary>
    public int Shards { get; init; }

    /// <summary>The field of hello that tells what this server is.</summary>
    public string KindField { get; init; } = "mongoperfEmbedded";

    /// <summary>
    /// Stands before each connection's session and answers what it wants to answer itself; null for nothing in between. Called on the
    /// connection's thread.
    /// </summary>
    public Func<ICommandSession, ServerCounters, ICommandSession>? Around { get; init; }

    internal long EffectiveCacheBytes =>
        CacheBytes ?? Math.Clamp(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4, LeastDefaultCacheBytes, MostDefaultCacheBytes);
}
