using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Messages;

/// <summary>Where something stands in a received message.</summary>
public readonly record struct ReplyRange(int Start, int Length);

/// <summary>The reply to a find or getMore: walked once, from document to document by their lengths.</summary>
/// <param name="IsOk">ok:1.</param>
/// <param name="Documents">The documents in the batch.</param>
/// <param name="Bytes">The bytes of these documents.</param>
/// <param name="CursorId">0 when nothing more is to come.</param>
/// <param name="Batch">The array of documents, as a place in the message.</param>
public readonly record struct CursorReply(bool IsOk, int Documents, long Bytes, long CursorId, ReplyRange Batch)
{
    /// <exception cref="BsonFormatException">The reply is no BSON.</exception>
    /// <exception cref="WireProtocolException">The reply is no OP_MSG, or says ok without a cursor.</exception>
    public static CursorReply Parse(ReadOnlySpan<byte> message)
    {
        ReadOnlySpan<byte> body = OpMsg.Parse(message).Body;
        int bodyStart = StartOf(message, body);
        bool ok = false;
        CursorReply found = default;
        var reader = new BsonReader(body);
        while (reader.Read())
        {
            if (reader.NameIs("cursor"u8))
                found = ParseCursor(reader.DocumentBytes, bodyStart + reader.ValueOffset);
            else if (reader.NameIs("ok"u8))
                ok = reader.ToBoolean();
        }

        // Nothing found would look like a success.
        if (ok && found.Batch.Length == 0)
            throw new WireProtocolException("the reply has no cursor");
        return found with { IsOk = ok };
    }

    /// <param name="cursor">The reply's element of that name.</param>
    /// <param name="start">Where it starts in the message.</param>
    public static CursorReply ParseCursor(ReadOnlySpan<byte> cursor, int start)
    {
        int documents = 0;
        long bytes = 0;
        long id = 0;
        ReplyRange batch = default;
        var reader = new BsonReader(cursor);
        while (reader.Read())
        {
            if (reader.NameIs("firstBatch"u8) || reader.NameIs("nextBatch"u8))
            {
                batch = new ReplyRange(start + reader.ValueOffset, reader.Value.Length);
                var items = new BsonReader(reader.DocumentBytes);
                while (items.Read())
                {
                    documents++;
                    bytes += items.Value.Length;
                }
            }
            else if (reader.NameIs("id"u8))
            {
                id = reader.ToInt64();
            }
        }

        return new CursorReply(false, documents, bytes, id, batch);
    }

    private static int StartOf(ReadOnlySpan<byte> whole, ReadOnlySpan<byte> part)
    {
        whole.Overlaps(part, out int offset);
        return offset;
    }
}
