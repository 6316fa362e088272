using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace MongoPerf.Server.Listening;

/// <summary>Accepts connections and gives each a thread that reads commands and sends replies.</summary>
/// <remarks>Blocking sockets and a thread each: with tens of connections on one machine nothing is faster, or simpler to follow.</remarks>
public sealed class TcpServer : IDisposable
{
    // A connection's thread has little on its stack, and there may be hundreds of them. Deeply nested BSON needs some.
    private const int ConnectionStackBytes = 2 << 20;

    // Each has a thread and some buffers. More than this is a mistake, or an attack.
    private const int MostConnections = 16_384;

    private const int WatchMilliseconds = 100;
    private const long LeastMessageBudget = 512L << 20;

    private readonly Socket _listener;
    private readonly ICommandHandler _handler;
    private readonly ConcurrentDictionary<int, Connection> _connections = new();
    private readonly ByteBudget _budget = new(Math.Max(LeastMessageBudget, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 8));
    private readonly HeapReturn _heap = new();
    private readonly ServerTls? _tls;
    private readonly Newcomers? _newcomers;
    private readonly TimeSpan _stopPatience;
    private readonly Thread _acceptor;
    private readonly Timer _watch;
    private volatile bool _isStopping;
    private int _isWatching;
    private long _refused;

    private TcpServer(Socket listener, ICommandHandler handler, ListenOptions options)
    {
        _listener = listener;
        _handler = handler;
        MaximumConnections = options.MaximumConnections ?? Math.Min(MostConnections, HandleShares.ForConnections);
        _tls = options.Tls;
        _newcomers = options.Tls is not null || options.RequiresLogin ? new Newcomers(Math.Max(1, MaximumConnections / 2)) : null;
        _stopPatience = options.StopPatience;
        Port = ((IPEndPoint)listener.LocalEndPoint!).Port;
        _acceptor = new Thread(Accept) { Name = $"accept {Port}", IsBackground = true };
        _watch = new Timer(_ => Watch(), null, WatchMilliseconds, WatchMilliseconds);
    }

    /// <summary>Further ones are closed as soon as they are accepted, as mongod does.</summary>
    public int MaximumConnections { get; }

    /// <summary>Connections that were closed because there were too many.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>Bytes that messages larger than usual take at the moment.</summary>
    public long MessageBytes => _budget.Taken;

    /// <summary>The port that is listened on.</summary>
    public int Port { get; }

    public NetworkCounters Counters { get; } = new();

    /// <summary>Listens and starts accepting.</summary>
    /// <param name="options">Where, and for whom.</param>
    /// <param name="handler">Carries out the commands; disposed by its owner, after the server.</param>
    /// <exception cref="SocketException">The port is taken or not allowed, or the address is not this machine's.</exception>
    public static TcpServer Start(ListenOptions options, ICommandHandler handler)
    {
        var listener = new Socket(options.Address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            // All addresses of IPv6 are all of this machine, by IPv4 too.
            if (options.Address.Equals(IPAddress.IPv6Any))
                listener.DualMode = true;
            listener.Bind(new IPEndPoint(options.Address, options.Port));
            listener.Listen(512);
            var server = new TcpServer(listener, handler, options);
            server._acceptor.Start();
            return server;
        }
        catch
        {
            listener.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Stops accepting, lets each connection finish the command it is at (<see cref="ListenOptions.StopPatience"/>), has the rest
    /// interrupted, and closes them.
    /// </summary>
    /// <param name="interrupt">Makes commands that still run end soon; called until they have.</param>
    /// <returns>True when no connection's thread runs any more; false when one does after half a minute.</returns>
    public bool Stop(Action? interrupt = null)
    {
        if (_isStopping)
            return _connections.IsEmpty;
        _isStopping = true;
        _watch.Dispose();
        _listener.Dispose();
        foreach (Connection connection in _connections.Values)
            connection.StopReading();
        if (WaitForConnections(_stopPatience))
            return true;
        for (int i = 0; i < 30; i++)
        {
            interrupt?.Invoke();
            // One that is sending to a client that does not read, or has been accepted this moment.
            foreach (Connection connection in _connections.Values)
                connection.Abort();
            if (WaitForConnections(TimeSpan.FromSeconds(1)))
                return true;
        }

        return false;
    }

    public void Dispose() => Stop();

    private bool WaitForConnections(TimeSpan patience)
    {
        long end = Environment.TickCount64 + (long)patience.TotalMilliseconds;
        while (!_connections.IsEmpty && Environment.TickCount64 < end)
            Thread.Sleep(2);
        return _connections.IsEmpty;
    }

    private void Watch()
    {
        if (_isStopping || Interlocked.Exchange(ref _isWatching, 1) != 0)
            return;
        foreach (Connection connection in _connections.Values)
        {
            if (!_isStopping)
                connection.Watch();
        }

        _newcomers?.EndSilent();
        _heap.Collect();
        Volatile.Write(ref _isWatching, 0);
    }

    private void Accept()
    {
        while (!_isStopping)
        {
            try
            {
                Serve(_listener.Accept());
            }
            catch (Exception error) when (error is SocketException or ObjectDisposedException or OutOfMemoryException)
            {
                // The listener was closed, or a client went away before it was accepted; out of descriptors or memory: wait for some.
                if (!_isStopping)
                    Thread.Sleep(10);
            }
        }
    }

    private void Serve(Socket socket)
    {
        // The system gives the lowest number that is free: a high one says that the handles run out, and the store needs some.
        if (_connections.Count >= MaximumConnections || socket.Handle >= HandleShares.LastForConnections)
        {
            Interlocked.Increment(ref _refused);
            socket.Dispose();
            return;
        }

        Connection? connection = null;
        try
        {
            connection = Open(socket);
        }
        catch (Exception error) when (error is SocketException or OutOfMemoryException)
        {
            // The client went away already, or the system gives no more memory or threads.
        }

        if (connection is null)
        {
            Interlocked.Increment(ref _refused);
            socket.Dispose();
        }
        else if (_isStopping)
        {
            connection.StopReading();
        }
    }

    /// <returns>Null when too many connections have not logged in yet.</returns>
    private Connection? Open(Socket socket)
    {
        int id = Counters.Opened();
        bool isServed = false;
        try
        {
            socket.NoDelay = true;
            var connection = new Connection(socket, id, Counters, _budget, _heap);
            _connections[id] = connection;
            if (_newcomers?.TryAdd(connection) == false)
                return null;
            new Thread(() => Run(connection), ConnectionStackBytes) { Name = $"connection {id}", IsBackground = true }.Start();
            isServed = true;
            return connection;
        }
        finally
        {
            if (!isServed)
                End(id);
        }
    }

    private void End(int id)
    {
        if (_connections.TryGetValue(id, out Connection? connection))
        {
            _newcomers?.Remove(connection);
            connection.Dispose();
        }

        Counters.Closed();
        _connections.TryRemove(id, out _);
    }

    private void Run(Connection connection)
    {
        try
        {
            if (_tls is not null)
                connection.Encrypt(_tls);
            using ICommandSession session = _handler.Open(connection.Id);
            connection.Serve(session, () => _newcomers?.Remove(connection));
        }
        catch (Exception)
        {
            // Whatever went wrong on one connection is that connection's end, not the server's.
        }
        finally
        {
            End(connection.Id);
        }
    }
}
