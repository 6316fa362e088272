using System.Net.Sockets;
using System.Runtime.InteropServices;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>One TCP connection to one server: whole messages out, whole messages in, one at a time.</summary>
/// <remarks>
/// One thread at a time; <see cref="Abort"/> may be called from any. After a <see cref="ConnectionFailedException"/> or a
/// <see cref="WireProtocolException"/> the connection is dead and must be disposed of; nothing is retried here.
/// </remarks>
public sealed class MongoConnection : IDisposable
{
    private const int MinimumWireVersion = 6;

    private readonly SocketTransport _transport;
    private readonly TimeSpan _replyTimeout;
    private readonly OpMsgWriter _commands = new();
    private byte[] _received;
    private TimeSpan _timeout;
    private int _requestId;
    private int _receivedLength;

    private MongoConnection(ServerAddress address, SocketTransport transport, ConnectionSettings settings)
    {
        Address = address;
        _transport = transport;
        _replyTimeout = settings.ReplyTimeout;
        Dialect = settings.Dialect;
        _received = new byte[settings.ReceiveBufferBytes];
    }

    public ServerAddress Address { get; }

    /// <summary>How commands are named there: for messages that are written by hand.</summary>
    public CommandDialect Dialect { get; }

    /// <summary>The message that the last <see cref="Receive"/> brought.</summary>
    public ReadOnlySpan<byte> LastReceived => _received.AsSpan(0, _receivedLength);

    /// <summary>What the server said when the connection opened.</summary>
    public HelloReply Server { get; private set; } = new(BsonDocument.Empty);

