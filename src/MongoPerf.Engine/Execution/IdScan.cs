using MongoPerf.Engine.Documents;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Engine.Execution;

/// <summary>Reads the stored _ids of a range in order, from the index alone, and finds the holes.</summary>
internal static class IdScan
{
    /// <summary>About 1.5 MB a reply.</summary>
    private const int BatchSize = 50_000;

    public static IReadOnlyList<NumberRange> FindMissing(
        MongoConnection connection, string database, string collection, BsonDocument filter, DocumentNumbers numbers, NumberRange range)
    {
        var missing = new List<NumberRange>();
        long expected = range.First;
        var writer = new OpMsgWriter();
        ReadOnlySpan<byte> request = writer.WriteCommand(database, connection.Dialect.Translate(BsonDocument.Of(
            ("find", collection),
            ("filter", filter),
            ("sort", BsonDocument.Of(("_id", 1))),
            ("projection", BsonDocument.Of(("_id", 1))),
            ("hint", BsonDocument.Of(("_id", 1))),
            ("batchSize", BatchSize))), requestId: 1);
        while (true)
        {
            ReadOnlySpan<byte> reply = connection.RoundTrip(request);
            CursorReply cursor = CursorReply.Parse(reply);
            if (!cursor.IsOk)
                throw new ServerCommandException("find", ServerError.From(new BsonDocument(OpMsg.Parse(reply).Body.ToArray())));
            ReadBatch(reply.Slice(cursor.Batch.Start, cursor.Batch.Length), numbers, missing, ref expected);
            if (cursor.CursorId == 0)
                break;
            request = writer.WriteCommand(database, connection.Dialect.Translate(BsonDocument.Of(
                ("getMore", cursor.CursorId), ("collection", collection), ("batchSize", BatchSize))), requestId: 1);
        }

        if (expected < range.End)
            missing.Add(new NumberRange(expected, range.End));
        return missing;
    }

    private static void ReadBatch(ReadOnlySpan<byte> batch, DocumentNumbers numbers, List<NumberRange> missing, ref long expected)
    {
        var items = new BsonReader(batch);
        while (items.Read())
        {
            var document = new BsonReader(items.DocumentBytes);
            if (!document.Find("_id"u8) || document.Type != BsonType.ObjectId)
                continue;
            long number = numbers.NumberOf(document.ObjectId);
            if (number < expected)
                continue;
            if (number > expected)
                missing.Add(new NumberRange(expected, number));
            expected = number + 1;
        }
    }
}
