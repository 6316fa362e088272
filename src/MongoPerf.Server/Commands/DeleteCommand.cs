using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Updates;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

internal static class DeleteCommand
{
    // As for inserts: a delete of very many documents is written in parts.
    private const long PartBytes = 1 << 20;

    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        WriteFields fields = WriteFields.Parse(request.Body, "delete", "deletes"u8);
        DocumentSource statements = DocumentSource.Of(request, "delete", "deletes"u8, fields.Statements, fields.HasStatements);
        WriteErrors errors = session.Insert.Errors;
        errors.Clear();
        int index = 0;
        int deleted = 0;
        long held = Operation.Held;
        for (; statements.MoveNext(); index++)
        {
            (byte[] filter, bool isOne, IndexHint hint) = Parse(statements.Current);
            try
            {
                deleted += Run(session, fields, filter, isOne, hint);
            }
            catch (CommandException error)
            {
                errors.Add(index, error.Code, error.Message);
                if (fields.IsOrdered)
                    break;
            }
            finally
            {
                // A statement's constants go with it.
                Operation.Release(held);
            }
        }

        if (fields.Concern.IsJournaled)
            session.Server.Store.SyncLog();
        session.Server.Counters.CountDeletes(index, deleted);
        reply.Body.WriteInt32("n"u8, fields.Concern.IsUnacknowledged ? 0 : deleted);
        if (!fields.Concern.IsUnacknowledged)
            errors.Write(reply.Body);
        reply.Succeed();
    }

    private static int Run(CommandSession session, in WriteFields fields, byte[] filter, bool isOne, IndexHint hint)
    {
        FindQuery query = session.Query;
        query.Parse(filter, 0, isOne ? 1 : 0, hint, fields.Variables);
        Collection? collection = session.FindCollection(fields.Collection);
        if (collection == null)
            return 0;
        using var use = CollectionUse.ToWrite(session, collection);
        try
        {
            if (collection.IsDropped)
                return 0;
            using (collection.Writer.Gate.Enter())
                return DeleteAll(collection, query);
        }
        finally
        {
            query.Dispose();
        }
    }

    private static int DeleteAll(Collection collection, FindQuery query)
    {
        List<long> records = UpdateExecutor.Matches(query, collection);
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        foreach (long record in records)
        {
            Operation.Check();
            using var present = collection.Get(record);
            writer.Delete(record, present.Bytes);
            if (writer.BatchBytes > PartBytes)
                writer.Commit();
        }

        writer.Commit();
        return records.Count;
    }

    private static (byte[] Filter, bool IsOne, IndexHint Hint) Parse(ReadOnlySpan<byte> statement)
    {
        byte[]? filter = null;
        long? limit = null;
        IndexHint hint = default;
        var reader = new BsonReader(statement);
        while (reader.Read())
        {
            switch (reader.NameText)
            {
                case "q" when reader.Type == BsonType.Document: filter = reader.Value.ToArray(); break;
                case "q": throw CommandFields.Mismatch("delete.deletes", "q", reader.Type, "object");
                case "limit" when reader.IsNumber: limit = reader.ToInt64(); break;
                case "limit": throw CommandFields.Mismatch("delete.deletes", "limit", reader.Type, "long");
                case "hint": hint = IndexHint.Parse(reader); break;
                case "collation": CommandFields.RequireSimpleCollation(new BsonValue(reader.Type, reader.Value.ToArray())); break;
                default: throw CommandException.UnknownField("delete.deletes", reader.NameText);
            }
        }

        if (filter == null)
            throw CommandException.MissingField("delete.deletes", "q");
        return limit switch
        {
            null => throw CommandException.MissingField("delete.deletes", "limit"),
            0 or 1 => (filter, limit == 1, hint),
            _ => throw CommandException.FailedToParse($"The limit field in delete objects must be 0 or 1. Got {limit}"),
        };
    }
}
