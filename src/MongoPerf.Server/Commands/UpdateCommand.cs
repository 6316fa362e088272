using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

internal static class UpdateCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        WriteFields fields = WriteFields.Parse(request.Body, "update", "updates"u8);
        DocumentSource statements = DocumentSource.Of(request, "update", "updates"u8, fields.Statements, fields.HasStatements);
        WriteErrors errors = session.Insert.Errors;
        errors.Clear();
        var outcome = new Outcome();
        int index = 0;
        for (; statements.MoveNext(); index++)
        {
            Statement statement = Statement.Parse(statements.Current);
            try
            {
                Run(session, fields.Collection, statement, index, outcome);
            }
            catch (CommandException error)
            {
                errors.Add(index, error.Code, error.Message);
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

    private static void Run(CommandSession session, ReadOnlySpan<byte> name, Statement statement, int index, Outcome outcome)
    {
        FindQuery query = session.Query;
        query.Parse(statement.Filter, 0, statement.IsMulti ? 0 : 1, statement.Hint);
        Collection? collection = statement.IsUpsert ? session.GetOrCreate(name, out _) : session.FindCollection(name);
        if (collection == null)
            return;
        session.Server.Counters.WriterEnters();
        collection.Lock.EnterReadLock();
        try
        {
            if (collection.IsDropped)
                return;
            lock (collection.Writer.Gate)
            {
                List<long> records = Matches(query, collection);
                foreach (long record in records)
                    UpdateOne(session, collection, record, statement, index, outcome);
                if (records.Count == 0 && statement.IsUpsert)
                    Upsert(session, collection, statement, index, outcome);
            }
        }
        finally
        {
            query.Dispose();
            collection.Lock.ExitReadLock();
            session.Server.Counters.WriterLeaves();
        }
    }

    /// <summary>All that match, before the first is changed: a changed document must not be met a second time.</summary>
    public static List<long> Matches(FindQuery query, Collection collection)
    {
        var records = new List<long>();
        query.Open(collection);
        while (query.MoveNext())
            records.Add(query.Runner!.RecordId);
        return records;
    }

    private static void UpdateOne(CommandSession session, Collection collection, long record, Statement statement, int index, Outcome outcome)
    {
        byte[] present;
        using (var pinned = collection.Get(record))
            present = pinned.Bytes.ToArray();
        byte[] changed = UpdateOperators.Apply(present, statement.Update, isInsert: false);
        if (changed.Length > Limits.MaximumDocumentBytes)
            throw CommandException.Location(17420, $"Document to upsert is larger than {Limits.MaximumDocumentBytes}");
        outcome.Matched++;
        if (changed.AsSpan().SequenceEqual(present))
            return;
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        CollectionIndex? duplicate = Guard(() => writer.Replace(record, present, changed));
        if (duplicate != null)
        {
            outcome.Matched--;
            session.Insert.Errors.AddDuplicate(index, collection.Namespace, duplicate, changed);
            return;
        }

        writer.Commit();
        outcome.Modified++;
    }

    private static void Upsert(CommandSession session, Collection collection, Statement statement, int index, Outcome outcome)
    {
        byte[] document = UpdateOperators.Apply(EqualFields(statement), statement.Update, isInsert: true);
        byte[] whole = InsertCommand.WithIdInFront(session.Insert.Document, document, out _).ToArray();
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        CollectionIndex? duplicate = Guard(() => writer.Insert(whole));
        if (duplicate != null)
        {
            session.Insert.Errors.AddDuplicate(index, collection.Namespace, duplicate, whole);
            return;
        }

        writer.Commit();
        outcome.Matched++;
        outcome.Upserted.Add((index, new BsonDocument(whole).Find("_id")!.Value));
    }

    private static CollectionIndex? Guard(Func<CollectionIndex?> write)
    {
        try
        {
            return write();
        }
        catch (Storage.Keys.IndexKeyException error)
        {
            throw CommandException.Location(171, error.Message);
        }
    }

    /// <summary>What the filter says about fields by equality; a replacement takes only the _id from it.</summary>
    private static byte[] EqualFields(Statement statement)
    {
        bool isReplacement = !UpdateOperators.AreOperators(statement.Update.Bytes);
        var elements = new List<(string, object?)>();
        foreach ((string name, BsonValue value) in new BsonDocument(statement.Filter))
        {
            if (name.StartsWith('$') || name.Contains('.') || (isReplacement && name != "_id"))
                continue;
            BsonValue? equal = value;
            if (value.Type == BsonType.Document && value.ToDocument().FirstOrDefault().Key is { } first && first.StartsWith('$'))
                equal = value.ToDocument().Find("$eq");
            if (equal is { } known)
                elements.Add((name, known));
        }

        return BsonDocument.Of([.. elements]).Bytes.ToArray();
    }

    private static void Write(BsonWriter body, Outcome outcome, WriteErrors errors, bool isUnacknowledged)
    {
        if (isUnacknowledged)
        {
            body.WriteInt32("n"u8, 0);
            return;
        }

        body.WriteInt32("n"u8, outcome.Matched);
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
        errors.Write(body);
    }

    private sealed class Outcome
    {
        public int Matched { get; set; }

        public int Modified { get; set; }

        public List<(int Index, BsonValue Id)> Upserted { get; } = [];
    }

    private sealed record Statement(byte[] Filter, BsonDocument Update, bool IsMulti, bool IsUpsert, IndexHint Hint)
    {
        public static Statement Parse(ReadOnlySpan<byte> bytes)
        {
            byte[]? filter = null;
            BsonDocument? update = null;
            bool isMulti = false;
            bool isUpsert = false;
            IndexHint hint = default;
            var reader = new BsonReader(bytes);
            while (reader.Read())
            {
                switch (reader.NameText)
                {
                    case "q": filter = reader.DocumentBytes.ToArray(); break;
                    case "u" when reader.Type == BsonType.Document: update = new BsonDocument(reader.Value.ToArray()); break;
                    case "u": throw CommandException.NotSupported("updates by a pipeline");
                    case "multi": isMulti = reader.ToBoolean(); break;
                    case "upsert": isUpsert = reader.ToBoolean(); break;
                    case "hint": hint = IndexHint.Parse(reader); break;
                    case "collation" or "arrayFilters" or "c": throw CommandException.NotSupported($"'{reader.NameText}' in updates");
                    default: throw CommandException.UnknownField("update.updates", reader.NameText);
                }
            }

            if (isMulti && update != null && !UpdateOperators.AreOperators(update.Bytes))
                throw CommandException.FailedToParse("multi update is not supported for replacement-style update");
            return new Statement(
                filter ?? throw CommandException.MissingField("update.updates", "q"),
                update ?? throw CommandException.MissingField("update.updates", "u"), isMulti, isUpsert, hint);
        }
    }
}
