using System.Net.Sockets;
using System.Runtime.InteropServices;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>One connection to one server, plain or over TLS: whole messages out, whole messages in, one at a time.</summary>
/// <remarks>
/// Messages are prepared by who sends them; what was agreed on when the connection opened (compression), and what the connection string
/// asks of every operation (concerns), happens to them here.
/// One thread at a time; <see cref="Abort"/> may be called from any. After a <see cref="ConnectionFailedException"/> or a
/// <see cref="WireProtocolException"/> the connection is dead and must be disposed of; nothing is retried here.
/// </remarks>
public sealed class MongoConnection : IDisposable
{
    private const string ClosedByServer = SocketTransport.ClosedByServer;
    private const string StoppedHere = "connecting was stopped";

    /// <summary>Documents that <see cref="RunCursor"/> reads: lists of collections, shards, chunks.</summary>
    private const int MostListed = 1_000_000;

    private readonly Transport _transport;
    private readonly TimeSpan _replyTimeout;
    private readonly OpMsgWriter _commands = new();
    private byte[] _received;
    private TimeSpan _timeout;
    private int _requestId;
    private int _receivedLength;
    private bool _lastWasCompressed;
    private long _messageBytesSent;
    private long _messageBytesReceived;
    private int _sentId;
    private CancellationTokenRegistration _stop;
    private MessageCompression? _compression;
    private OperationDefaults? _loadDefaults;
    private OperationDefaults? _housekeepingDefaults;

    private MongoConnection(ServerAddress address, Transport transport, ConnectionSettings settings)
    {
        Address = address;
        _transport = transport;
        _replyTimeout = settings.ReplyTimeout;
        Dialect = settings.Dialect;
        _received = new byte[settings.ReceiveBufferBytes];
        _housekeepingDefaults = OperationDefaults.ForHandshake(settings);
    }

    public ServerAddress Address { get; }

    /// <summary>The time for a reply to begin, and once more for the rest of it; zero waits for ever.</summary>
    public TimeSpan ReplyTimeout => _replyTimeout;

    /// <summary>How commands are named there: for messages that are written by hand.</summary>
    public CommandDialect Dialect { get; }

    /// <summary>The message that the last <see cref="Receive"/> brought.</summary>
    public ReadOnlySpan<byte> LastReceived => _lastWasCompressed ? _compression!.LastUnpacked : _received.AsSpan(0, _receivedLength);

    /// <summary>The compressor that was agreed on; null when none was.</summary>
    public string? CompressorName => _compression?.Name;

    /// <summary>May be read from any thread; the four numbers are then of nearly the same moment.</summary>
    public TrafficCounters Traffic =>
        new(Volatile.Read(ref _messageBytesSent), _transport.BytesSent, Volatile.Read(ref _messageBytesReceived), _transport.BytesReceived);

    /// <summary>What the server said when the connection opened.</summary>
    public HelloReply Server { get; private set; } = new(BsonDocument.Empty);

    /// <summary>
    /// The server that answers: where it was connected to, behind a load balancer with the mongos that the connection led to.
    /// </summary>
    public string Member => field ??= Server.ServiceId is { } service ? $"{Address} (mongos {service})" : Address.ToString();

