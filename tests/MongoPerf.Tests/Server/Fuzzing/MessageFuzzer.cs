using System.Collections.Concurrent;
using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server.Fuzzing;

/// <summary>One client of a fuzz run: sends messages by the seed, reads what comes back, and says what no server may answer.</summary>
internal sealed class MessageFuzzer(int port, int seed)
{
    private const int WellFormedBatch = 32;

    // Any of these may end the connection, and those behind it are not looked at.
    private const int BytewiseBatch = 12;
    private const int PingId = -77;

    /// <summary>Of a reply that is looked at further than its structure: what clients hold would count as the server's.</summary>
    private const int CopiedBytes = 64 << 10;
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(30);

    private readonly MessageMutator _mutator = new(seed);
    private int _requestId;
    private byte[] _reply = new byte[CopiedBytes];

    /// <summary>Messages that the server has looked at: it answered, or closed the connection over them.</summary>
    public long Sent { get; private set; }

    /// <summary>Those of <see cref="Sent"/> whose bytes were mutated.</summary>
    public long Bytewise { get; private set; }

    /// <summary>Connections that the server closed, after bytes that were no message.</summary>
    public long Closed { get; private set; }

    public long Succeeded { get; private set; }

    /// <summary>Exceptions that the server did not mean, each with a message that caused it.</summary>
    public ConcurrentDictionary<string, string> Unexpected { get; } = [];

    /// <summary>Failed commands by their codes.</summary>
    public ConcurrentDictionary<long, long> Codes { get; } = [];

    /// <exception cref="Xunit.Sdk.XunitException">A reply that is none, one too long, or none at all to a well-formed command.</exception>
    public void Run(long messages)
    {
        Socket? socket = null;
        while (Sent < messages)
        {
            socket ??= Connect();
            if (RunBatch(socket))
                continue;
            Closed++;
            socket.Dispose();
            socket = null;
        }

        socket?.Dispose();
    }

    private Socket Connect()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream,
            ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = (int)Patience.TotalMilliseconds };
        socket.Connect(System.Net.IPAddress.Loopback, port);
        return socket;
    }

    /// <summary>Several messages and a ping, whose reply says that all are done.</summary>
    /// <returns>False when the server closed the connection.</returns>
    private bool RunBatch(Socket socket)
    {
        var bytes = new List<byte>();
        var expected = new Dictionary<int, byte[]>();
        bool isFramed = true;
        bool isWhole = _mutator.NextIsWellFormed();
        for (int i = isWhole ? WellFormedBatch : BytewiseBatch; i > 0; i--)
        {
            byte[] message = _mutator.Next(++_requestId, isWhole);
            expected.Add(_requestId, message);
            bytes.AddRange(message);
            isFramed &= BitConverter.ToInt32(message) == message.Length;
        }

        bytes.AddRange(new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(("ping", 1)), PingId).ToArray());
        try
        {
            Send(socket, [.. bytes]);
            // Else both sides would wait: the server for the rest of a message, this one for its reply.
            if (!isFramed)
                socket.Shutdown(SocketShutdown.Send);
            while (true)
            {
                ReadOnlySpan<byte> message = Receive(socket);
                if (message.IsEmpty)
                    break;
                int id = MessageHeader.Read(message).ResponseTo;
                expected.Remove(id, out byte[]? request);
                if (id != PingId)
                {
                    Count(isWhole);
                    Check(message, request ?? []);
                    continue;
                }

                Assert.True(!isWhole || expected.Count == 0, $"seed {seed}: {expected.Count} well-formed commands got no reply");
                return true;
            }
        }
        catch (SocketException error)
        {
            Assert.True(
                error.SocketErrorCode != SocketError.TimedOut, $"seed {seed}, message {Sent}: the server did not answer for {Patience}");
        }

        Count(isWhole);
        Assert.False(isWhole, $"seed {seed}, message {Sent}: the server closed the connection after well-formed commands");
        return false;
    }

    private void Count(bool isWhole)
    {
        Sent++;
        if (!isWhole)
            Bytewise++;
    }

    private void Check(ReadOnlySpan<byte> message, byte[] request)
    {
        if (MessageHeader.Read(message).OpCode != OpCode.Msg)
            return;
        ReadOnlySpan<byte> body = OpMsg.Parse(message).Body;
        try
        {
            BsonValidator.ValidateStructure(body);
        }
        catch (BsonFormatException error)
        {
            Assert.Fail($"seed {seed}: a reply that is no BSON ({error.Message}) to {Convert.ToHexString(request)}");
        }

        // Errors are short, and cursors are small.
        if (body.Length > CopiedBytes)
        {
            Succeeded++;
            return;
        }

        var reply = new BsonDocument(body.ToArray());
        Assert.NotNull(reply.FindDouble("ok"));
        if (reply.FindInt64("cursor.id") is { } cursor and not 0)
            _mutator.Remember(cursor);
        if (reply.IsTrue("ok"))
        {
            Succeeded++;
            return;
        }

        string text = reply.FindString("errmsg") ?? "";
        if (text.Contains("failed unexpectedly", StringComparison.Ordinal))
            Unexpected.TryAdd(text, Convert.ToHexString(request));
        long code = reply.FindInt64("code") ?? 0;
        Codes.AddOrUpdate(code, 1, (_, count) => count + 1);
    }

    private static void Send(Socket socket, ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
            bytes = bytes[socket.Send(bytes)..];
    }

    /// <returns>The next reply, until the one after it; empty when the server has closed the connection.</returns>
    private ReadOnlySpan<byte> Receive(Socket socket)
    {
        if (!Fill(socket, _reply.AsSpan(0, sizeof(int))))
            return default;
        int length = BitConverter.ToInt32(_reply);
        Assert.InRange(length, MessageHeader.Size, MessageHeader.MaximumMessageLength);
        if (length > _reply.Length)
            Array.Resize(ref _reply, length);
        return Fill(socket, _reply.AsSpan(sizeof(int), length - sizeof(int))) ? _reply.AsSpan(0, length) : default;
    }

    private static bool Fill(Socket socket, Span<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int received = socket.Receive(bytes);
            if (received == 0)
                return false;
            bytes = bytes[received..];
        }

        return true;
    }
}
