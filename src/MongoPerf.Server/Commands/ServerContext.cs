using System.Diagnostics;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Users;

namespace MongoPerf.Server.Commands;

/// <summary>What all sessions of one embedded server share.</summary>
internal sealed class ServerContext(DocumentStore store, EmbeddedServerOptions options) : IDisposable
{
    private readonly long _started = Stopwatch.GetTimestamp();

    public DocumentStore Store { get; } = store;

    public EmbeddedServerOptions Options { get; } = options;

    public UserStore Users { get; } = new(options.DataPath);

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
        Cursors.Dispose();
        Store.Dispose();
    }
}
