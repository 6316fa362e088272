using System.Net;
using System.Net.Sockets;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;

namespace MongoPerf.Server;

/// <summary>
/// A small server that speaks MongoDB's wire protocol over a durable store of its own. It is not MongoDB, and says so in every hello.
/// </summary>
/// <remarks>Prints nothing. Start, use from any number of connections, <see cref="Stop"/> or dispose. Any thread.</remarks>
public sealed class EmbeddedServer : IDisposable
{
    private readonly ServerContext _context;
    private readonly TcpServer _listener;
    private readonly TcpServer[] _shards;
    private readonly TaskCompletionSource _shutdown = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _isStopped;

    private EmbeddedServer(ServerContext context, TcpServer listener, TcpServer[] shards)
    {
        _context = context;
        _listener = listener;
        _shards = shards;
    }

    /// <summary>The port that is listened on.</summary>
    public int Port => _listener.Port;

    /// <summary>Done when a client has sent the shutdown command; the owner then calls <see cref="Stop"/>.</summary>
    public Task ShutdownRequested => _shutdown.Task;

    /// <summary>Connections that were closed because there were too many.</summary>
    public long RefusedConnections => _listener.Refused;

    /// <summary>Bytes that messages larger than usual take at the moment.</summary>
    public long MessageBytes => _listener.MessageBytes;

    /// <summary>Commands that failed with an exception that nobody meant.</summary>
    public long Defects => _context.Counters.Defects;

    public StoreFigures StoreFigures => _context.Store.Figures;

    /// <summary>Opens the store, replaying what a killed process left, and starts to listen.</summary>
    /// <exception cref="StorageException">The library is missing, or the data cannot be opened; its hint says what to do.</exception>
    /// <exception cref="SocketException">The port is taken or not allowed, or the address is not this machine's.</exception>
    public static EmbeddedServer Start(EmbeddedServerOptions options)
    {
        ServerContext context = Open(options);
        var listeners = new List<TcpServer>();
        try
        {
            // Commands that come in before the next lines have run would miss port and counters; hence the gate.
            var handler = new Handler(context);
            listeners.Add(TcpServer.Start(options.Listen, handler));
            for (int shard = 0; shard < options.Shards; shard++)
                listeners.Add(TcpServer.Start(options.Listen with { Port = 0 }, new ShardHandler(context, shard, handler.Ready)));
            var server = new EmbeddedServer(context, listeners[0], [.. listeners.Skip(1)]);
            if (context.Router is { } router)
            {
                IPAddress address = options.Listen.FindShownAddress();
                router.SetHosts([.. server._shards.Select(shard => new IPEndPoint(address, shard.Port))]);
            }

            context.Port = server.Port;
            context.Network = server._listener.Counters;
            context.ShutdownRequested = () => server._shutdown.TrySetResult();
            context.Ttl.Start();
            handler.Ready.Set();
            return server;
        }
        catch
        {
            listeners.ForEach(listener => listener.Dispose());
            context.Dispose();
            throw;
        }
    }

    private static ServerContext Open(EmbeddedServerOptions options)
    {
        var store = DocumentStore.Open(options.DataPath, options.EffectiveCacheBytes, compile: PartialFilter.Compile);
        try
        {
            return new ServerContext(store, options);
        }
        catch
        {
            store.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Lets the commands at hand finish for 5 s, interrupts those that have not, closes the connections and the store.
    /// Later calls do nothing.
    /// </summary>
    /// <remarks>The store is not closed under a command that still runs: it is then left as after a kill, which loses nothing.</remarks>
    public void Stop()
    {
        if (Interlocked.Exchange(ref _isStopped, 1) != 0)
            return;
        _context.Ttl.Dispose();
        foreach (TcpServer shard in _shards)
            shard.Stop();
        if (_listener.Stop(Interrupt))
            _context.Dispose();
    }

    private void Interrupt()
    {
        _context.Operations.InterruptAll(Interruption.Shutdown);
        _context.Store.StopCompactions();
    }

    public void Dispose() => Stop();

    private sealed class ShardHandler(ServerContext context, int shard, ManualResetEventSlim ready) : ICommandHandler
    {
        public ICommandSession Open(int connectionId)
        {
            ready.Wait();
            return new ShardSession(context, shard, connectionId);
        }
    }

    private sealed class Handler(ServerContext context) : ICommandHandler
    {
        public ManualResetEventSlim Ready { get; } = new();

        public ICommandSession Open(int connectionId)
        {
            Ready.Wait();
            var session = new CommandDispatcher(context, connectionId);
            return context.Options.Around?.Invoke(session, context.Counters) ?? session;
        }
    }
}
