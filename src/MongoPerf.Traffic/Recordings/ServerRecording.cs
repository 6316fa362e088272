using System.Buffers.Binary;
using Microsoft.Win32.SafeHandles;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Recordings;

/// <summary>Traffic that a MongoDB server recorded of itself: little-endian records, one after the other, without a head.</summary>
/// <remarks>
/// There are three layouts. 4.2 to 7.1: size, connection, local and remote address, milliseconds since 1970, order, message. 7.2 to 8.1:
/// one text, <c>{ remote: …, local: … }</c>, in place of the two addresses. Later: a byte for the kind behind the size, and microseconds
/// since the recording began. Source: traffic_recorder.cpp of the server. The first two were
/// tried with files of 6.0.5 and of a build of 8.0.
/// </remarks>
public sealed class ServerRecording : Recording
{
    /// <summary>Size, kind, connection, an empty text, time, order.</summary>
    private const int LeastBefore = 4 + 8 + 1 + 8 + 8;

    /// <summary>Two host names with their ports, or the text that has both.</summary>
    private const int LongestAddresses = 2048;

    private const int LargestRecord = MessageHeader.MaximumMessageLength + LeastBefore + 1 + LongestAddresses;

    private readonly Layout _layout;
    private readonly MessageUnpacker _unpacker = new();
    private long _position;

    private ServerRecording(string path, SafeFileHandle file, Layout layout)
        : base(path, file) => _layout = layout;

    private enum Layout
    {
        /// <summary>4.2 to 7.1.</summary>
        TwoAddresses,

        /// <summary>7.2 to 8.1.</summary>
        OneText,

        /// <summary>Later.</summary>
        WithKind,
    }

    private enum Kind : byte
    {
        Request,
        Reply,
        SessionStart,
        SessionEnd,
    }

    public override string Format => _layout switch
    {
        Layout.TwoAddresses => "recorded by a server of 4.2 to 7.1",
        Layout.OneText => "recorded by a server of 7.2 to 8.1",
        _ => "recorded by a server of 8.2 or later",
    };

    public override long ResolutionMicroseconds => _layout == Layout.WithKind ? 1 : 1000;

    /// <returns>Null for a file of another kind; an empty one is none.</returns>
    internal static ServerRecording? TryOpen(string path, SafeFileHandle file)
    {
        foreach (Layout layout in Enum.GetValues<Layout>())
        {
            var recording = new ServerRecording(path, file, layout);
            if (recording.Fits())
                return recording;
            recording.Release();
        }

        return null;
    }

    public override bool TryRead(out RecordedMessage message)
    {
        while (TryReadRecord(out ReadOnlySpan<byte> record))
        {
            long start = _position;
            if (!TryParse(record, out Parsed parsed))
                throw new MongoPerfException(Fault.WrongUsage,
                    $"{Path}: the record at byte {start:N0} ({record.Length:N0} bytes) is damaged", "what is before it can be cut off: "
                    + $"head -c {start}");
            _position += record.Length;
            if (parsed.MessageAt == record.Length)
                continue;
            ReadOnlySpan<byte> stored = record[parsed.MessageAt..];
            ReadOnlySpan<byte> unpacked;
            try
            {
                unpacked = _unpacker.Unpack(stored);
            }
            catch (WireProtocolException e)
            {
                throw new MongoPerfException(Fault.WrongUsage, $"{Path}: the record at byte {start:N0}: {e.Message}", null, e);
            }

            message = new RecordedMessage(
                parsed.Connection, parsed.Microseconds, start + parsed.MessageAt, stored.Length, unpacked);
            return true;
        }

        message = default;
        return false;
    }

    private protected override void Release() => _unpacker.Dispose();

    /// <summary>Whether the first record has this layout, to the last byte.</summary>
    private bool Fits()
    {
        try
        {
            if (!TryReadRecord(out ReadOnlySpan<byte> record) || !TryParse(record, out Parsed parsed))
                return false;
            byte first = record[parsed.AddressesAt];
            return _layout == Layout.TwoAddresses ? first is not (0 or (byte)'{') : first == '{';
        }
        catch (MongoPerfException)
        {
            return false;
        }
        finally
        {
            TruncatedAt = null;
        }
    }

    /// <summary>Looks at the next record; <see cref="_position"/> stays where it begins.</summary>
    /// <returns>False at the end of the file, also where that comes too early.</returns>
    private bool TryReadRecord(out ReadOnlySpan<byte> record)
    {
        record = default;
        long left = Length - _position;
        if (left == 0)
            return false;
        if (left < 4)
        {
            TruncatedAt = _position;
            return false;
        }

        int size = BinaryPrimitives.ReadInt32LittleEndian(Load(_position, 4));
        if (size is < LeastBefore or > LargestRecord)
            throw new MongoPerfException(Fault.WrongUsage, $"{Path}: the record at byte {_position:N0} declares {size:N0} bytes; "
                + $"allowed: {LeastBefore} to {LargestRecord:N0}", $"this keeps what is before it: head -c {_position} {Path} > FILE");
        if (size > left)
        {
            TruncatedAt = _position;
            return false;
        }

        record = Load(_position, size);
        return true;
    }

    private bool TryParse(ReadOnlySpan<byte> record, out Parsed parsed)
    {
        parsed = default;
        int at = 4;
        var kind = Kind.Request;
        if (_layout == Layout.WithKind)
        {
            kind = (Kind)record[at++];
            if (kind > Kind.SessionEnd)
                return false;
        }

        long connection = BinaryPrimitives.ReadInt64LittleEndian(record[at..]);
        int addresses = at += 8;
        for (int texts = _layout == Layout.TwoAddresses ? 2 : 1; texts > 0; texts--)
        {
            int end = record[at..].IndexOf((byte)0);
            if (end < 0)
                return false;
            at += end + 1;
        }

        if (record.Length - at < 16)
            return false;
        long time = BinaryPrimitives.ReadInt64LittleEndian(record[at..]);
        at += 16;
        bool hasNone = kind is Kind.SessionStart or Kind.SessionEnd;
        int length = record.Length - at;
        if (hasNone ? length != 0 : length < MessageHeader.Size || BinaryPrimitives.ReadInt32LittleEndian(record[at..]) != length)
            return false;
        // Milliseconds and microseconds beyond this overflow, and no clock has them.
        if (time is < 0 or > long.MaxValue / 2000)
            return false;
        parsed = new Parsed(connection, _layout == Layout.WithKind ? time : time * 1000, addresses, at);
        return true;
    }

    private readonly record struct Parsed(long Connection, long Microseconds, int AddressesAt, int MessageAt);
}
