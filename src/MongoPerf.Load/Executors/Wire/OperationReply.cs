using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>The reply to any command, as much of it as every operation must look at.</summary>
/// <param name="IsOk">ok:1, no write error and no write-concern error.</param>
/// <param name="Documents">Returned, counted, changed or removed, whatever the command does.</param>
/// <param name="Bytes">The bytes of the returned documents.</param>
/// <param name="CursorId">0 when nothing more is to come.</param>
/// <param name="Batch">Returned documents, as a place in the message; of length 0 when the command returns none.</param>
public readonly record struct OperationReply(bool IsOk, long Documents, long Bytes, long CursorId, ReplyRange Batch)
{
    /// <summary>Documents that an update changed.</summary>
    public long Modified { get; init; }

    /// <summary>Documents that an update inserted; <see cref="Documents"/> counts them, too.</summary>
    public long Upserted { get; init; }

    /// <exception cref="BsonFormatException">The reply is no BSON.</exception>
    /// <exception cref="WireProtocolException">The reply is no OP_MSG.</exception>
    public static OperationReply Parse(ReadOnlySpan<byte> message)
    {
        ReadOnlySpan<byte> body = OpMsg.Parse(message).Body;
        message.Overlaps(body, out int bodyStart);
        return ParseBody(body, bodyStart);
    }

    /// <param name="body">The reply's document.</param>
    /// <param name="bodyStart">Where that is in the message that <see cref="Batch"/> is a place in.</param>
    /// <exception cref="BsonFormatException">It is no BSON.</exception>
    public static OperationReply ParseBody(ReadOnlySpan<byte> body, int bodyStart = 0)
    {
        bool ok = false;
        bool hasErrors = false;
        long documents = 0;
        long bytes = 0;
        long modified = 0;
        long upserted = 0;
        CursorReply cursor = default;
        var reader = new BsonReader(body);
        while (reader.Read())
        {
            if (reader.NameIs("cursor"u8))
                cursor = CursorReply.ParseCursor(reader.DocumentBytes, bodyStart + reader.ValueOffset);
            else if (reader.NameIs("ok"u8))
                ok = reader.ToBoolean();
            else if (reader.NameIs("n"u8) && reader.IsNumber)
                documents = reader.ToInt64();
            else if (reader.NameIs("nModified"u8) && reader.IsNumber)
                modified = reader.ToInt64();
            else if (reader.NameIs("upserted"u8) && reader.Type == BsonType.Array)
                (upserted, _) = CountItems(reader.DocumentBytes);
            else if (reader.NameIs("writeErrors"u8) || reader.NameIs("writeConcernError"u8))
                hasErrors = true;
            else if (reader.NameIs("value"u8) && reader.Type == BsonType.Document)
                (documents, bytes) = (1, reader.Value.Length);
            else if (reader.NameIs("values"u8) && reader.Type == BsonType.Array)
                (documents, bytes) = CountItems(reader.DocumentBytes);
        }

        if (cursor.Batch.Length > 0)
            (documents, bytes) = (cursor.Documents, cursor.Bytes);
        return new OperationReply(
            ok && !hasErrors, documents, bytes, cursor.CursorId, cursor.Batch) { Modified = modified, Upserted = upserted };
    }

    /// <summary>The first error of a reply that was not as it should be. Allocates.</summary>
    public static ServerError ReadError(ReadOnlySpan<byte> message) => ErrorOf(new BsonDocument(OpMsg.Parse(message).Body.ToArray()));

    /// <inheritdoc cref="ReadError"/>
    public static ServerError ErrorOf(BsonDocument reply)
    {
        if ((reply.FindDocument("writeErrors.0") ?? reply.FindDocument("writeConcernError")) is not { } inner)
            return ServerError.From(reply);
        ServerError error = ServerError.From(inner);
        // Labels are of the whole reply, whatever in it failed.
        return error with { Labels = [.. error.Labels.Concat(ServerError.From(reply).Labels).Distinct()] };
    }

    private static (long Count, long Bytes) CountItems(ReadOnlySpan<byte> array)
    {
        long count = 0;
        long bytes = 0;
        var items = new BsonReader(array);
        while (items.Read())
        {
            count++;
            bytes += items.Value.Length;
        }

        return (count, bytes);
    }
}
