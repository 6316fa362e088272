using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

internal static class UpdateCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        WriteFields fields = WriteFields.Parse(request.Body, "update", "updates"u8);
        DocumentSource source = DocumentSource.Of(request, "update", "updates"u8, fields.Statements, fields.HasStatements);
        WriteErrors errors = session.Insert.Errors;
        errors.Clear();
        var outcome = new Outcome();
        var statements = new List<UpdateStatement>();
        while (source.MoveNext())
            statements.Add(UpdateStatement.Parse(source.Current));
        int index = 0;
        long held = ActiveOperation.Held;
        for (; index < statements.Count; index++)
        {
            try
            {
                Run(session, fields, statements[index], index, outcome);
            }
            catch (Exception error) when (CommandException.Of(error) is { } told)
            {
                if (told.Duplicate is { } duplicate)
                    errors.AddDuplicate(index, duplicate);
                else
                    errors.Add(index, told.Code, told.Message);
            }
            finally
            {
                // A statement's constants go with it, and so does what its expressions held when they failed.
                ActiveOperation.Release(held);
            }

            if (errors.Count > 0 && fields.IsOrdered)
                break;
        }

        if (fields.Concern.IsJournaled)
            session.Server.Store.SyncLog();
        session.Server.Counters.CountUpdates(index, outcome.Modified);
        Write(reply.Body, outcome, errors, fields.Concern.IsUnacknowledged);
        reply.Succeed();
    }

    private static void Run(CommandSession session, in WriteFields fields, UpdateStatement statement, int index, Outcome outcome)
    {
        CollationOption collation = CollationOption.Parse(statement.Collation);
        DocumentUpdate update = statement.ParseUpdate(fields.Variables);
        FindQuery query = session.Query;
        query.Parse(statement.Filter.Bytes, 0, statement.IsMulti ? 0 : 1, statement.Hint, fields.Variables, collation);
        // Before an upsert makes the collection; again below for a collection's own collation.
        if (collation.Given != null)
            CollationLimits.RequireUpdate(statement.Update, statement.ArrayFilters);
        if (statement.IsUpsert)
            UpsertSeed.RequireNoExpression(query.Filter);
        Collection? collection = statement.IsUpsert
            ? UpdateExecutor.CollectionFor(session, fields.Collection, statement.Filter, update)
            : session.FindCollection(fields.Collection);
        if (collection == null)
            return;
        if (collation.For(collection) != null)
            CollationLimits.RequireUpdate(statement.Update, statement.ArrayFilters);
        if (collection.Shards is { } map && update.IsReplacement)
            ShardWrites.Route(map, query, statement.Filter, statement.Update.ToDocument());
        using var use = CollectionUse.ToWrite(session, collection);
        try
        {
            if (collection.IsDropped)
                return;
            using (collection.Writer.Gate.Enter())
                RunAll(new UpdateExecutor(session, collection), UpdateExecutor.Matches(query, collection),
                    statement, update, index, outcome);
        }
        finally
        {
            query.Dispose();
        }
    }

    private static void RunAll(
        UpdateExecutor executor, List<long> records, UpdateStatement statement, DocumentUpdate update, int index, Outcome outcome)
    {
        // A statement that fails counts nothing, not even what it has changed before: as on mongod.
        int modified = records.Count(record => executor.Update(record, update).IsChanged);
        outcome.Matched += records.Count;
        outcome.Modified += modified;

        if (records.Count > 0 || !statement.IsUpsert)
            return;
        BsonDocument inserted = executor.Upsert(statement.Filter, update);
        outcome.Matched++;
        outcome.Upserted.Add((index, inserted.Find("_id")!.Value));
    }

    private static void Write(BsonWriter body, Outcome outcome, WriteErrors errors, bool isUnacknowledged)
    {
        if (isUnacknowledged)
        {
            body.WriteInt32("n"u8, 0);
            return;
        }

        body.WriteInt32("n"u8, outcome.Matched);
        errors.Write(body);
        if (outcome.Upserted.Count > 0)
        {
            body.StartArray("upserted"u8);
            for (int i = 0; i < outcome.Upserted.Count; i++)
            {
                body.StartDocument(ArrayNames.Of(i));
                body.WriteInt32("index"u8, outcome.Upserted[i].Index);
                body.WriteValue("_id"u8, outcome.Upserted[i].Id.Type, outcome.Upserted[i].Id.Bytes.Span);
                body.End();
            }

            body.End();
        }

        body.WriteInt32("nModified"u8, outcome.Modified);
    }

    private sealed class Outcome
    {
        public int Matched { get; set; }

        public int Modified { get; set; }

        public List<(int Index, BsonValue Id)> Upserted { get; } = [];
    }
}