    /// <summary>Connects and shakes hands.</summary>
    /// <exception cref="ConnectionFailedException">Not reachable, or it closed at once.</exception>
    /// <exception cref="WireProtocolException">What answers is no MongoDB server.</exception>
    /// <exception cref="ServerTooOldException">Older than MongoDB 3.6.</exception>
    public static MongoConnection Open(ServerAddress address, ConnectionSettings settings)
    {
        SocketTransport transport = SocketTransport.Connect(address, settings.ConnectTimeout);
        var connection = new MongoConnection(address, transport, settings);
        try
        {
            connection.SetTimeout(settings.ConnectTimeout);
            connection.ShakeHands(settings);
            connection.SetTimeout(settings.ReplyTimeout);
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    /// <summary>Sends a finished message as it is.</summary>
    /// <exception cref="ConnectionFailedException">The connection broke; the message may have arrived in part.</exception>
    public void Send(ReadOnlySpan<byte> message)
    {
        try
        {
            _transport.Send(message);
        }
        catch (SocketException e)
        {
            throw Broken(e);
        }
        catch (ObjectDisposedException e)
        {
            throw new ConnectionFailedException(Address, "connection was closed here", e);
        }
    }

    /// <summary>Waits for one whole message.</summary>
    /// <returns>The message with its header, in the receive buffer: valid until the next call.</returns>
    /// <exception cref="ConnectionFailedException">The connection broke, or no reply came in time.</exception>
    /// <exception cref="WireProtocolException">The reply's length is out of bounds.</exception>
    public ReadOnlySpan<byte> Receive()
    {
        // Mostly one read brings the whole reply: nothing else is on its way, since one request is out at a time.
        int got = ReceiveSome(0);
        while (got < 4)
            got += ReceiveSome(got);
        int length = MemoryMarshal.Read<int>(_received);
        if (length is < MessageHeader.Size or > MessageHeader.MaximumMessageLength)
            ThrowLength(length);
        if (length > _received.Length)
            Array.Resize(ref _received, RoundUp(length));
        while (got < length)
            got += ReceiveSome(got);
        if (got > length)
            throw new WireProtocolException($"{Address}: {got - length} bytes follow a reply of {length} bytes (connection closed)");
        _receivedLength = length;
        return _received.AsSpan(0, length);
    }

    /// <summary>Sends a message and waits for its reply.</summary>
    public ReadOnlySpan<byte> RoundTrip(ReadOnlySpan<byte> message)
    {
        Send(message);
        return Receive();
    }

    /// <summary>As <see cref="RoundTrip"/>, for commands that may take longer than a reply otherwise may.</summary>
    public ReadOnlySpan<byte> RoundTripWithoutTimeout(ReadOnlySpan<byte> message)
    {
        SetTimeout(TimeSpan.Zero);
        try
        {
            return RoundTrip(message);
        }
        finally
        {
            SetTimeout(_replyTimeout);
        }
    }

    /// <summary>Runs a command that is not measured.</summary>
    /// <returns>A copy of the reply.</returns>
    /// <exception cref="ServerCommandException">The server refused it, or a write error or write-concern error came back.</exception>
    public BsonDocument RunCommand(string database, BsonDocument command)
    {
        BsonDocument reply = RunUnchecked(database, command);
        ThrowIfFailed(command.First().Key, reply);
        return reply;
    }

    /// <summary>As <see cref="RunCommand"/>, but the caller looks at ok, writeErrors and writeConcernError.</summary>
    public BsonDocument RunUnchecked(string database, BsonDocument command)
    {
        ReadOnlySpan<byte> message = _commands.WriteCommand(database, Dialect.Translate(command), ++_requestId);
        return Dialect.ReadReply(command, new BsonDocument(OpMsg.Parse(RoundTrip(message)).Body.ToArray()));
    }

    /// <summary>As <see cref="RunCommand"/>, for commands that may take longer than a reply otherwise may (index builds, say).</summary>
    public BsonDocument RunLongCommand(string database, BsonDocument command)
    {
        SetTimeout(TimeSpan.Zero);
        try
        {
            return RunCommand(database, command);
        }
        finally
        {
            SetTimeout(_replyTimeout);
        }
    }

    /// <summary>Runs a find, aggregate or list command and reads its cursor to the end.</summary>
    public IEnumerable<BsonDocument> RunCursor(string database, BsonDocument command)
    {
        BsonDocument cursor = RequireCursor(RunCommand(database, command));
        string batchName = "firstBatch";
        while (true)
        {
            foreach ((_, BsonValue item) in cursor.FindDocument(batchName) ?? BsonDocument.Empty)
                yield return item.ToDocument();
            long id = cursor.FindInt64("id") ?? 0;
            if (id == 0)
                yield break;
            string ns = cursor.FindString("ns") ?? "";
            string collection = ns[(ns.IndexOf('.', StringComparison.Ordinal) + 1)..];
            cursor = RequireCursor(RunCommand(database, BsonDocument.Of(("getMore", id), ("collection", collection))));
            batchName = "nextBatch";
        }
    }

    /// <summary>Breaks the connection, so that a thread that waits on it wakes with a <see cref="ConnectionFailedException"/>.</summary>
    public void Abort() => _transport.Abort();

    public void Dispose() => _transport.Dispose();

    internal static void ThrowIfFailed(string command, BsonDocument reply)
    {
        if (!reply.IsTrue("ok"))
            throw new ServerCommandException(command, ServerError.From(reply));
        if (reply.FindDocument("writeErrors.0") is { } writeError)
            throw new ServerCommandException(command, ServerError.From(writeError));
        if (reply.FindDocument("writeConcernError") is { } concernError)
            throw new ServerCommandException(command, ServerError.From(concernError));
    }

    private static BsonDocument RequireCursor(BsonDocument reply) =>
        reply.FindDocument("cursor") ?? throw new WireProtocolException("the reply has no cursor");

    private void ShakeHands(ConnectionSettings settings)
    {
        // isMaster is what every version since 3.6 answers over OP_MSG; hello came with 4.4.2 and 5.0.
        BsonDocument reply = RunCommand("admin", BsonDocument.Of(
            ("isMaster", 1),
            ("helloOk", true),
            ("client", BsonDocument.Of(
                ("application", BsonDocument.Of(("name", settings.ApplicationName))),
                ("driver", BsonDocument.Of(("name", "mongoperf"), ("version", ProgramVersion))),
                ("os", BsonDocument.Of(("type", Environment.OSVersion.Platform.ToString())))))));
        Server = new HelloReply(reply);
        if (Server.MaxWireVersion < MinimumWireVersion)
            throw new ServerTooOldException(Address, Server.MaxWireVersion);
    }

    private static string ProgramVersion => typeof(MongoConnection).Assembly.GetName().Version?.ToString(3) ?? "0";

    private int ReceiveSome(int at)
    {
        int count;
        try
        {
            count = _transport.Receive(_received.AsSpan(at));
        }
        catch (SocketException e)
        {
            throw Broken(e);
        }
        catch (ObjectDisposedException e)
        {
            throw new ConnectionFailedException(Address, "connection was closed here", e);
        }

        if (count == 0)
            throw new ConnectionFailedException(Address, "connection closed by the server");
        return count;
    }

    private ConnectionFailedException Broken(SocketException e) => new(Address, SocketTransport.Explain(e, _timeout), e);

    private void SetTimeout(TimeSpan timeout)
    {
        _timeout = timeout;
        _transport.SetTimeout(timeout);
    }

    private void ThrowLength(int length)
    {
        // An HTTP server's "HTTP" reads as a length of 1,347,703,880.
        string hint = length == 0x50545448 ? ": an HTTP server answers there" : "";
        throw new WireProtocolException(
            $"{Address}: reply declares {length} bytes, allowed are {MessageHeader.Size} to {MessageHeader.MaximumMessageLength}{hint} (connection closed)");
    }

    private static int RoundUp(int length) => (length + 0xFFFF) & ~0xFFFF;
}

/// <summary>The server speaks no OP_MSG.</summary>
public sealed class ServerTooOldException(ServerAddress server, int maxWireVersion)
    : Exception($"{server}: the server's wire version is {maxWireVersion}, at least 6 (MongoDB 3.6) is needed")
{
    public int MaxWireVersion { get; } = maxWireVersion;
}
