using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>aggregate: reads the pipeline, has its beginning done by a find, and the rest done document by document.</summary>
internal static class AggregateCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        bool hasCollection = reader.Type == BsonType.String;
        ReadOnlySpan<byte> name = hasCollection ? CommandSession.CollectionName(reader) : default;
        Options options = Options.Parse(new BsonDocument(request.Body.ToArray()));
        string nameSpace = hasCollection ? $"{session.Database}.{reader.StringText}" : $"{session.Database}.$cmd.aggregate";
        if (options.Stages.Any(stage => stage.Name == StatisticsStages.CurrentOpName) && (hasCollection || session.Database != "admin"))
            throw CommandException.InvalidNamespace("$currentOp must be run against the 'admin' database with {aggregate: 1}");
        if (options.IsStrict && options.Stages.FirstOrDefault(stage => !StageParser.IsStable(stage)).Name is { } unstable)
            throw new CommandException(323, "APIStrictError", $"{unstable} is not allowed with 'apiStrict: true' in API Version 1");
        bool needsNone = options.Stages is
            [(StatisticsStages.CurrentOpName or "$documents" or "$listLocalSessions" or "$changeStream", _), ..];
        if (hasCollection && options.Stages is [("$documents" or "$listLocalSessions", _), ..])
            throw CommandException.InvalidNamespace($"{options.Stages[0].Name} can only be run with {{aggregate: 1}}");
        if (!hasCollection && !needsNone)
            throw CommandException.InvalidNamespace($"{{aggregate: 1}} is not valid for "
                + $"{(options.Stages.Length == 0 ? "an empty pipeline." : $"'{options.Stages[0].Name}'; a collection is required.")}");
        Pipeline pipeline = Pipeline.Parse(options.Stages, options.Variables);
        Collection? collection = hasCollection ? session.FindCollection(name) : null;
        BsonDocument[]? documents = StatisticsStages.TryRun(session, collection, nameSpace, options.Stages);
        if (collection == null)
        {
            // Nothing goes in, and so nothing comes out; but what is wrong is told.
            pipeline.Prepare(session.Query, options.Hint);
            CatalogCommands.WriteWholeCursor(reply.Body, nameSpace, pipeline.RunOver(documents ?? []));
        }
        else
        {
            documents ??= pipeline.Counting?.Count(session, collection, pipeline, options.Hint);
            Run(session, collection, nameSpace, pipeline, documents, options, reply);
        }

        reply.Succeed();
    }

    /// <param name="session">The client's.</param>
    /// <param name="collection">The one that is read.</param>
    /// <param name="nameSpace">Its whole name.</param>
    /// <param name="pipeline">What is done.</param>
    /// <param name="documents">What goes into the pipeline's stages; null: what its beginning finds in the collection.</param>
    /// <param name="options">The command's.</param>
    /// <param name="reply">Takes the first batch.</param>
    private static void Run(
        CommandSession session, Collection collection, string nameSpace, Pipeline pipeline, BsonDocument[]? documents,
        Options options, ReplyWriter reply)
    {
        FindQuery query = session.Query;
        pipeline.Prepare(query, options.Hint);
        var source = new PipelineSource(query, pipeline, documents);
        Cursor? cursor = null;
        reply.Body.StartDocument("cursor"u8);
        reply.Body.StartArray("firstBatch"u8);
        if (Read(session, collection, source, reply, options.BatchSize))
        {
            session.ReleaseQuery();
            cursor = session.Server.Cursors.Add(nameSpace, collection, source, session.Operation);
        }

        reply.Body.End();
        reply.Body.WriteInt64("id"u8, cursor?.Id ?? 0);
        reply.Body.WriteString("ns"u8, nameSpace);
        reply.Body.End();
    }

    private static bool Read(CommandSession session, Collection collection, PipelineSource source, ReplyWriter reply, long batchSize)
    {
        using var use = CollectionUse.ToRead(session, collection);
        source.Open(collection.IsDropped ? null : collection);
        bool hasMore = source.WriteBatch(reply.Body, batchSize);
        (long keys, long documents, long returned) = source.Examined;
        session.Server.Counters.CountScan(keys, documents, returned);
        return hasMore;
    }

    private sealed record Options(
        (string Name, BsonValue Value)[] Stages, long BatchSize, IndexHint Hint, Variables? Variables, bool IsStrict)
    {
        public static Options Parse(BsonDocument command)
        {
            BsonValue? pipeline = null;
            BsonValue? cursor = null;
            IndexHint hint = default;
            Variables? variables = null;
            bool isStrict = false;
            foreach ((string name, BsonValue value) in command.Skip(1))
            {
                switch (name)
                {
                    case "pipeline": pipeline = value; break;
                    case "cursor": cursor = value; break;
                    case "hint": hint = IndexHint.Parse(value); break;
                    case "let": variables = Expressions.Variables.Parse(CommandFields.Document("aggregate", name, value)); break;
                    case "allowDiskUse" or "bypassDocumentValidation" or "needsMerge" or "fromMongos": break;
                    case "apiStrict": isStrict = value.ToBoolean(); break;
                    case "explain" when !value.ToBoolean(): break;
                    case "collation": CommandFields.RequireSimpleCollation(value); break;
                    case "explain": throw CommandException.NotSupported("'explain' in aggregate");
                    default: CommandFields.RequireGeneric("aggregate", name); break;
                }
            }

            if (pipeline is not { } stages)
                throw CommandException.MissingField("aggregate", "pipeline");
            if (stages.Type != BsonType.Array)
                throw CommandException.TypeMismatch("'pipeline' option must be specified as an array");
            if (cursor is not { } given)
                throw CommandException.FailedToParse("The 'cursor' option is required, except for aggregate with the explain argument");
            if (Values.Items(stages).Count() > ProtocolLimits.MaximumStages)
                throw CommandException.FailedToParse($"Pipeline length must be no longer than {ProtocolLimits.MaximumStages} stages");
            return new Options([.. Values.Items(stages).Select(Stage)],
                BatchSizeOf(CommandFields.Document("aggregate", "cursor", given)), hint, variables, isStrict);
        }

        private static (string Name, BsonValue Value) Stage(BsonValue value)
        {
            if (value.Type != BsonType.Document)
                throw CommandException.TypeMismatch("Each element of the 'pipeline' array must be an object");
            KeyValuePair<string, BsonValue>[] fields = [.. value.ToDocument()];
            if (fields.Length != 1)
                throw CommandException.Location(40323, "A pipeline stage specification object must contain exactly one field.");
            StageParser.RequireKnown(fields[0].Key);
            return (fields[0].Key, fields[0].Value);
        }

        private static long BatchSizeOf(BsonDocument cursor)
        {
            long size = ProtocolLimits.DefaultFirstBatch;
            foreach ((string name, BsonValue value) in cursor)
                size = name == "batchSize"
                    ? CommandFields.Count("cursor", name, value)
                    : throw CommandException.UnknownField("cursor", name);
            return size;
        }
    }
}
