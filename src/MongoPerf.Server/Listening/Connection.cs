using System.Buffers.Binary;
using System.Net.Security;
using System.Net.Sockets;
using MongoPerf.Platforms;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Server.Listening;

/// <summary>One client: reads whole messages, has them handled, sends the replies, in order. Its own thread, but for the closing.</summary>
/// <remarks>What breaks the framing closes the connection without a word, as mongod does.</remarks>
internal sealed class Connection : IDisposable
{
    // A command that takes longer than this is watched: it need not be finished when its client goes away.
    private const int WatchedAfterMilliseconds = 100;

    // A message that is under way holds memory that others may wait for.
    private static readonly TimeSpan MessagePatience = TimeSpan.FromSeconds(30);

    // A larger buffer is given back with its message, a smaller one after this many small messages.
    private const int KeptBufferBytes = 4 << 20;
    private const int SmallMessagesBeforeShrinking = 1000;

    // "GET " as an int32: a browser, or a health check that does not know what it asks.
    private const int HttpGet = 0x20544547;

    private static readonly byte[] HttpAnswer =
    [
        .. "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 85\r\n\r\n"u8,
        .. "It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n"u8,
    ];

    /// <summary>Bytes of a message from a client that has not logged in: what the first buffer holds. A hello has some hundred.</summary>
    internal const int LongestOfNewcomer = ReceiveBuffer.FirstBytes;

    /// <summary>The error code for opcodes that no server since 5.1 takes.</summary>
    private const int RemovedOpCode = 5739101;

    private readonly ReplyWriter _reply = new();
    private readonly Socket _socket;
    private readonly NetworkCounters _counters;
    private readonly ByteBudget _budget;
    private readonly HeapReturn _heap;
    private readonly ReceiveBuffer _buffer;
    private volatile ICommandSession? _session;
    private SslStream? _tls;
    private long _heardAt = Environment.TickCount64;
    private long _handlingSince;
    private int _start;
    private int _end;
    private int _smallMessages;
    private int _nextReplyId = 1;

    public Connection(Socket socket, int id, NetworkCounters counters, ByteBudget budget, HeapReturn heap)
    {
        (_socket, Id, _counters, _budget, _heap) = (socket, id, counters, budget, heap);
        _buffer = new ReceiveBuffer(budget);
    }

    public int Id { get; }

    /// <summary>
    /// Environment.TickCount64 when the client was last heard before it had logged in: at first when it came, then its whole
    /// messages. Any thread.
    /// </summary>
    public long HeardAt => Volatile.Read(ref _heardAt);

    /// <summary>The client has sent a whole message. Any thread.</summary>
    public bool HasSpoken { get => Volatile.Read(ref field); private set => Volatile.Write(ref field, value); }

    /// <summary>Agrees on TLS; all that follows is encrypted. Waits for the client, until <see cref="Abort"/>.</summary>
    /// <exception cref="System.Security.Authentication.AuthenticationException">
    /// The client speaks no TLS, or its certificate is not to be trusted.
    /// </exception>
    /// <exception cref="IOException">The connection broke.</exception>
    public void Encrypt(ServerTls tls)
    {
        _tls = new SslStream(new NetworkStream(_socket, ownsSocket: false));
        _tls.AuthenticateAsServer(tls.Options);
    }

    /// <summary>Runs until the client goes away, breaks the protocol, or <see cref="StopReading"/>.</summary>
    /// <param name="session">Carries out the commands.</param>
    /// <param name="welcome">Called once, when the client has shown that it may be here.</param>
    public void Serve(ICommandSession session, Action? welcome = null)
    {
        _session = session;
        while (!session.IsTrusted)
        {
            if (!TryServeMessage(session, LongestOfNewcomer))
                return;
            HasSpoken = true;
            Volatile.Write(ref _heardAt, Environment.TickCount64);
        }

        welcome?.Invoke();
        while (TryServeMessage(session, MessageHeader.MaximumMessageLength))
        {
        }
    }

    /// <summary>Tells the session when its client has gone away while it works. Any thread.</summary>
    public void Watch()
    {
        long since = Volatile.Read(ref _handlingSince);
        if (since == 0 || Environment.TickCount64 - since < WatchedAfterMilliseconds)
            return;
        try
        {
            if (IsClosedByClient())
                _session?.ClientLeft();
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            _session?.ClientLeft();
        }
    }

