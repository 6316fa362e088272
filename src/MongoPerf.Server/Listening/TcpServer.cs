using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace MongoPerf.Server.Listening;

/// <summary>Accepts connections on the loopback and gives each a thread that reads commands and sends replies.</summary>
/// <remarks>Blocking sockets and a thread each: with tens of connections on one machine nothing is faster, or simpler to follow.</remarks>
public sealed class TcpServer : IDisposable
{
    // A connection's thread has little on its stack, and there may be hundreds of them. Deeply nested BSON needs some.
    private const int ConnectionStackBytes = 1 << 20;

    private readonly Socket _listener;
    private readonly ICommandHandler _handler;
    private readonly ConcurrentDictionary<int, Connection> _connections = new();
    private readonly Thread _acceptor;
    private volatile bool _isStopping;

    private TcpServer(Socket listener, ICommandHandler handler)
    {
        _listener = listener;
        _handler = handler;
        Port = ((IPEndPoint)listener.LocalEndPoint!).Port;
        _acceptor = new Thread(Accept) { Name = $"accept {Port}", IsBackground = true };
    }

    /// <summary>The port that is listened on.</summary>
    public int Port { get; }

    public NetworkCounters Counters { get; } = new();

    /// <summary>Listens on 127.0.0.1 and starts accepting.</summary>
    /// <param name="port">0 takes a free one.</param>
    /// <param name="handler">Carries out the commands; disposed by its owner, after the server.</param>
    /// <exception cref="SocketException">The port is taken or not allowed.</exception>
    public static TcpServer Start(int port, ICommandHandler handler)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            listener.Bind(new IPEndPoint(IPAddress.Loopback, port));
            listener.Listen(512);
            var server = new TcpServer(listener, handler);
            server._acceptor.Start();
            return server;
        }
        catch
        {
            listener.Dispose();
            throw;
        }
    }

    /// <summary>Stops accepting, lets each connection finish the command it is at, and closes them. Returns when all are gone or after 5 s.</summary>
    public void Stop()
    {
        if (_isStopping)
            return;
        _isStopping = true;
        _listener.Dispose();
        foreach (Connection connection in _connections.Values)
            connection.StopReading();
        long end = Environment.TickCount64 + 5000;
        while (!_connections.IsEmpty && Environment.TickCount64 < end)
            Thread.Sleep(2);
        foreach (Connection connection in _connections.Values)
            connection.Abort();
    }

    public void Dispose() => Stop();

    private void Accept()
    {
        while (!_isStopping)
        {
            try
            {
                Serve(_listener.Accept());
            }
            catch (Exception error) when (error is SocketException or ObjectDisposedException)
            {
                // The listener was closed, or a client went away before it was accepted; out of descriptors: wait for some.
                if (!_isStopping)
                    Thread.Sleep(10);
            }
        }
    }

    private void Serve(Socket socket)
    {
        socket.NoDelay = true;
        int id = Counters.Opened();
        var connection = new Connection(socket, id, Counters);
        _connections[id] = connection;
        var thread = new Thread(() => Run(connection), ConnectionStackBytes) { Name = $"connection {id}", IsBackground = true };
        thread.Start();
        if (_isStopping)
            connection.StopReading();
    }

    private void Run(Connection connection)
    {
        try
        {
            using ICommandSession session = _handler.Open(connection.Id);
            connection.Serve(session);
        }
        catch (Exception)
        {
            // Whatever went wrong on one connection is that connection's end, not the server's.
        }
        finally
        {
            connection.Abort();
            _connections.TryRemove(connection.Id, out _);
            Counters.Closed();
        }
    }
}
