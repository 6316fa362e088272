using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Support;

/// <summary>A TCP server on loopback that shakes hands as mongod 6.0 does and then does what the test says.</summary>
internal sealed class LyingServer : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly List<Socket> _sockets = [];
    private readonly Lock _lock = new();

    public LyingServer()
    {
        _listener.Start();
        Address = new ServerAddress("127.0.0.1", ((IPEndPoint)_listener.LocalEndpoint).Port);
        Answer = exchange => exchange.Reply(BsonDocument.Of(("ok", 1.0)));
        new Thread(Accept) { IsBackground = true, Name = "lying server" }.Start();
    }

    public ServerAddress Address { get; }

    /// <summary>What it does with each request after the handshake.</summary>
    public Action<Exchange> Answer { get; set; }

    public Action<Exchange> Handshake { get; set; } = exchange => exchange.Reply(Hello(17));

    public static BsonDocument Hello(int maxWireVersion) => BsonDocument.Of(
        ("ismaster", true), ("maxBsonObjectSize", 16_777_216), ("maxMessageSizeBytes", 48_000_000), ("maxWriteBatchSize", 100_000),
        ("minWireVersion", 0), ("maxWireVersion", maxWireVersion), ("ok", 1.0));

    public static byte[] Message(BsonDocument body, int responseTo)
    {
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, requestId: 99, responseTo);
        writer.Body.WriteRaw(body.Bytes[4..^1]);
        writer.EndBody();
        return writer.Finish().ToArray();
    }

    public void Dispose()
    {
        _listener.Stop();
        lock (_lock)
        {
            foreach (Socket socket in _sockets)
                socket.Dispose();
        }
    }

    private void Accept()
    {
        try
        {
            while (true)
            {
                Socket socket = _listener.AcceptSocket();
                socket.NoDelay = true;
                lock (_lock)
                    _sockets.Add(socket);
                new Thread(() => Serve(socket)) { IsBackground = true, Name = "lying connection" }.Start();
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // The test is over.
        }
    }

    private void Serve(Socket socket)
    {
        try
        {
            bool shaken = false;
            while (ReadMessage(socket) is { } request)
            {
                var exchange = new Exchange(socket, request);
                (shaken ? Answer : Handshake)(exchange);
                shaken = true;
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The client, or the test, has closed the connection.
        }
    }

    private static byte[]? ReadMessage(Socket socket)
    {
        byte[] length = new byte[4];
        if (!ReadFully(socket, length))
            return null;
        byte[] message = new byte[BinaryPrimitives.ReadInt32LittleEndian(length)];
        length.CopyTo(message, 0);
        return ReadFully(socket, message.AsSpan(4)) ? message : null;
    }

    private static bool ReadFully(Socket socket, Span<byte> buffer)
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
}

/// <summary>One request, and what may be done about it.</summary>
internal sealed class Exchange(Socket socket, byte[] request)
{
    public byte[] Request { get; } = request;

    public int RequestId => MessageHeader.Read(Request).RequestId;

    public void Reply(BsonDocument body) => Send(LyingServer.Message(body, RequestId));

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
