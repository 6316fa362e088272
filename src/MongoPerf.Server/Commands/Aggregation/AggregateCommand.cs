using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>aggregate: reads the pipeline, has its beginning done by a find, and the rest done document by document.</summary>
internal static class AggregateCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        Execute(session, request, reply, statistics: null);

    /// <param name="session">The client's.</param>
    /// <param name="request">The command.</param>
    /// <param name="reply">Its reply.</param>
    /// <param name="statistics">What its first stage, one of <see cref="StatisticsStages"/>, tells; null to find that out.</param>
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply, BsonDocument[]? statistics)
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
        var foreign = new ForeignCollections();
        Collection? collection = hasCollection ? session.FindCollection(name) : null;
        Collation? collation = options.Collation.For(collection);
        var context = new StageContext(options.Variables, session.Database, foreign, collation);
        bool isStatistics = options.Stages.Length > 0 && StatisticsStages.IsOne(options.Stages[0].Name);
        bool isWriting = options.Stages.Length > 0 && WritingStage.IsOne(options.Stages[^1].Name);
        Pipeline pipeline = Pipeline.Parse(
            options.Stages.AsSpan()[(isStatistics ? 1 : 0)..(isWriting ? ^1 : ^0)], context, isOfCollection: !isStatistics);
        Func<CommandSession, IPipelineTarget>? target =
            isWriting ? WritingStage.Parse(options.Stages[^1], context, options.Collation) : null;
        BsonDocument[]? documents = statistics ?? StatisticsStages.TryRun(session, collection, nameSpace, options.Stages);
        if (collection == null)
        {
            // Nothing goes in, and so nothing comes out; but what is wrong is told.
            pipeline.Prepare(session.Query, options.Hint);
            BsonDocument[] made = RunOver(session, pipeline, documents ?? [], foreign);
            if (target != null)
                Write(session, target, [made]);
            CatalogCommands.WriteWholeCursor(reply.Body, nameSpace, target == null ? made : []);
        }
        else
        {
            documents ??= pipeline.Counting?.Count(session, collection, pipeline, options.Hint);
            pipeline.Prepare(session.Query, options.Hint);
            var source = new PipelineSource(session.Query, pipeline, documents, options.Hint, foreign);
            if (target == null)
            {
                Run(session, collection, nameSpace, source, options.BatchSize, reply);
            }
            else
            {
                Write(session, target, Batches(session, collection, source));
                CatalogCommands.WriteWholeCursor(reply.Body, nameSpace, []);
            }
        }

        if (target != null && options.Concern.IsJournaled)
            session.Server.Store.SyncLog();
        reply.Succeed();
    }

    private static BsonDocument[] RunOver(
        CommandSession session, Pipeline pipeline, BsonDocument[] documents, ForeignCollections foreign)
    {
        using var use = CollectionUse.ToRead(session, null, foreign);
        return [.. pipeline.RunOver(documents)];
    }

    private static void Write(
        CommandSession session, Func<CommandSession, IPipelineTarget> open, IEnumerable<IReadOnlyList<BsonDocument>> batches)
    {
        using IPipelineTarget target = open(session);
        foreach (IReadOnlyList<BsonDocument> batch in batches)
        {
            if (batch.Count > 0)
                target.Write(batch);
        }

        target.Complete();
    }

    /// <summary>The pipeline's documents as a cursor gives them, so that nothing is locked between two batches.</summary>
    private static IEnumerable<IReadOnlyList<BsonDocument>> Batches(CommandSession session, Collection collection, PipelineSource source)
    {
        const int DocumentsOfBatch = 1000;
        for (bool hasMore = true; hasMore;)
        {
            var batch = new BsonWriter();
            batch.StartDocument();
            hasMore = source.IsOpen
                ? CursorCommands.Read(session, collection, source, batch, DocumentsOfBatch)
                : Read(session, collection, source, batch, DocumentsOfBatch);
            batch.End();
            yield return [.. new BsonDocument(batch.ToArray()).Select(field => field.Value.ToDocument())];
        }
    }

    private static void Run(
        CommandSession session, Collection collection, string nameSpace, PipelineSource source, long batchSize, ReplyWriter reply)
    {
        Cursor? cursor = null;
        reply.Body.StartDocument("cursor"u8);
        reply.Body.StartArray("firstBatch"u8);
        if (Read(session, collection, source, reply.Body, batchSize))
        {
            session.ReleaseQuery();
            cursor = session.Server.Cursors.Add(nameSpace, collection, source, session.Operation);
        }

        reply.Body.End();
        reply.Body.WriteInt64("id"u8, cursor?.Id ?? 0);
        reply.Body.WriteString("ns"u8, nameSpace);
        reply.Body.End();
    }

    private static bool Read(CommandSession session, Collection collection, PipelineSource source, BsonWriter body, long batchSize)
    {
        using var use = CollectionUse.ToRead(session, collection, source.Foreign);
        source.Open(collection.IsDropped ? null : collection);
        bool hasMore = source.WriteBatch(body, batchSize);
        (long keys, long documents, long returned) = source.Examined;
        session.Server.Counters.CountScan(keys, documents, returned);
        return hasMore;
    }

    private sealed record Options(
        (string Name, BsonValue Value)[] Stages, long BatchSize, IndexHint Hint, Variables? Variables, bool IsStrict,
        WriteConcern Concern, CollationOption Collation)
    {
        public static Options Parse(BsonDocument command)
        {
            BsonValue? pipeline = null;
            BsonValue? cursor = null;
            IndexHint hint = default;
            Variables? variables = null;
            bool isStrict = false;
            WriteConcern concern = default;
            CollationOption collation = default;
            foreach ((string name, BsonValue value) in command.Skip(1))
            {
                switch (name)
                {
                    case "pipeline": pipeline = value; break;
                    case "cursor": cursor = value; break;
                    case "hint": hint = IndexHint.Parse(value); break;
                    case "let": variables = Expressions.Variables.Parse(CommandFields.Document("aggregate", name, value)); break;
                    case "allowDiskUse" or "bypassDocumentValidation" or "needsMerge" or "fromMongos": break;
                    case "writeConcern": concern = WriteConcern.Parse(value); break;
                    case "apiStrict": isStrict = value.ToBoolean(); break;
                    case "explain" when !value.ToBoolean(): break;
                    case "collation": collation = CollationOption.Parse(value); break;
                    case "explain": throw CommandException.NotSupported("'explain' in aggregate");
                    default: CommandFields.RequireGeneric("aggregate", name); break;
                }
            }

            if (pipeline is not { } stages)
                throw CommandException.MissingField("aggregate", "pipeline");
            if (stages.Type != BsonType.Array)
                throw StageParser.NoArray();
            if (cursor is not { } given)
                throw CommandException.FailedToParse("The 'cursor' option is required, except for aggregate with the explain argument");
            return new Options(StageParser.Stages(stages),
                BatchSizeOf(CommandFields.Document("aggregate", "cursor", given)), hint, variables, isStrict, concern, collation);
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
