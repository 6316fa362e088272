using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Recordings;

/// <summary>
/// A hash of the documents that a reply returns: of a cursor's batch, of distinct's values, of findAndModify's document. Their order does
/// not matter, and nothing counts that is another one each time (cursors, times). Two lists of documents with the same hash are equal but
/// for a chance of about 1 in 2⁶⁴; it is no defence against somebody who looks for others.
/// </summary>
/// <remarks>The sum of each value's XXH64 (Y. Collet's specification), with the value's type as seed.</remarks>
internal static class ReplyHash
{
    private const ulong Prime1 = 0x9E3779B185EBCA87, Prime2 = 0xC2B2AE3D27D4EB4F, Prime3 = 0x165667B19E3779F9,
        Prime4 = 0x85EBCA77C2B2AE63, Prime5 = 0x27D4EB2F165667C5;

    /// <param name="message">The reply, unpacked.</param>
    /// <returns>0 for a reply without documents.</returns>
    /// <exception cref="BsonFormatException">It is no BSON.</exception>
    /// <exception cref="WireProtocolException">It is no OP_MSG.</exception>
    public static ulong Of(ReadOnlySpan<byte> message)
    {
        ulong hash = 0;
        var reader = new BsonReader(OpMsg.Parse(message).Body);
        while (reader.Read())
        {
            if (reader.NameIs("cursor"u8) && reader.Type == BsonType.Document)
            {
                var cursor = new BsonReader(reader.Value);
                while (cursor.Read())
                {
                    if ((cursor.NameIs("firstBatch"u8) || cursor.NameIs("nextBatch"u8)) && cursor.Type == BsonType.Array)
                        hash += OfItems(cursor.Value);
                }
            }
            else if (reader.NameIs("values"u8) && reader.Type == BsonType.Array)
            {
                hash += OfItems(reader.Value);
            }
            else if (reader.NameIs("value"u8) && reader.Type == BsonType.Document)
            {
                hash += OfItem(reader.Type, reader.Value);
            }
        }

        return hash;
    }

    private static ulong OfItems(ReadOnlySpan<byte> array)
    {
        ulong sum = 0;
        var items = new BsonReader(array);
        while (items.Read())
            sum += OfItem(items.Type, items.Value);
        return sum;
    }

    internal static ulong XxHash64(ReadOnlySpan<byte> bytes, ulong seed)
    {
        ulong length = (ulong)bytes.Length;
        ulong hash = seed + Prime5;
        if (bytes.Length >= 32)
        {
            (ulong a, ulong b, ulong c, ulong d) = (seed + Prime1 + Prime2, seed + Prime2, seed, seed - Prime1);
            for (; bytes.Length >= 32; bytes = bytes[32..])
            {
                a = Round(a, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
                b = Round(b, BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));
                c = Round(c, BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]));
                d = Round(d, BinaryPrimitives.ReadUInt64LittleEndian(bytes[24..]));
            }

            hash = BitOperations.RotateLeft(a, 1) + BitOperations.RotateLeft(b, 7) + BitOperations.RotateLeft(c, 12)
                + BitOperations.RotateLeft(d, 18);
            foreach (ulong lane in (ReadOnlySpan<ulong>)[a, b, c, d])
                hash = ((hash ^ Round(0, lane)) * Prime1) + Prime4;
        }

        hash += length;
        for (; bytes.Length >= 8; bytes = bytes[8..])
            hash = (BitOperations.RotateLeft(hash ^ Round(0, BinaryPrimitives.ReadUInt64LittleEndian(bytes)), 27) * Prime1) + Prime4;
        if (bytes.Length >= 4)
        {
            hash = (BitOperations.RotateLeft(hash ^ (BinaryPrimitives.ReadUInt32LittleEndian(bytes) * Prime1), 23) * Prime2) + Prime3;
            bytes = bytes[4..];
        }

        foreach (byte one in bytes)
            hash = BitOperations.RotateLeft(hash ^ (one * Prime5), 11) * Prime1;
        hash = (hash ^ (hash >> 33)) * Prime2;
        hash = (hash ^ (hash >> 29)) * Prime3;
        return hash ^ (hash >> 32);
    }

    private static ulong OfItem(BsonType type, ReadOnlySpan<byte> value) => XxHash64(value, (byte)type);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Round(ulong lane, ulong input) => BitOperations.RotateLeft(lane + (input * Prime2), 31) * Prime1;
}
