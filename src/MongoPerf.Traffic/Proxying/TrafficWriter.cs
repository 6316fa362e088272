using System.Buffers.Binary;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Redacting;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Proxying;

/// <summary>Puts messages together from what connections sent, and writes those that a replay needs. One thread.</summary>
internal sealed class TrafficWriter : IDisposable
{
    /// <summary>Of all messages that have not come whole yet, bytes.</summary>
    private const long MostBegun = 512L << 20;

    /// <summary>Requests of a connection whose replies have not come; in a capture of one direction none ever does.</summary>
    private const int MostWaiting = 100_000;

    private readonly Stream _file;
    private readonly Redactor? _redactor;
    private readonly Dictionary<long, Client> _clients = [];
    private readonly MessageUnpacker _unpacker = new();
    private byte[] _record = new byte[1 << 16];
    private long _begun;

    /// <param name="file">Empty; this disposes of it.</param>
    /// <param name="redacts">Values are replaced by pseudonyms.</param>
    public TrafficWriter(Stream file, bool redacts)
    {
        _redactor = redacts ? new Redactor() : null;
        _file = new BufferedStream(file, 1 << 20);
        _file.Write(RecordingFile.Magic);
        Bytes = RecordingFile.Magic.Length;
    }

    public long Requests { get; private set; }

    public long Bytes { get; private set; }

    /// <inheritdoc cref="TrafficRecorder.Unreadable"/>
    public long Unreadable { get; private set; }

    /// <inheritdoc cref="TrafficRecorder.Unredactable"/>
    public long Unredactable { get; private set; }

    /// <inheritdoc cref="TrafficRecorder.Legacy"/>
    public long Legacy { get; private set; }

    /// <summary>Adds what one side of a connection has sent, in any pieces.</summary>
    /// <exception cref="IOException">It can't be written.</exception>
    /// <exception cref="InsufficientMemoryException">More messages have begun than there is room for.</exception>
    public void Add(long connection, bool isRequest, long microseconds, ReadOnlySpan<byte> bytes)
    {
        if (!_clients.TryGetValue(connection, out Client? client))
            _clients[connection] = client = new Client();
        if (client.IsUnreadable)
            return;
        Begun side = isRequest ? client.Requests : client.Replies;
        while (bytes.Length > 0)
        {
            // Mostly a piece is a message.
            if (side.IsEmpty && TryTakeMessage(ref bytes, out ReadOnlySpan<byte> whole))
            {
                WriteMessage(client, connection, isRequest, microseconds, whole);
                continue;
            }

            int taken = side.Add(bytes, microseconds);
            if (taken == 0)
            {
                GiveUp(client);
                return;
            }

            bytes = bytes[taken..];
            _begun += taken;
            if (_begun > MostBegun)
                throw new InsufficientMemoryException("more has begun to arrive than there is memory for");
            if (!side.IsWhole)
                continue;
            WriteMessage(client, connection, isRequest, side.Microseconds, side.Message);
            _begun -= side.Take();
        }
    }

    public void End(long connection)
    {
        if (_clients.Remove(connection, out Client? client))
            _begun -= client.Requests.Take() + client.Replies.Take();
    }

    public void Flush() => _file.Flush();

    public void Dispose()
    {
        _unpacker.Dispose();
        _file.Dispose();
    }

    /// <summary>TLS, too, begins with what may be a length.</summary>
    private static bool IsMessage(in MessageHeader header) =>
        header.Length is > MessageHeader.Size and <= MessageHeader.MaximumMessageLength
        && (Enum.IsDefined(header.OpCode) || LeftOutCommands.IsLegacy(header.OpCode));

    /// <returns>False when the bytes do not begin with a whole message.</returns>
    private static bool TryTakeMessage(ref ReadOnlySpan<byte> bytes, out ReadOnlySpan<byte> message)
    {
        message = default;
        if (bytes.Length < MessageHeader.Size)
            return false;
        MessageHeader header = MessageHeader.Read(bytes);
        if (header.Length > bytes.Length || !IsMessage(header))
            return false;
        message = bytes[..header.Length];
        bytes = bytes[header.Length..];
        return true;
    }

