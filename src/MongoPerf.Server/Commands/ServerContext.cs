using System.Diagnostics;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Users;

namespace MongoPerf.Server.Commands;

/// <summary>What all sessions of one embedded server share.</summary>
internal sealed class ServerContext : IDisposable
{
    private readonly long _started = Stopwatch.GetTimestamp();

    public ServerContext(DocumentStore store, EmbeddedServerOptions options)
    {
        Store = store;
        Options = options;
        Users = new UserStore(options.DataPath);
        Router = options.Shards > 0 ? new ShardRouter(store, options.Shards) : null;
        Ttl = new TtlMonitor(store, Operations, Counters);
    }

    public DocumentStore Store { get; }

    public EmbeddedServerOptions Options { get; }

    public UserStore Users { get; }

    /// <summary>What makes it a mongos; null for a server without shards.</summary>
    public ShardRouter? Router { get; }

    /// <summary>Runs from its start on.</summary>
    public TtlMonitor Ttl { get; }

    public ServerCounters Counters { get; } = new();

    public CursorTable Cursors { get; } = new();

    public OperationTable Operations { get; } = new();

    /// <summary>Set once the listener runs.</summary>
    public NetworkCounters Network { get; set; } = new();

    /// <summary>Set once the listener runs.</summary>
    public int Port { get; set; }

    public TimeSpan Uptime => Stopwatch.GetElapsedTime(_started);

    /// <summary>Called by the shutdown command; the stop itself happens elsewhere.</summary>
    public Action ShutdownRequested { get; set; } = static () => { };

    public void Dispose()
    {
        Ttl.Dispose();
        Cursors.Dispose();
        Store.Dispose();
    }
}
