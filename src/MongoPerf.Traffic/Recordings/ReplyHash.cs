using System.Buffers.Binary;
using System.IO.Hashing;
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

    private static ulong OfItem(BsonType type, ReadOnlySpan<byte> value) => XxHash64.HashToUInt64(value, (byte)type);
}
