using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

internal static class CursorCommands
{
    public static void GetMore(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        session.Server.Counters.CountQuery(isGetMore: true);
        (long id, string collection, long batchSize) = ParseGetMore(request.Body);
        Cursor cursor = session.Server.Cursors.Take(id)
            ?? throw new CommandException(43, "CursorNotFound", $"cursor id {id} not found");
        bool hasMore = false;
        if (session.Operation.RemainingMilliseconds != null)
        {
            session.Server.Cursors.PutBack(cursor, moreBytes: 0);
            throw CommandException.BadValue("cannot set maxTimeMS on getMore command for a non-awaitData cursor");
        }

        try
        {
            session.Operation.LimitTime(cursor.RemainingMilliseconds is { } left ? Math.Max(1, left) : 0);
            string nameSpace = $"{session.Database}.{collection}";
            if (cursor.Namespace != nameSpace)
            {
                hasMore = true;
                throw new CommandException(13, "Unauthorized",
                    $"Requested getMore on namespace '{nameSpace}', but cursor belongs to a different namespace {cursor.Namespace}");
            }

            reply.Body.StartDocument("cursor"u8);
            reply.Body.StartArray("nextBatch"u8);
            hasMore = Read(session, cursor.Collection, cursor.Source, reply.Body, batchSize);
            reply.HasMore = hasMore;
            reply.Body.End();
            reply.Body.WriteInt64("id"u8, hasMore ? id : 0);
            reply.Body.WriteString("ns"u8, cursor.Namespace);
            reply.Body.End();
            reply.Succeed();
        }
        finally
        {
            cursor.RemainingMilliseconds = session.Operation.RemainingMilliseconds;
            if (hasMore)
                session.Server.Cursors.PutBack(cursor, session.Operation.KeptBytes);
            else
                session.Server.Cursors.End(cursor);
        }
    }

    public static void KillCursors(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var killed = new List<long>();
        var missing = new List<long>();
        foreach (long id in ParseKillCursors(request.Body))
            (session.Server.Cursors.Kill(id) ? killed : missing).Add(id);
        WriteIds(reply.Body, "cursorsKilled"u8, killed);
        WriteIds(reply.Body, "cursorsNotFound"u8, missing);
        WriteIds(reply.Body, "cursorsAlive"u8, []);
        WriteIds(reply.Body, "cursorsUnknown"u8, []);
        reply.Succeed();
    }

    private static List<long> ParseKillCursors(ReadOnlySpan<byte> body)
    {
        const string Command = "killCursors";
        var reader = new BsonReader(body);
        if (!reader.Find("cursors"u8))
            throw CommandException.MissingField(Command, "cursors");
        if (reader.Type != BsonType.Array)
            throw CommandFields.Mismatch(Command, "cursors", reader.Type, "array");
        var found = new List<long>();
        var ids = new BsonReader(reader.Value);
        while (ids.Read())
            found.Add(ids.IsNumber ? ids.ToInt64() : throw CommandFields.Mismatch(Command, $"cursors.{ids.NameText}", ids.Type, "long"));
        return found;
    }

    /// <summary>Writes a query's next documents into an open array.</summary>
    /// <returns>True when there may be more.</returns>
    /// <exception cref="CommandException">175: the collection was dropped meanwhile.</exception>
    public static bool Read(CommandSession session, Collection collection, IBatchSource source, BsonWriter body, long batchSize)
    {
        using var use = CollectionUse.ToRead(session, collection, source.Foreign);
        if (collection.IsDropped)
            throw new CommandException(
                175, "QueryPlanKilled", $"collection dropped. UUID {Convert.ToHexStringLower(collection.Entry.Uuid)}");
        (long keys, long documents, long returned) = source.Examined;
        bool hasMore = source.WriteBatch(body, batchSize);
        (long keysNow, long documentsNow, long returnedNow) = source.Examined;
        session.Server.Counters.CountScan(keysNow - keys, documentsNow - documents, returnedNow - returned);
        return hasMore;
    }

    private static (long Id, string Collection, long BatchSize) ParseGetMore(ReadOnlySpan<byte> body)
    {
        var reader = new BsonReader(body);
        reader.Read();
        if (reader.Type != BsonType.Int64)
            throw CommandException.TypeMismatch($"BSON field 'getMore.getMore' is the wrong type '{reader.Type}', expected type 'long'");
        long id = reader.Int64;
        string? collection = null;
        long batchSize = long.MaxValue;
        while (reader.Read())
        {
            if (reader.NameIs("collection"u8))
                collection = reader.StringText;
            else if (reader.NameIs("batchSize"u8))
                batchSize = reader.ToInt64();
            else if (!GenericFields.Contains(reader.Name))
                throw CommandException.UnknownField("getMore", reader.NameText);
        }

        if (batchSize < 0)
            throw CommandException.Location(51024, $"BSON field 'batchSize' value must be >= 0, actual value '{batchSize}'");
        // 0 means "as the server likes", as on mongod.
        return (id, collection ?? throw CommandException.MissingField("getMore", "collection"), batchSize == 0 ? long.MaxValue : batchSize);
    }

    private static void WriteIds(BsonWriter body, ReadOnlySpan<byte> name, List<long> ids)
    {
        body.StartArray(name);
        for (int i = 0; i < ids.Count; i++)
            body.WriteInt64(ArrayNames.Of(i), ids[i]);
        body.End();
    }
}