    /// <summary>Connects, agrees on TLS and compression, and logs in, as the settings ask.</summary>
    /// <exception cref="ConnectionFailedException">
    /// Not reachable, or it closed at once; <see cref="TlsFailedException"/>, <see cref="AuthenticationFailedException"/> and
    /// <see cref="WrongReplicaSetException"/> say what else.
    /// </exception>
    /// <exception cref="WireProtocolException">What answers is no MongoDB server.</exception>
    /// <exception cref="ServerTooOldException">Older than MongoDB 3.6.</exception>
    public static MongoConnection Open(ServerAddress address, ConnectionSettings settings)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(settings.Stop);
        if (settings.ConnectTimeout > TimeSpan.Zero)
            limit.CancelAfter(settings.ConnectTimeout);
        try
        {
            return Open(address, settings, limit);
        }
        catch (Exception e) when (limit.IsCancellationRequested && e is IOException or SocketException or OperationCanceledException)
        {
            string what = settings.Stop.IsCancellationRequested ? StoppedHere : SocketTransport.NoAnswer(settings.ConnectTimeout);
            throw new ConnectionFailedException(address, what, e);
        }
    }

    /// <summary>Leads to no server: each command gets this reply. For code that is to have run before it is measured.</summary>
    public static MongoConnection ToNowhere(ServerAddress address, BsonDocument reply) =>
        new(address, new RepeatingTransport(reply.Memory.Span), ConnectionSettings.Default);

    /// <summary>
    /// Sends a finished message as it is, but for what the connection string asks of every operation, and compressed where
    /// that was agreed on.
    /// </summary>
    /// <exception cref="ConnectionFailedException">The connection broke; the message may have arrived in part.</exception>
    public void Send(ReadOnlySpan<byte> message) => SendAsIs(_loadDefaults is null ? message : _loadDefaults.Apply(message));

    /// <summary>Waits for one whole message.</summary>
    /// <returns>The message with its header, in the receive buffer: valid until the next call.</returns>
    /// <exception cref="ConnectionFailedException">The connection broke, or no reply came in time.</exception>
    /// <exception cref="WireProtocolException">
    /// The reply's length is out of bounds, it answers something else, or announces that more will come unasked.
    /// </exception>
    public ReadOnlySpan<byte> Receive()
    {
        _transport.ExpectMessage();
        // Mostly one read brings the whole reply: nothing else is on its way, since one request is out at a time.
        int got = ReceiveSome(0);
        while (got < 4)
            got += ReceiveSome(got);
        int length = MemoryMarshal.Read<int>(_received);
        if (length is < MessageHeader.Size or > MessageHeader.MaximumMessageLength)
            ThrowLength(length);
        if (length > _received.Length)
            Array.Resize(ref _received, MessageHeader.RoomFor(length));
        while (got < length)
            got += ReceiveSome(got);
        if (got > length)
            throw new WireProtocolException($"{Address}: {got - length} bytes follow a reply of {length} bytes (connection closed)");
        _receivedLength = length;
        ReadOnlySpan<byte> message = _received.AsSpan(0, length);
        _lastWasCompressed = false;
        if (MessageCompression.IsCompressed(message))
            message = Unpack(message);
        _messageBytesReceived += message.Length;
        RequireAnswer(message);
        return message;
    }

    /// <summary>Sends a message and waits for its reply.</summary>
    public ReadOnlySpan<byte> RoundTrip(ReadOnlySpan<byte> message)
    {
        Send(message);
        return Receive();
    }

    /// <summary>Does the same as <see cref="RoundTrip"/> for commands that may take longer than a reply otherwise may.</summary>
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

    /// <summary>Does the same as <see cref="RunCommand"/>, but the caller looks at ok, writeErrors and writeConcernError.</summary>
    public BsonDocument RunUnchecked(string database, BsonDocument command)
    {
        ReadOnlySpan<byte> message = _commands.WriteCommand(database, Dialect.Translate(command), ++_requestId);
        SendAsIs(_housekeepingDefaults is null ? message : _housekeepingDefaults.Apply(message));
        return Dialect.ReadReply(command, new BsonDocument(OpMsg.Parse(Receive()).Body.ToArray()));
    }

    /// <summary>
    /// Does the same as <see cref="RunCommand"/> for commands that may take longer than a reply otherwise may (index builds, say).
    /// </summary>
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
    /// <exception cref="WireProtocolException">It does not come to its end in time, or within the memory of this machine.</exception>
    public IEnumerable<BsonDocument> RunCursor(string database, BsonDocument command)
    {
        BsonDocument cursor = RequireCursor(RunCommand(database, command));
        var guard = new CursorGuard(this, MostListed);
        string batchName = "firstBatch";
        while (true)
        {
            int documents = 0;
            foreach ((_, BsonValue item) in cursor.FindDocument(batchName) ?? BsonDocument.Empty)
            {
                documents++;
                yield return item.ToDocument();
            }

            long id = cursor.FindInt64("id") ?? 0;
            if (id == 0)
                yield break;
            guard.AskForMore(documents);
            string ns = cursor.FindString("ns") ?? "";
            string collection = ns[(ns.IndexOf('.', StringComparison.Ordinal) + 1)..];
            cursor = RequireCursor(RunCommand(database, BsonDocument.Of(("getMore", id), ("collection", collection))));
            batchName = "nextBatch";
        }
    }

    /// <summary>Breaks the connection, so that a thread that waits on it wakes with a <see cref="ConnectionFailedException"/>.</summary>
    public void Abort() => _transport.Abort();

    public void Dispose()
    {
        _stop.Dispose();
        _transport.Dispose();
        _compression?.Dispose();
    }

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

    private static MongoConnection Open(ServerAddress address, ConnectionSettings settings, CancellationTokenSource limit)
    {
        SocketTransport socket = SocketTransport.Connect(address, settings.ConnectTimeout, limit.Token);
        using CancellationTokenRegistration abort = limit.Token.UnsafeRegister(static socket => ((SocketTransport)socket!).Abort(), socket);
        var connection = new MongoConnection(address, Secure(address, socket, settings, limit), settings);
        try
        {
            connection.SetTimeout(settings.ConnectTimeout);
            connection.Server = new Handshake(connection, settings).Run();
            connection.Agree(settings);
            connection.SetTimeout(settings.ReplyTimeout);
            connection.BreakAt(settings.Stop);
            return connection;
        }
        catch (Exception e)
        {
            connection.Dispose();
            if (limit.IsCancellationRequested)
                throw;
            // Looking for the reason is not to be taken for it.
            limit.CancelAfter(Timeout.InfiniteTimeSpan);
            if (e is ConnectionFailedException { What: ClosedByServer } && connection._messageBytesReceived == 0
                && EncryptionProbe.ExplainSilence(address, settings) is { } why)
                throw new TlsFailedException(address, why, e);
            throw;
        }
    }

    /// <exception cref="ConnectionFailedException">No TLS.</exception>
    private static Transport Secure(
        ServerAddress address, SocketTransport socket, ConnectionSettings settings, CancellationTokenSource limit)
    {
        if (settings.Tls is null)
            return socket;
        try
        {
            return TlsTransport.Open(address, socket, settings.Tls);
        }
        catch (Exception e) when (e is SocketException or IOException and not ConnectionFailedException && !limit.IsCancellationRequested)
        {
            limit.CancelAfter(Timeout.InfiniteTimeSpan);
            string what = Explain(e, settings.ConnectTimeout);
            throw new TlsFailedException(address, EncryptionProbe.ExplainNoTls(address, settings) ?? $"no TLS: {what}", e);
        }
    }

    private void BreakAt(CancellationToken stop) =>
        _stop = stop.UnsafeRegister(static connection => ((MongoConnection)connection!).Abort(), this);

    /// <summary>What holds for all later messages.</summary>
    private void Agree(ConnectionSettings settings)
    {
        // The first of the client's own that the server has too. Source: OP_COMPRESSED.md, "negotiation".
        string[] offered = [.. (Server.Document.FindDocument("compression") ?? BsonDocument.Empty).Select(name => name.Value.ToString())];
        if (settings.CompressorNames.FirstOrDefault(offered.Contains) is { } name)
            _compression = new MessageCompression(Compressors.Create(name, settings.ZlibLevel));
        _loadDefaults = OperationDefaults.ForLoad(settings, Server);
        _housekeepingDefaults = OperationDefaults.ForHousekeeping(settings, Server);
    }

    private void SendAsIs(ReadOnlySpan<byte> message)
    {
        _messageBytesSent += message.Length;
        _sentId = MessageHeader.Read(message).RequestId;
        if (_compression is not null && MessageCompression.MayCompress(message))
            message = _compression.Pack(message);
        try
        {
            _transport.Send(message);
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            throw Broken(e);
        }
        catch (ObjectDisposedException e)
        {
            throw new ConnectionFailedException(Address, "connection was closed by MongoPerf", e);
        }
    }

    private ReadOnlySpan<byte> Unpack(ReadOnlySpan<byte> message)
    {
        if (_compression is null)
            throw new WireProtocolException($"{Address}: a compressed reply, though no compression was agreed on (connection closed)");
        message = _compression.Unpack(message);
        _lastWasCompressed = true;
        return message;
    }

    /// <summary>
    /// Requires that a reply answers what was sent last, and that no other message follows it, which would never have been asked for.
    /// </summary>
    private void RequireAnswer(ReadOnlySpan<byte> message)
    {
        MessageHeader header = MessageHeader.Read(message);
        if (header.ResponseTo != _sentId)
            throw new WireProtocolException(
                $"{Address}: reply to request {header.ResponseTo}, request {_sentId} was sent (connection closed)");
        if (header.OpCode == OpCode.Msg && message.Length >= MessageHeader.Size + sizeof(int)
            && (OpMsg.ReadFlags(message) & OpMsgFlags.MoreToCome) != 0)
            throw new WireProtocolException($"{Address}: the reply announces more replies than were asked for (connection closed)");
    }

    private int ReceiveSome(int at)
    {
        int count;
        try
        {
            count = _transport.Receive(_received.AsSpan(at));
        }
        // While a connection opens, less time than a reply has was too short: that is told below.
        catch (Exception e) when (at > 0 && (_timeout == TimeSpan.Zero || _timeout >= _replyTimeout)
            && FindSocketError(e) is { SocketErrorCode: SocketError.TimedOut or SocketError.WouldBlock })
        {
            throw new ConnectionFailedException(
                Address, $"only {at:N0} bytes of a reply came within {_replyTimeout.TotalSeconds:0.###} s", e);
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            throw Broken(e);
        }
        catch (ObjectDisposedException e)
        {
            throw new ConnectionFailedException(Address, "connection was closed by MongoPerf", e);
        }

        if (count == 0)
            throw new ConnectionFailedException(Address, ClosedByServer);
        return count;
    }

    private ConnectionFailedException Broken(Exception e) => e is IOException && FindSocketError(e) is null
        ? new TlsFailedException(Address, TlsTransport.Explain(e), e)
        : new ConnectionFailedException(Address, Explain(e, _timeout), e);

    /// <summary>Says in plain words what went wrong on a socket, or on TLS over it.</summary>
    private static string Explain(Exception e, TimeSpan timeout) =>
        FindSocketError(e) is { } error ? SocketTransport.Explain(error, timeout) : TlsTransport.Explain(e);

    private static SocketException? FindSocketError(Exception e) =>
        e as SocketException ?? e.InnerException as SocketException ?? e.GetBaseException() as SocketException;

    private void SetTimeout(TimeSpan timeout)
    {
        _timeout = timeout;
        _transport.SetTimeouts(timeout, _replyTimeout);
    }

    private void ThrowLength(int length)
    {
        // An HTTP server's "HTTP" reads as a length of 1,347,703,880.
        throw new WireProtocolException(length == 0x50545448
            ? $"{Address}: an HTTP server answers there (connection closed)"
            : $"{Address}: reply declares {length} bytes; allowed: "
                + $"{MessageHeader.Size} to {MessageHeader.MaximumMessageLength} (connection closed)");
    }
}

/// <summary>The server speaks no OP_MSG.</summary>
public sealed class ServerTooOldException(ServerAddress server, int maxWireVersion)
    : MongoPerfException(
        Fault.CannotConnect, $"{server}: the server's wire version is {maxWireVersion}, at least 6 (MongoDB 3.6) is needed")
{
    public int MaxWireVersion { get; } = maxWireVersion;
}
