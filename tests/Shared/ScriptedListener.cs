using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Testing;

/// <summary>A TCP listener on loopback that serves each connection on a thread of its own and closes them all with itself.</summary>
internal sealed class ScriptedListener : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<Socket> _sockets = [];
    private readonly Lock _lock = new();
    private readonly string _name;
    private readonly Action<Socket> _serve;

    /// <param name="name">Of its threads.</param>
    /// <param name="serve">Serves one connection until the client has closed it; what a closed socket throws is caught.</param>
    public ScriptedListener(string name, Action<Socket> serve)
    {
        _name = name;
        _serve = serve;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        Address = new ServerAddress("127.0.0.1", ((IPEndPoint)_listener.LocalEndPoint!).Port);
        Start(Accept);
    }

    public ServerAddress Address { get; }

    /// <summary>Fills the buffer.</summary>
    /// <returns>False when the client has closed before.</returns>
    public static bool ReadFully(Socket socket, Span<byte> buffer)
    {
        while (buffer.Length > 0)
        {
            int count = socket.Receive(buffer);
            if (count == 0)
                return false;
            buffer = buffer[count..];
        }

        return true;
    }

    /// <summary>The next message of MongoDB's protocol, whole.</summary>
    /// <returns>
    /// Null when the client has closed before its end, or begins a TLS handshake (22, 3, 1), on which a plain mongod hangs up at once.
    /// </returns>
    public static byte[]? ReadMessage(Socket socket)
    {
        byte[] length = new byte[4];
        if (!ReadFully(socket, length))
            return null;
        if (length is [22, 3, 1, > 0])
        {
            socket.Close();
            return null;
        }

        byte[] message = new byte[BinaryPrimitives.ReadInt32LittleEndian(length)];
        length.CopyTo(message, 0);
        return ReadFully(socket, message.AsSpan(4)) ? message : null;
    }

    public void Dispose()
    {
        _listener.Dispose();
        lock (_lock)
        {
            foreach (Socket socket in _sockets)
                socket.Dispose();
        }
    }

    private void Accept()
    {
        while (true)
        {
            Socket socket = _listener.Accept();
            socket.NoDelay = true;
            lock (_lock)
                _sockets.Add(socket);
            Start(() => _serve(socket));
        }
    }

    private void Start(Action work) => new Thread(() => UntilClosed(work)) { IsBackground = true, Name = _name }.Start();

    private static void UntilClosed(Action work)
    {
        try
        {
            work();
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The client, or the test, has closed the connection, or the test is over.
        }
    }
}

/// <summary>One request, and what may be done about it.</summary>
internal abstract class ScriptedExchange(Socket socket, byte[] request)
{
    public byte[] Request { get; } = request;

    public void Send(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
            bytes = bytes[socket.Send(bytes)..];
    }

    public void Close() => socket.Shutdown(SocketShutdown.Both);

    /// <summary>Closes with a reset instead of a goodbye.</summary>
    public void Reset()
    {
        socket.LingerState = new LingerOption(true, 0);
        socket.Close();
    }
}
