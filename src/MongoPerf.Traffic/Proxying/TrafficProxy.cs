using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Traffic.Proxying;

/// <summary>Stands before a server and passes every byte on as it came, in both directions, with a copy for a recorder.</summary>
/// <remarks>Two threads for each client, which wait in blocking calls: the shortest way from one socket to the other.</remarks>
public sealed class TrafficProxy : IDisposable
{
    private const int BufferBytes = 1 << 16;
    private const int StackBytes = 128 * 1024;

    private readonly Socket _listener;
    private readonly ServerAddress _server;
    private readonly TrafficRecorder _recorder;
    private readonly HashSet<Socket> _open = [];
    private Action<string>? _unreachable;
    private long _connections;
    private volatile bool _isClosed;

    /// <param name="listener">Where clients connect, from <see cref="Listen"/>; this disposes of it.</param>
    /// <param name="server">Where they are led to.</param>
    /// <param name="recorder">Gets copies.</param>
    /// <param name="unreachable">Called once, with the reason, when the server could not be reached for a client.</param>
    public TrafficProxy(Socket listener, ServerAddress server, TrafficRecorder recorder, Action<string> unreachable)
    {
        (_listener, _server, _recorder, _unreachable) = (listener, server, recorder, unreachable);
        Start(Accept, "accept");
    }

    public IPEndPoint Address => (IPEndPoint)_listener.LocalEndPoint!;

    /// <summary>Clients that have connected.</summary>
    public long Connections => Volatile.Read(ref _connections);

    /// <summary>Takes the address; whoever connects waits until there is a proxy.</summary>
    /// <exception cref="SocketException">It can't listen there.</exception>
    public static Socket Listen(IPEndPoint address)
    {
        var listener = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            listener.Bind(address);
            listener.Listen(512);
            return listener;
        }
        catch
        {
            listener.Dispose();
            throw;
        }
    }

    /// <summary>Ends all connections.</summary>
    public void Dispose()
    {
        _isClosed = true;
        _listener.Dispose();
        Socket[] open;
        lock (_open)
            open = [.. _open];
        foreach (Socket socket in open)
            socket.Dispose();
    }

    private static void Start(Action action, string name) =>
        new Thread(() => action(), StackBytes) { IsBackground = true, Name = name }.Start();

    /// <summary>A socket that does not work, or one file or thread too many: it ends one connection, never the others.</summary>
    private static bool IsShortage(Exception e) => e is SocketException or ObjectDisposedException or OutOfMemoryException;

    private void Accept()
    {
        while (!_isClosed)
        {
            Socket? client = null;
            try
            {
                Socket accepted = client = _listener.Accept();
                long number = Interlocked.Increment(ref _connections);
                Start(() => Serve(accepted, number), $"client {number}");
            }
            catch (Exception e) when (IsShortage(e))
            {
                // A client that has gone again, or too many open files or threads: the next one may be luckier.
                client?.Dispose();
                if (!_isClosed)
                    Thread.Sleep(10);
            }
        }
    }

    private void Serve(Socket client, long number)
    {
        using var ended = new CountdownEvent(2);
        Socket? server = null;
        try
        {
            Keep(client);
            server = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            Keep(server);
            client.NoDelay = true;
            server.Connect(_server.Host, _server.Port);
            Start(() => Pass(server, client, number, isRequest: false, ended), $"server {number}");
        }
        catch (Exception e) when (IsShortage(e))
        {
            Close(client);
            if (server is not null)
                Close(server);
            if (!_isClosed)
                Interlocked.Exchange(ref _unreachable, null)?.Invoke(e.Message);
            return;
        }

        Pass(client, server, number, isRequest: true, ended);
        ended.Wait();
        Close(client);
        Close(server);
        _recorder.End(number);
    }

    private void Pass(Socket from, Socket to, long number, bool isRequest, CountdownEvent ended)
    {
        byte[] buffer = GC.AllocateUninitializedArray<byte>(BufferBytes);
        try
        {
            for (int count; (count = from.Receive(buffer)) > 0;)
            {
                ReadOnlySpan<byte> bytes = buffer.AsSpan(0, count);
                // First, so that what one side says is recorded before what the other one answers to it.
                _recorder.Add(number, isRequest, bytes);
                while (bytes.Length > 0)
                    bytes = bytes[to.Send(bytes)..];
            }

            to.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // One side has gone; so must the other.
            Close(from);
            Close(to);
        }

        ended.Signal();
    }

    private void Keep(Socket socket)
    {
        lock (_open)
            _open.Add(socket);
    }

    private void Close(Socket socket)
    {
        lock (_open)
            _open.Remove(socket);
        socket.Dispose();
    }
}
