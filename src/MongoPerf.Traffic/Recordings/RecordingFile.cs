using System.Buffers.Binary;
using System.Numerics;
using Microsoft.Win32.SafeHandles;
using MongoPerf.Load.Phases;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Recordings;

/// <summary>
/// A recording that MongoPerf wrote: a head, then records, each with its length and a checksum; requests as they were sent, of replies
/// only what is compared.
/// </summary>
/// <remarks>
/// Little-endian. Head: 8 bytes. Record: int32 length of what follows the checksum, uint32 CRC-32C of that, a byte for the kind, int64
/// connection, int64 microseconds since the recording began, then the message (request), or the facts (reply): int32 request's number,
/// int32 error code, int64 documents, int64 bytes, int64 cursor, uint64 hash of the documents, int64 documents modified, int64 upserted,
/// and for each <c>_id</c> that the server made int32 statement and its 12 bytes (modified and upserted only since version 4, hash and
/// ids since version 2, whose hash is another one).
/// </remarks>
public sealed class RecordingFile : Recording
{
    internal const byte RequestKind = 0;
    internal const byte ReplyKind = 1;

    /// <summary>Kind, connection, time.</summary>
    internal const int HeadOfRecord = 1 + 8 + 8;
    internal const int ReplyBytes = ReplyBytesOfVersion2 + 16;

    /// <summary>Statement, id.</summary>
    internal const int GeneratedIdBytes = 4 + ObjectId.Size;

    /// <summary>Length and checksum.</summary>
    internal const int Prefix = 8;

    private const int ReplyBytesOfVersion1 = 4 + 4 + 8 + 8 + 8;
    private const int ReplyBytesOfVersion2 = ReplyBytesOfVersion1 + 8;

    private const int LargestRecord = HeadOfRecord + MessageHeader.MaximumMessageLength;

    private readonly MessageUnpacker _unpacker = new();
    private int _replyBytes = ReplyBytes;
    private bool _hasHashes = true;
    private long _position = Magic.Length;

    private RecordingFile(string path, SafeFileHandle file)
        : base(path, file)
    {
    }

    /// <summary>Ends with the version.</summary>
    public static ReadOnlySpan<byte> Magic => "MPTRAF\0\u0004"u8;

    public override string Format => "recorded by mongoperf record";

    public override long ResolutionMicroseconds => 1;

    /// <returns>Null for a file of another kind.</returns>
    /// <exception cref="MongoPerfException">It is of a version that is not known yet (2).</exception>
    internal static RecordingFile? TryOpen(string path, SafeFileHandle file)
    {
        var recording = new RecordingFile(path, file);
        Span<byte> head = stackalloc byte[Magic.Length];
        if (recording.Length < Magic.Length || !recording.TryFill(0, head) || !head.StartsWith(Magic[..^1]))
        {
            recording.Release();
            return null;
        }

        if (head[^1] == 0 || head[^1] > Magic[^1])
            throw new MongoPerfException(Fault.WrongUsage,
                $"{path} is a recording of version {head[^1]}; this program reads versions 1 to {Magic[^1]}",
                "replay it with the version of MongoPerf that recorded it");
        recording._replyBytes = head[^1] switch { 1 => ReplyBytesOfVersion1, < 4 => ReplyBytesOfVersion2, _ => ReplyBytes };
        recording._hasHashes = head[^1] >= 3;
        return recording;
    }

