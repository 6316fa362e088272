using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

internal static class DeleteCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        WriteFields fields = WriteFields.Parse(request.Body, "delete", "deletes"u8);
        DocumentSource source = DocumentSource.Of(request, "delete", "deletes"u8, fields.Statements, fields.HasStatements);
        WriteErrors errors = session.Insert.Errors;
        errors.Clear();
        // All before the first is carried out: a command that is refused has deleted nothing.
        var statements = new List<Statement>();
        while (source.MoveNext())
            statements.Add(Parse(source.Current));
        int index = 0;
        int deleted = 0;
        long held = ActiveOperation.Held;
        for (; index < statements.Count; index++)
        {
            try
            {
                deleted += Run(session, fields, statements[index]);
            }
            catch (Exception error) when (CommandException.Of(error) is { } told)
            {
                errors.Add(index, told.Code, told.Message);
                if (fields.IsOrdered)
                    break;
            }
            finally
            {
                // A statement's constants go with it.
                ActiveOperation.Release(held);
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

    private static int Run(CommandSession session, in WriteFields fields, Statement statement)
    {
        FindQuery query = session.Query;
        query.Parse(
            statement.Filter, 0, statement.IsOne ? 1 : 0, statement.Hint, fields.Variables, CollationOption.Parse(statement.Collation));
        Collection? collection = session.FindCollection(fields.Collection);
        if (collection == null)
            return 0;
        using var use = CollectionUse.ToWrite(session, collection);
        try
        {
            if (collection.IsDropped)
                return 0;
            using (collection.Writer.Gate.Enter())
                return DocumentDeletion.DeleteAll(collection, query);
        }
        finally
        {
            query.Dispose();
        }
    }

    private static Statement Parse(ReadOnlySpan<byte> statement)
    {
        byte[]? filter = null;
        long? limit = null;
        IndexHint hint = default;
        BsonValue collation = Values.Null;
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
                case "collation" when reader.Type is BsonType.Document or BsonType.Null:
                    collation = new BsonValue(reader.Type, reader.Value.ToArray()); break;
                case "collation": throw CommandFields.Mismatch("delete.deletes", "collation", reader.Type, "object");
                default: throw CommandException.UnknownField("delete.deletes", reader.NameText);
            }
        }

        if (filter == null)
            throw CommandException.MissingField("delete.deletes", "q");
        return limit switch
        {
            null => throw CommandException.MissingField("delete.deletes", "limit"),
            0 or 1 => new Statement(filter, limit == 1, hint, collation),
            _ => throw CommandException.FailedToParse($"The limit field in delete objects must be 0 or 1. Got {limit}"),
        };
    }

    private readonly record struct Statement(byte[] Filter, bool IsOne, IndexHint Hint, BsonValue Collation);
}
