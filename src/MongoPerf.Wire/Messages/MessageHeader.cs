using System.Buffers.Binary;
using System.Numerics;

namespace MongoPerf.Wire.Messages;

/// <summary>What kind of message follows the header. Source: MongoDB wire protocol, "opcodes".</summary>
public enum OpCode
{
    Reply = 1,
    Query = 2004,
    GetMore = 2005,
    Compressed = 2012,
    Msg = 2013,
}

/// <summary>The 16 bytes in front of every message, all little-endian.</summary>
/// <param name="Length">Bytes, these 16 included; 16 to 48,000,000.</param>
/// <param name="RequestId">The sender's number for this message.</param>
/// <param name="ResponseTo">The number of the request, in a reply; 0 otherwise.</param>
/// <param name="OpCode">How the rest is to be read.</param>
public readonly record struct MessageHeader(int Length, int RequestId, int ResponseTo, OpCode OpCode)
{
    public const int Size = 16;

    /// <summary>What mongod takes and sends at most (maxMessageSizeBytes of every version since 2.6).</summary>
    public const int MaximumMessageLength = 48_000_000;

    /// <summary>Bytes of a buffer that such a message fits into: it doubles up to 64 KiB, and then grows by whole 64 KiB.</summary>
    internal static int RoomFor(int length) =>
        length <= 0xFFFF ? (int)BitOperations.RoundUpToPowerOf2((uint)length) : (length + 0xFFFF) & ~0xFFFF;

    public static MessageHeader Read(ReadOnlySpan<byte> bytes) => new(
        BinaryPrimitives.ReadInt32LittleEndian(bytes),
        BinaryPrimitives.ReadInt32LittleEndian(bytes[4..]),
        BinaryPrimitives.ReadInt32LittleEndian(bytes[8..]),
        (OpCode)BinaryPrimitives.ReadInt32LittleEndian(bytes[12..]));

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt32LittleEndian(destination, Length);
        BinaryPrimitives.WriteInt32LittleEndian(destination[4..], RequestId);
        BinaryPrimitives.WriteInt32LittleEndian(destination[8..], ResponseTo);
        BinaryPrimitives.WriteInt32LittleEndian(destination[12..], (int)OpCode);
    }
}