    public override bool TryRead(out RecordedMessage message)
    {
        message = default;
        long left = Length - _position;
        if (left == 0)
            return false;
        if (left < Prefix)
            return Truncated();
        ReadOnlySpan<byte> prefix = Load(_position, Prefix);
        int length = BinaryPrimitives.ReadInt32LittleEndian(prefix);
        uint checksum = BinaryPrimitives.ReadUInt32LittleEndian(prefix[4..]);
        if (length is < HeadOfRecord or > LargestRecord)
            throw Damaged($"declares {length:N0} bytes; allowed: {HeadOfRecord} to {LargestRecord:N0}");
        if (length > left - Prefix)
            return Truncated();
        ReadOnlySpan<byte> record = Load(_position + Prefix, length);
        if (Checksum(record) != checksum)
            throw Damaged("has a wrong checksum");
        long place = _position + Prefix + HeadOfRecord;
        long connection = BinaryPrimitives.ReadInt64LittleEndian(record[1..]);
        long time = BinaryPrimitives.ReadInt64LittleEndian(record[9..]);
        ReadOnlySpan<byte> content = record[HeadOfRecord..];
        if (time is < 0 or > long.MaxValue / 2000)
            throw Damaged("has a time that no clock has");
        message = record[0] switch
        {
            RequestKind when content.Length >= MessageHeader.Size && MessageHeader.Read(content).Length == content.Length =>
                new RecordedMessage(connection, time, place, content.Length, Unpack(content)),
            ReplyKind when HasLengthOfReply(content.Length) => new RecordedMessage(connection, time, ReadFacts(content)),
            _ => throw Damaged("is neither a request nor a reply"),
        };
        _position += Prefix + length;
        return true;
    }

    private protected override void Release() => _unpacker.Dispose();

    internal static uint Checksum(ReadOnlySpan<byte> bytes)
    {
        uint sum = uint.MaxValue;
        for (; bytes.Length >= 8; bytes = bytes[8..])
            sum = BitOperations.Crc32C(sum, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        foreach (byte one in bytes)
            sum = BitOperations.Crc32C(sum, one);
        return ~sum;
    }

    private RecordedFacts ReadFacts(ReadOnlySpan<byte> content) => new(
        BinaryPrimitives.ReadInt32LittleEndian(content),
        new ReplyFacts(BinaryPrimitives.ReadInt32LittleEndian(content[4..]), BinaryPrimitives.ReadInt64LittleEndian(content[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(content[16..])),
        BinaryPrimitives.ReadInt64LittleEndian(content[24..]))
    {
        Hash = !_hasHashes ? 0 : BinaryPrimitives.ReadUInt64LittleEndian(content[ReplyBytesOfVersion1..]),
        Modified = _replyBytes < ReplyBytes ? null : BinaryPrimitives.ReadInt64LittleEndian(content[ReplyBytesOfVersion2..]),
        Upserted = _replyBytes < ReplyBytes ? null : BinaryPrimitives.ReadInt64LittleEndian(content[(ReplyBytesOfVersion2 + 8)..]),
        GeneratedIds = content.Length <= _replyBytes ? null : ReadIds(content[_replyBytes..]),
    };

    private static GeneratedId[] ReadIds(ReadOnlySpan<byte> content)
    {
        var ids = new GeneratedId[content.Length / GeneratedIdBytes];
        for (int i = 0; i < ids.Length; i++)
        {
            ReadOnlySpan<byte> one = content[(i * GeneratedIdBytes)..];
            ids[i] = new GeneratedId(BinaryPrimitives.ReadInt32LittleEndian(one), ObjectId.FromBytes(one[4..]));
        }

        return ids;
    }

    private bool HasLengthOfReply(int length) => length == _replyBytes
        || (_replyBytes > ReplyBytesOfVersion1 && length > _replyBytes && (length - _replyBytes) % GeneratedIdBytes == 0);

    private ReadOnlySpan<byte> Unpack(ReadOnlySpan<byte> message)
    {
        try
        {
            return _unpacker.Unpack(message);
        }
        catch (WireProtocolException e)
        {
            throw Damaged($"can't be unpacked: {e.Message}");
        }
    }

    private bool Truncated()
    {
        TruncatedAt = _position;
        return false;
    }

    private MongoPerfException Damaged(string what) => new(Fault.WrongUsage, $"{Path}: the record at byte {_position:N0} {what}",
        $"this keeps what is before it: head -c {_position} {Path} > FILE");
}
