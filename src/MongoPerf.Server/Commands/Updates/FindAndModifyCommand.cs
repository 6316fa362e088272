using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>findAndModify: changes or removes the first match and answers with it as it was, or as it is now.</summary>
internal static class FindAndModifyCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        Options options = Options.Parse(new BsonDocument(request.Body.ToArray()));
        DocumentUpdate? update = options.ParseUpdate();
        if (options.Collation.Given != null)
            options.RequireCollatable();
        FindQuery query = session.Query;
        query.Parse(options.Filter.Bytes, 0, 1, options.Hint, options.Variables, options.Collation);
        if (options.IsUpsert)
            UpsertSeed.RequireNoExpression(query.Filter);
        query.Sort.Compile(options.Sort.Bytes);
        query.Projection.Compile(options.Projection.Bytes, options.Variables);
        if (options.ReturnsNew && query.Projection.IsPositional)
            throw CommandException.BadValue("cannot use a positional projection and return the new document");
        Collection? collection = options.IsUpsert
            ? UpdateExecutor.CollectionFor(session, name, options.Filter, update!)
            : session.FindCollection(name);
        if (options.Collation.For(collection) != null)
            options.RequireCollatable();
        Result result = collection == null ? default : Run(session, collection, options, update);
        if (options.Concern.IsJournaled)
            session.Server.Store.SyncLog();
        Write(reply.Body, query.Projection, options, result);
        reply.Succeed();
    }

    private static Result Run(CommandSession session, Collection collection, Options options, DocumentUpdate? update)
    {
        FindQuery query = session.Query;
        using var use = CollectionUse.ToWrite(session, collection);
        try
        {
            if (collection.IsDropped)
                return default;
            using (collection.Writer.Gate.Enter())
                return RunOne(new UpdateExecutor(session, collection), UpdateExecutor.Matches(query, collection), options, update);
        }
        finally
        {
            query.Dispose();
        }
    }

    private static Result RunOne(UpdateExecutor executor, List<long> records, Options options, DocumentUpdate? update)
    {
        if (records.Count == 0)
        {
            if (!options.IsUpsert)
                return default;
            BsonDocument inserted = executor.Upsert(options.Filter, update!);
            return new Result(1, options.ReturnsNew ? inserted : null, inserted.Find("_id"));
        }

        BsonDocument before = executor.Get(records[0]);
        if (update == null)
        {
            executor.Delete(records[0]);
            return new Result(1, before, null);
        }

        BsonDocument after = executor.Update(records[0], update).Document;
        return new Result(1, options.ReturnsNew ? after : before, null);
    }

    private static void Write(BsonWriter body, Projection projection, Options options, Result result)
    {
        body.StartDocument("lastErrorObject"u8);
        body.WriteInt32("n"u8, result.Count);
        if (!options.IsRemove)
            body.WriteBoolean("updatedExisting"u8, result.Count > 0 && result.Upserted == null);
        if (result.Upserted is { } id)
            body.WriteValue("upserted"u8, id.Type, id.Bytes.Span);
        body.End();
        if (result.Document is not { } document)
            body.WriteNull("value"u8);
        else if (projection.IsGiven)
            projection.Write(body, "value"u8, document.Bytes);
        else
            body.WriteDocument("value"u8, document.Bytes);
    }

    private readonly record struct Result(int Count, BsonDocument? Document, BsonValue? Upserted);

    private sealed record Options
    {
        private const string Command = "findAndModify";
        private BsonValue? _update;
        private BsonValue? _arrayFilters;

        public BsonDocument Filter { get; private set; } = BsonDocument.Empty;

        public BsonDocument Sort { get; private set; } = BsonDocument.Empty;

        public BsonDocument Projection { get; private set; } = BsonDocument.Empty;

        public IndexHint Hint { get; private set; }

        public Variables? Variables { get; private set; }

        public CollationOption Collation { get; private set; }

        public WriteConcern Concern { get; private set; }

        public bool IsRemove { get; private set; }

        public bool IsUpsert { get; private set; }

        public bool ReturnsNew { get; private set; }

        public static Options Parse(BsonDocument command)
        {
            var options = new Options();
            foreach ((string name, BsonValue value) in command.Skip(1))
                options.Take(name, value);
            options.RequireSense();
            return options;
        }

        public DocumentUpdate? ParseUpdate() => _update is { } update
            ? DocumentUpdate.Parse(update, _arrayFilters is { } filters ? new ArrayFilters(Values.Items(filters)) : null, Variables)
            : null;

        /// <exception cref="CommandException">The update compares values.</exception>
        public void RequireCollatable()
        {
            if (_update is { } update)
                CollationLimits.RequireUpdate(update, _arrayFilters);
        }

        private void Take(string name, BsonValue value)
        {
            switch (name)
            {
                case "query": Filter = CommandFields.Document(Command, name, value); break;
                case "sort": Sort = CommandFields.Document(Command, name, value); break;
                case "fields": Projection = CommandFields.Document(Command, name, value); break;
                case "update": _update = value; break;
                case "arrayFilters": _arrayFilters =
                    value.Type == BsonType.Array ? value : throw CommandFields.Mismatch(Command, name, value.Type, "array"); break;
                case "remove": IsRemove = CommandFields.Flag(Command, name, value); break;
                case "new": ReturnsNew = CommandFields.Flag(Command, name, value); break;
                case "upsert": IsUpsert = CommandFields.Flag(Command, name, value); break;
                case "hint": Hint = IndexHint.Parse(value); break;
                case "let": Variables = Expressions.Variables.Parse(CommandFields.Document(Command, name, value)); break;
                case "writeConcern": Concern = WriteConcern.Parse(value); break;
                case "bypassDocumentValidation": break;
                case "collation": Collation = CollationOption.Parse(value); break;
                default: CommandFields.RequireGeneric(Command, name); break;
            }
        }

        private void RequireSense()
        {
            if (IsRemove && _update != null)
                throw CommandException.FailedToParse("Cannot specify both an update and remove=true");
            if (IsRemove && IsUpsert)
                throw CommandException.FailedToParse("Cannot specify both upsert=true and remove=true ");
            if (IsRemove && ReturnsNew)
                throw CommandException.FailedToParse(
                    "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document");
            if (!IsRemove && _update == null)
                throw CommandException.FailedToParse("Either an update or remove=true must be specified");
        }
    }
}