    private void GiveUp(Client client)
    {
        client.IsUnreadable = true;
        _begun -= client.Requests.Take() + client.Replies.Take();
        Unreadable++;
    }

    private void WriteMessage(Client client, long connection, bool isRequest, long microseconds, ReadOnlySpan<byte> message)
    {
        try
        {
            ReadOnlySpan<byte> unpacked = _unpacker.Unpack(message);
            MessageHeader header = MessageHeader.Read(unpacked);
            if (header.OpCode != OpCode.Msg)
                Legacy += isRequest && LeftOutCommands.WhyNot(header.OpCode, unpacked) == LeftOutCommands.Legacy ? 1 : 0;
            else if (isRequest)
                WriteRequest(client, connection, microseconds, message, header.RequestId, unpacked);
            else if (client.Waiting.Remove(header.ResponseTo, out byte[]? stream))
                WriteReply(client, connection, microseconds, header, unpacked, stream);
        }
        catch (Exception e) when (e is BsonFormatException or WireProtocolException)
        {
            // Not a message that could be replayed, and no reason to lose the next one: its length is known.
        }
    }

    /// <remarks>The message is as it was sent, and once more readable.</remarks>
    private void WriteRequest(
        Client client, long connection, long microseconds, ReadOnlySpan<byte> message, int request, ReadOnlySpan<byte> unpacked)
    {
        OpMsg parsed = OpMsg.Parse(unpacked);
        var body = new BsonReader(parsed.Body);
        // What has a password in it, or proves that somebody has one, is never stored.
        if (!body.Read() || LeftOutCommands.WhyNot(body.NameText) is not null)
            return;
        if (_redactor is not null && !_redactor.TryRedact(unpacked, out message))
        {
            Unredactable++;
            return;
        }

        if ((parsed.Flags & OpMsgFlags.MoreToCome) == 0)
            client.Await(request, (parsed.Flags & OpMsgFlags.ExhaustAllowed) != 0 ? message.ToArray() : null);
        Requests++;
        Write(RecordingFile.RequestKind, connection, microseconds, message);
    }

    /// <remarks>The stream is the request, where that allows a stream of replies.</remarks>
    private void WriteReply(
        Client client, long connection, long microseconds, in MessageHeader header, ReadOnlySpan<byte> message, byte[]? stream)
    {
        RecordedFacts facts = ReplyReader.Read(header.ResponseTo, message);
        // Of a redacted recording requests have other ids than replies.
        GeneratedId[] ids = _redactor is null ? GeneratedIds.Of(message) ?? [] : [];
        int length = RecordingFile.ReplyBytes + (ids.Length * RecordingFile.GeneratedIdBytes);
        Span<byte> content = length <= 256 ? stackalloc byte[256] : new byte[length];
        content = content[..length];
        BinaryPrimitives.WriteInt32LittleEndian(content, header.ResponseTo);
        BinaryPrimitives.WriteInt32LittleEndian(content[4..], facts.Reply.Code);
        BinaryPrimitives.WriteInt64LittleEndian(content[8..], facts.Reply.Documents);
        BinaryPrimitives.WriteInt64LittleEndian(content[16..], facts.Reply.Bytes);
        BinaryPrimitives.WriteInt64LittleEndian(content[24..], facts.Cursor);
        // Of documents that few know a hash tells whether they are guessed right; and a target has others than these.
        BinaryPrimitives.WriteUInt64LittleEndian(content[32..], _redactor is null ? ReplyHash.Of(message) : 0);
        for (int i = 0; i < ids.Length; i++)
        {
            Span<byte> id = content[(RecordingFile.ReplyBytes + (i * RecordingFile.GeneratedIdBytes))..];
            BinaryPrimitives.WriteInt32LittleEndian(id, ids[i].Statement);
            ids[i].Id.CopyTo(id[4..]);
        }

        Write(RecordingFile.ReplyKind, connection, microseconds, content);
        if (stream is null || (OpMsg.Parse(message).Flags & OpMsgFlags.MoreToCome) == 0)
            return;
        // The next reply answers this one. For a replay it is as if it had been asked for.
        (MessageHeader.Read(stream) with { RequestId = header.RequestId }).Write(stream);
        client.Await(header.RequestId, stream);
        Requests++;
        Write(RecordingFile.RequestKind, connection, microseconds, stream);
    }

