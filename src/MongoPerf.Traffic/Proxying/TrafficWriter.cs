using System.Buffers.Binary;
using MongoPerf.Platforms;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Redacting;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Proxying;

/// <summary>Puts messages together from what connections sent, and writes those that a replay needs. One thread.</summary>
internal sealed class TrafficWriter : IDisposable
{
    /// <summary>Requests of a connection whose replies have not come; in a capture of one direction none ever does.</summary>
    private const int MostWaiting = 100_000;

    private readonly BufferedStream _file;
    private readonly Redactor? _redactor;
    private readonly Dictionary<long, Client> _clients = [];
    private readonly MessageUnpacker _unpacker = new();
    private byte[] _record = new byte[1 << 16];

    /// <param name="file">Empty; this disposes of it.</param>
    /// <param name="redacts">Values are replaced by pseudonyms.</param>
    public TrafficWriter(Stream file, bool redacts)
    {
        _redactor = redacts ? new Redactor() : null;
        _file = new BufferedStream(file, 1 << 20);
        _file.Write(RecordingFile.Magic);
        Bytes = RecordingFile.Magic.Length;
    }

    /// <summary>What it, and those who read replies, keep of messages that are not whole.</summary>
    public BegunBytes Begun { get; } = new();

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
        Client client = ClientOf(connection);
        if (client.IsUnreadable)
            return;
        if (!isRequest)
        {
            RecordedReply[] replies = client.Replies.Read(_unpacker, bytes, microseconds);
            AddReplies(connection, replies, client.Replies.IsUnreadable);
            return;
        }

        while (client.Requests.TryTake(ref bytes, microseconds, out ReadOnlySpan<byte> message, out long began))
            WriteRequest(client, connection, began, message);
        if (client.Requests.IsUnreadable)
            GiveUp(client);
    }

    /// <summary>Adds replies of a connection that were read already, by what <see cref="AssembleReplies"/> returned.</summary>
    /// <param name="connection">Its number.</param>
    /// <param name="replies">In their order.</param>
    /// <param name="isUnreadable">What came next can't be read.</param>
    /// <exception cref="IOException">They can't be written.</exception>
    public void AddReplies(long connection, ReadOnlySpan<RecordedReply> replies, bool isUnreadable)
    {
        Client client = ClientOf(connection);
        if (client.IsUnreadable)
            return;
        foreach (ref readonly RecordedReply reply in replies)
        {
            if (client.Waiting.Remove(reply.Facts.Request, out byte[]? stream))
                WriteReply(client, connection, reply, stream);
        }

        if (isUnreadable)
            GiveUp(client);
    }

    /// <summary>For one connection. Any thread.</summary>
    public ReplyAssembler AssembleReplies() => new(Begun, isRedacted: _redactor is not null);

    public void End(long connection)
    {
        if (_clients.Remove(connection, out Client? client))
            client.Forget();
    }

    public void Flush() => _file.Flush();

    /// <summary>Nothing may be added any more; what it counted can still be read, and what was added is on the disk.</summary>
    /// <exception cref="IOException">It can't be written.</exception>
    public void Dispose()
    {
        foreach (Client client in _clients.Values)
            client.Forget();
        _clients.Clear();
        _record = [];
        _unpacker.Dispose();
        try
        {
            _file.Flush();
            if (_file.UnderlyingStream is FileStream file)
            {
                file.Flush(flushToDisk: true);
                SystemCalls.SyncFolder(Path.GetDirectoryName(file.Name)!);
            }
        }
        finally
        {
            _file.Dispose();
        }
    }

    private Client ClientOf(long connection)
    {
        if (!_clients.TryGetValue(connection, out Client? client))
            _clients[connection] = client = new Client(new MessageAssembler(Begun), AssembleReplies());
        return client;
    }

    private void GiveUp(Client client)
    {
        client.IsUnreadable = true;
        client.Forget();
        Unreadable++;
    }

    private void WriteRequest(Client client, long connection, long microseconds, ReadOnlySpan<byte> message)
    {
        try
        {
            ReadOnlySpan<byte> unpacked = _unpacker.Unpack(message);
            MessageHeader header = MessageHeader.Read(unpacked);
            if (header.OpCode == OpCode.Msg)
                WriteRequest(client, connection, microseconds, message, header.RequestId, unpacked);
            else if (LeftOutCommands.WhyNot(header.OpCode, unpacked) == LeftOutCommands.Legacy)
                Legacy++;
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
    private void WriteReply(Client client, long connection, in RecordedReply reply, byte[]? stream)
    {
        RecordedFacts facts = reply.Facts;
        GeneratedId[] ids = facts.GeneratedIds ?? [];
        int length = RecordingFile.ReplyBytes + (ids.Length * RecordingFile.GeneratedIdBytes);
        Span<byte> content = length <= 256 ? stackalloc byte[256] : new byte[length];
        content = content[..length];
        BinaryPrimitives.WriteInt32LittleEndian(content, facts.Request);
        BinaryPrimitives.WriteInt32LittleEndian(content[4..], facts.Reply.Code);
        BinaryPrimitives.WriteInt64LittleEndian(content[8..], facts.Reply.Documents);
        BinaryPrimitives.WriteInt64LittleEndian(content[16..], facts.Reply.Bytes);
        BinaryPrimitives.WriteInt64LittleEndian(content[24..], facts.Cursor);
        BinaryPrimitives.WriteUInt64LittleEndian(content[32..], facts.Hash);
        BinaryPrimitives.WriteInt64LittleEndian(content[40..], facts.Modified ?? 0);
        BinaryPrimitives.WriteInt64LittleEndian(content[48..], facts.Upserted ?? 0);
        for (int i = 0; i < ids.Length; i++)
        {
            Span<byte> id = content[(RecordingFile.ReplyBytes + (i * RecordingFile.GeneratedIdBytes))..];
            BinaryPrimitives.WriteInt32LittleEndian(id, ids[i].Statement);
            ids[i].Id.CopyTo(id[4..]);
        }

        Write(RecordingFile.ReplyKind, connection, reply.Microseconds, content);
        if (stream is null || !reply.HasMore)
            return;
        // The next reply answers this one. For a replay it is as if it had been asked for.
        (MessageHeader.Read(stream) with { RequestId = reply.Number }).Write(stream);
        client.Await(reply.Number, stream);
        Requests++;
        Write(RecordingFile.RequestKind, connection, reply.Microseconds, stream);
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

    private sealed class Client(MessageAssembler requests, ReplyAssembler replies)
    {
        public MessageAssembler Requests => requests;

        /// <summary>Those that nobody has read before.</summary>
        public ReplyAssembler Replies => replies;

        /// <summary>Requests whose replies are to be recorded; itself where it allows a stream of them.</summary>
        public Dictionary<int, byte[]?> Waiting { get; } = [];

        public bool IsUnreadable { get; set; }

        public void Await(int request, byte[]? stream)
        {
            if (Waiting.Count == MostWaiting)
                Waiting.Clear();
            Waiting[request] = stream;
        }

        public void Forget()
        {
            requests.Forget();
            replies.Forget();
        }
    }
}
