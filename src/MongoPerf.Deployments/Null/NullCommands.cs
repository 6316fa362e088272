using System.Text;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>
/// Answers commands that change, count or summarise documents, all in the shortest way: whatever a filter says, it matches. The embedded
/// server would look for documents and change them, which is the work that must not be measured here.
/// </summary>
internal static class NullCommands
{
    /// <param name="collection">The collection that the command names.</param>
    /// <param name="request">The command.</param>
    /// <param name="body">Gets the answer, but for its end.</param>
    /// <param name="counters">The server's.</param>
    /// <returns>False when the embedded server has to answer.</returns>
    /// <exception cref="BsonFormatException">The command is damaged.</exception>
    public static bool TryAnswer(NumberedCollection collection, in CommandRequest request, BsonWriter body, ServerCounters counters)
    {
        switch (request.NameText)
        {
            case "update":
                Update(collection, Statements(request, "updates"), body, counters);
                return true;
            case "delete":
                Delete(collection, Statements(request, "deletes"), body, counters);
                return true;
            case "findAndModify" or "findandmodify":
                FindAndModify(collection, request.Body, body);
                break;
            case "count":
                Count(collection, request.Body, body);
                break;
            case "distinct":
                Distinct(collection, request.Body, body);
                break;
            case "aggregate":
                Aggregate(collection, body);
                break;
            default:
                return false;
        }

        counters.CountCommand();
        return true;
    }

    /// <summary>The statements of a write command, which come in its array or in a section of their own.</summary>
    public static List<byte[]> Statements(in CommandRequest request, string field)
    {
        var statements = new List<byte[]>();
        var reader = new BsonReader(request.Body);
        if (reader.Find(Encoding.UTF8.GetBytes(field)))
        {
            var items = new BsonReader(reader.DocumentBytes);
            while (items.Read())
                statements.Add(items.DocumentBytes.ToArray());
        }

        if (request.TryGetSequence(Encoding.UTF8.GetBytes(field), out ReadOnlySpan<byte> rest))
        {
            while (rest.Length > 0)
                statements.Add(NumberedCollection.TakeDocument(ref rest).ToArray());
        }

        return statements;
    }

    /// <summary>Each statement finds a document, if there is any; otherwise an upsert is answered as if it had inserted one.</summary>
    private static void Update(NumberedCollection collection, List<byte[]> statements, BsonWriter body, ServerCounters counters)
    {
        long changed = collection.Count > 0 ? statements.Count : 0;
        int upserted = collection.Count > 0 ? 0 : statements.Count(IsUpsert);
        counters.CountUpdates(statements.Count, changed);
        body.WriteInt64("n"u8, changed + upserted);
        body.WriteInt64("nModified"u8, changed);
        if (upserted == 0)
            return;
        body.StartArray("upserted"u8);
        for (int i = 0; i < upserted; i++)
        {
            body.StartDocument(Encoding.UTF8.GetBytes($"{i}"));
            body.WriteInt32("index"u8, i);
            body.WriteNull("_id"u8);
            body.End();
        }

        body.End();
    }

    private static bool IsUpsert(byte[] update) => new BsonReader(update) is var flag && flag.Find("upsert"u8) && flag.ToBoolean();

    private static void Delete(NumberedCollection collection, List<byte[]> statements, BsonWriter body, ServerCounters counters)
    {
        long deleted = 0;
        // All are read before the first is carried out: a command that is refused has removed nothing.
        foreach (bool isAll in statements.ConvertAll(IsOfAll))
            deleted += isAll ? collection.Clear() : collection.DeleteOne();
        counters.CountDeletes(statements.Count, deleted);
        body.WriteInt64("n"u8, deleted);
    }

    private static bool IsOfAll(byte[] delete)
    {
        var limit = new BsonReader(delete);
        var filter = new BsonReader(delete);
        return limit.Find("limit"u8) && limit.ToInt64() == 0 && filter.Find("q"u8)
            && filter.DocumentBytes.Length <= BsonReader.MinimumDocumentLength;
    }

    private static void FindAndModify(NumberedCollection collection, ReadOnlySpan<byte> request, BsonWriter body)
    {
        var command = new BsonReader(request);
        BsonDocument? found = collection.FindOne(command.Find("query"u8) ? command.DocumentBytes : BsonDocument.Empty.Bytes);
        if (command.Find("remove"u8) && command.ToBoolean())
            collection.DeleteOne();
        body.StartDocument("lastErrorObject"u8);
        body.WriteInt32("n"u8, found is null ? 0 : 1);
        body.WriteBoolean("updatedExisting"u8, found is not null);
        body.End();
        if (found is null)
            body.WriteNull("value"u8);
        else
            body.WriteDocument("value"u8, found.Bytes);
    }

    private static void Count(NumberedCollection collection, ReadOnlySpan<byte> request, BsonWriter body)
    {
        var command = new BsonReader(request);
        body.WriteInt64("n"u8,
            command.Find("limit"u8) && command.ToInt64() is > 0 and var limit ? Math.Min(collection.Count, limit) : collection.Count);
    }

    /// <summary>The value that one of the documents has.</summary>
    private static void Distinct(NumberedCollection collection, ReadOnlySpan<byte> request, BsonWriter body)
    {
        var key = new BsonReader(request);
        body.StartArray("values"u8);
        if (key.Find("key"u8) && collection.FindOne(BsonDocument.Empty.Bytes)?.Find(Encoding.UTF8.GetString(key.StringBytes)) is { } value)
            body.WriteValue("0"u8, value.Type, value.Bytes.Span);
        body.End();
    }

    /// <summary>One document with the number of documents, whatever the pipeline: right for a count by $group.</summary>
    private static void Aggregate(NumberedCollection collection, BsonWriter body)
    {
        body.StartDocument("cursor"u8);
        body.StartArray("firstBatch"u8);
        body.StartDocument("0"u8);
        body.WriteNull("_id"u8);
        body.WriteInt64("n"u8, collection.Count);
        body.End();
        body.End();
        body.WriteInt64("id"u8, 0);
        body.WriteString("ns"u8, collection.Namespace);
        body.End();
    }
}