    private void Write(byte kind, long connection, long microseconds, ReadOnlySpan<byte> content)
    {
        int length = RecordingFile.HeadOfRecord + content.Length;
        if (_record.Length < RecordingFile.Prefix + length)
            _record = new byte[RecordingFile.Prefix + length];
        Span<byte> record = _record.AsSpan(0, RecordingFile.Prefix + length);
        Span<byte> body = record[RecordingFile.Prefix..];
        body[0] = kind;
        BinaryPrimitives.WriteInt64LittleEndian(body[1..], connection);
        BinaryPrimitives.WriteInt64LittleEndian(body[9..], microseconds);
        content.CopyTo(body[RecordingFile.HeadOfRecord..]);
        BinaryPrimitives.WriteInt32LittleEndian(record, length);
        BinaryPrimitives.WriteUInt32LittleEndian(record[4..], RecordingFile.Checksum(body));
        _file.Write(record);
        Bytes += record.Length;
    }

    private sealed class Client
    {
        public Begun Requests { get; } = new();

        public Begun Replies { get; } = new();

        /// <summary>Requests whose replies are to be recorded; itself where it allows a stream of them.</summary>
        public Dictionary<int, byte[]?> Waiting { get; } = [];

        public bool IsUnreadable { get; set; }

        public void Await(int request, byte[]? stream)
        {
            if (Waiting.Count == MostWaiting)
                Waiting.Clear();
            Waiting[request] = stream;
        }
    }

    /// <summary>The message that is arriving on one side.</summary>
    private sealed class Begun
    {
        private byte[] _bytes = new byte[512];
        private int _length;
        private int _filled;

        /// <summary>When its first bytes came.</summary>
        public long Microseconds { get; private set; }

        public bool IsEmpty => _filled == 0;

        public bool IsWhole => _filled >= MessageHeader.Size && _filled == _length;

        public ReadOnlySpan<byte> Message => _bytes.AsSpan(0, _filled);

        /// <returns>How many bytes were taken; 0 where this is no message.</returns>
        public int Add(ReadOnlySpan<byte> bytes, long microseconds)
        {
            if (_filled == 0)
                Microseconds = microseconds;
            int wanted = _filled < MessageHeader.Size ? MessageHeader.Size - _filled : _length - _filled;
            int taken = Math.Min(wanted, bytes.Length);
            // It grows with what comes, not with what a header promises.
            if (_bytes.Length < _filled + taken)
                Array.Resize(ref _bytes, Math.Max(_bytes.Length * 2, _filled + taken));
            bytes[..taken].CopyTo(_bytes.AsSpan(_filled));
            _filled += taken;
            if (_filled == MessageHeader.Size && _length == 0)
            {
                MessageHeader header = MessageHeader.Read(_bytes);
                _length = header.Length;
                if (!IsMessage(header))
                {
                    _filled -= taken;
                    return 0;
                }
            }

            return taken;
        }

        /// <summary>Forgets it; large buffers are given back.</summary>
        /// <returns>Its bytes so far.</returns>
        public int Take()
        {
            int taken = _filled;
            _filled = _length = 0;
            if (_bytes.Length > 1 << 16)
                _bytes = new byte[512];
            return taken;
        }
    }
}