    /// <summary>The present command is finished and answered; no further one is read. Any thread.</summary>
    public void StopReading()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Receive);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Already gone.
        }
    }

    /// <summary>Breaks what waits on the socket. Any thread.</summary>
    public void Abort() => _socket.Dispose();

    /// <summary>Is disposed of by its own thread, at its end.</summary>
    public void Dispose()
    {
        Abort();
        _tls?.Dispose();
        _buffer.Dispose();
    }

    /// <summary>Handles the next message.</summary>
    /// <returns>False when the connection is at its end.</returns>
    private bool TryServeMessage(ICommandSession session, int longest)
    {
        if (!TryReceive(MessageHeader.Size))
            return false;
        MessageHeader header = MessageHeader.Read(_buffer.Span[_start..]);
        if (header.Length == HttpGet)
        {
            Send(HttpAnswer);
            return false;
        }

        if (header.Length < MessageHeader.Size || header.Length > longest || !TryReceiveRest(header.Length))
            return false;
        Volatile.Write(ref _handlingSince, Environment.TickCount64);
        bool continues = Answer(header, _buffer.Span.Slice(_start, header.Length), session);
        Volatile.Write(ref _handlingSince, 0);
        if (continues)
            Consume(header.Length);
        return continues;
    }

    private bool IsClosedByClient()
    {
        // One question to the system: closed (CLOSE_WAIT) or reset (CLOSE). Between "has something come" and "is nothing left to
        // read", this connection's thread could read the next command; and nobody reads on behind a TLS client's farewell.
        // Elsewhere than on Linux nobody can be asked, and the command goes on to its end. Source: tcp(7), TCP_INFO.
        const int Tcp = 6, Information = 11, Established = 1;
        Span<byte> state = stackalloc byte[1];
        return Platform.IsLinux && _socket.GetRawSocketOption(Tcp, Information, state) == 1 && state[0] != Established;
    }

    private bool Answer(MessageHeader header, ReadOnlySpan<byte> message, ICommandSession session)
    {
        switch (header.OpCode)
        {
            case OpCode.Msg:
                return HasValidChecksum(message) && AnswerMessage(header, message, session);
            case OpCode.Query:
                AnswerQuery(header, OpQuery.Parse(message), session);
                return Finish(header, wantsReply: true);
            case OpCode.GetMore when message.Length > MessageHeader.Size + sizeof(int):
                _reply.BeginLegacyReply(_nextReplyId++, header.RequestId);
                _reply.FailQuery(RemovedOpCode, "OP_GET_MORE is no longer supported. The client driver may require an upgrade.");
                return Finish(header, wantsReply: true);
            default:
                return false;
        }
    }

    /// <summary>
    /// Answers once, or, where the client allows it and a cursor has more, again and again until the cursor is at its end.
    /// </summary>
    private bool AnswerMessage(MessageHeader header, ReadOnlySpan<byte> message, ICommandSession session)
    {
        int responseTo = header.RequestId;
        while (true)
        {
            int id = _nextReplyId++;
            _reply.BeginMessage(id, responseTo);
            bool wantsReply = (message[MessageHeader.Size] & (byte)OpMsgFlags.MoreToCome) == 0;
            bool isExhaust = false;
            try
            {
                OpMsg parsed = OpMsg.Parse(message);
                isExhaust = wantsReply && (parsed.Flags & OpMsgFlags.ExhaustAllowed) != 0;
                session.Handle(new CommandRequest(parsed.Body, parsed.Sequences, wantsReply, isLegacyQuery: false), _reply);
            }
            catch (WireProtocolException error) when (error.Code != 0)
            {
                _reply.Fail(
                    error.Code, error.Code switch { 22 => "InvalidBSON", 15 => "Overflow", _ => $"Location{error.Code}" }, error.Message);
            }
            catch (BsonFormatException error)
            {
                _reply.Fail(22, "InvalidBSON", error.Message);
            }

            bool continues = isExhaust && _reply.HasMore;
            if (continues)
                _reply.AnnounceMore();
            if (!Finish(header, wantsReply))
                return false;
            if (!continues)
                return true;
            responseTo = id;
        }
    }

    /// <summary>A handshake is all that may still come so; the rest is refused as mongod does it, where drivers look for it.</summary>
    private void AnswerQuery(MessageHeader header, OpQuery query, ICommandSession session)
    {
        _reply.BeginLegacyReply(_nextReplyId++, header.RequestId);
        try
        {
            if (!query.IsCommand)
                _reply.FailQuery(RemovedOpCode, "OP_QUERY is no longer supported. The client driver may require an upgrade.");
            else if (query.IsExhaust)
                _reply.Fail(18527, "Location18527", "The 'exhaust' OP_QUERY flag is invalid for commands");
            else if (query.NumberToReturn is not (1 or -1))
                _reply.Fail(16979, "Location16979", $"Bad numberToReturn ({query.NumberToReturn}) for $cmd type ns - can only be 1 or -1");
            else
                session.Handle(new CommandRequest(query.Command, default, wantsReply: true, isLegacyQuery: true, query.Database), _reply);
        }
        catch (BsonFormatException error)
        {
            _reply.Fail(22, "InvalidBSON", error.Message);
        }
    }

    private bool Finish(MessageHeader header, bool wantsReply)
    {
        ReadOnlySpan<byte> bytes = wantsReply ? _reply.Finish() : default;
        _counters.Count(header.Length, bytes.Length);
        Send(bytes);
        _heap.Note(Math.Max(header.Length, bytes.Length));
        _reply.Trim();
        return !_reply.CloseAfterwards;
    }

    private void Send(ReadOnlySpan<byte> bytes)
    {
        if (_tls is not null)
        {
            _tls.Write(bytes);
            return;
        }

        while (!bytes.IsEmpty)
            bytes = bytes[_socket.Send(bytes)..];
    }

    private int Receive(Span<byte> into) => _tls is null ? _socket.Receive(into, SocketFlags.None) : _tls.Read(into);

    /// <summary>Makes sure that <paramref name="count"/> bytes lie at <see cref="_start"/>.</summary>
    /// <returns>False when the client has closed before they came.</returns>
    private bool TryReceive(int count, long deadline = long.MaxValue)
    {
        if (_end - _start >= count)
            return true;
        if (!TryMakeRoom(count))
            return false;
        while (_end - _start < count)
        {
            if (Environment.TickCount64 > deadline)
                return false;
            int received = Receive(_buffer.Span[_end..]);
            if (received == 0)
                return false;
            _end += received;
        }

        return true;
    }

    /// <summary>
    /// Does the same as <see cref="TryReceive"/>; a message that is larger than the buffer has to come at a megabyte a second, since others
    /// may wait for its memory.
    /// </summary>
    private bool TryReceiveRest(int count)
    {
        const int LeastBytesPerMillisecond = 1000;
        if (count <= _buffer.Length)
            return TryReceive(count);
        int milliseconds = (int)MessagePatience.TotalMilliseconds + (count / LeastBytesPerMillisecond);
        _socket.ReceiveTimeout = milliseconds;
        bool received = TryReceive(count, Environment.TickCount64 + milliseconds);
        _socket.ReceiveTimeout = 0;
        return received;
    }

    private bool TryMakeRoom(int count)
    {
        if (_start > 0)
            _buffer.Span[_start.._end].CopyTo(_buffer.Span);
        _end -= _start;
        _start = 0;
        return count <= _buffer.Length
            || _buffer.TryGrow((int)Math.Max(count, Math.Min(2L * _buffer.Length, KeptBufferBytes)), _end, MessagePatience);
    }

    private void Consume(int count)
    {
        _start += count;
        if (_start != _end)
            return;
        _start = _end = 0;
        _smallMessages = count < _buffer.Length / 4 ? _smallMessages + 1 : 0;
        if (_buffer.Length <= KeptBufferBytes && _smallMessages < SmallMessagesBeforeShrinking && !_budget.IsScarce)
            return;
        _buffer.Shrink();
        _smallMessages = 0;
    }

    /// <summary>CRC-32C over the whole message without its last 4 bytes; mongod checks it, so does this.</summary>
    private static bool HasValidChecksum(ReadOnlySpan<byte> message)
    {
        if (message.Length < MessageHeader.Size + 4)
            return false;
        if ((message[MessageHeader.Size] & (byte)OpMsgFlags.ChecksumPresent) == 0)
            return true;
        if (message.Length < MessageHeader.Size + 8)
            return false;
        uint sum = 0xFFFFFFFF;
        foreach (byte value in message[..^4])
            sum = System.Numerics.BitOperations.Crc32C(sum, value);
        return ~sum == BinaryPrimitives.ReadUInt32LittleEndian(message[^4..]);
    }
}
