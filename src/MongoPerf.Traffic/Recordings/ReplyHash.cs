using System.Buffers.Binary;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Recordings;

/// <summary>
/// A hash of the documents that a reply returns: of a cursor's batch, of distinct's values, of findAndModify's document. Their order does
/// not matter, and nothing counts that is another one each time (cursors, times). Two lists of documents with the same hash are equal but
/// for a chance of about 1 in 2⁶⁴; it is no defence against somebody who looks for others.
/// </summary>
internal static class ReplyHash
{
    private const ulong Multiplier = 0x9E3779B97F4A7C15;

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

    /// <remarks>Four products at a time: one would wait for the other.</remarks>
    private static ulong OfItem(BsonType type, ReadOnlySpan<byte> value)
    {
        ulong a = Mix((ulong)value.Length << 8 | (byte)type);
        if (value.Length >= 4 * sizeof(ulong))
        {
            (ulong b, ulong c, ulong d) = (a, a, a);
            for (; value.Length >= 4 * sizeof(ulong); value = value[(4 * sizeof(ulong))..])
            {
                a = Mix(a ^ BinaryPrimitives.ReadUInt64LittleEndian(value));
                b = Mix(b ^ BinaryPrimitives.ReadUInt64LittleEndian(value[8..]));
                c = Mix(c ^ BinaryPrimitives.ReadUInt64LittleEndian(value[16..]));
                d = Mix(d ^ BinaryPrimitives.ReadUInt64LittleEndian(value[24..]));
            }

            a = Mix(a ^ Mix(b ^ Mix(c ^ Mix(d))));
        }

        for (; value.Length >= sizeof(ulong); value = value[sizeof(ulong)..])
            a = Mix(a ^ BinaryPrimitives.ReadUInt64LittleEndian(value));
        ulong last = 0;
        foreach (byte one in value)
            last = last << 8 | one;
        return Mix(a ^ last);
    }

    /// <summary>Both halves of a product with an odd number, as wyhash mixes them (W. Yi).</summary>
    private static ulong Mix(ulong value)
    {
        ulong high = Math.BigMul(value ^ Multiplier, Multiplier | 1, out ulong low);
        return high ^ low ^ value;
    }
}
