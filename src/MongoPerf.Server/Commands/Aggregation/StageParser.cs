using System.Collections.Frozen;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>What stages are parsed with.</summary>
/// <param name="Variables">Those that expressions may use.</param>
/// <param name="Database">Has the other collections that stages name.</param>
/// <param name="Foreign">Takes those collections.</param>
/// <param name="Collation">What its stages compare strings by; null for their bytes.</param>
/// <param name="Depth">How many $lookup and $unionWith stages it is in.</param>
internal sealed record StageContext(
    Variables? Variables, string Database, ForeignCollections Foreign, Collation? Collation = null, int Depth = 0)
{
    /// <summary>The context of a pipeline within a stage.</summary>
    /// <exception cref="CommandException">232: it is nested too deeply.</exception>
    public StageContext Within(Variables? variables) => Depth < ProtocolLimits.MaximumSubPipelines
        ? this with { Variables = variables, Depth = Depth + 1 }
        : throw new CommandException(232, "MaxSubPipelineDepthExceeded",
            $"Maximum number of nested sub-pipelines exceeded. Limit is {ProtocolLimits.MaximumSubPipelines}");
}

/// <summary>Reads the stages of pipelines; refuses what it does not know with MongoDB's own codes.</summary>
internal static class StageParser
{
    private const int BytesOfSample = 80;

    /// <summary>Known to MongoDB 6.0 and not to this server.</summary>
    public static readonly HashSet<string> MongoStages =
    [
        "$bucketAuto", "$changeStream", "$densify", "$documents", "$fill", "$geoNear", "$graphLookup",
        "$listLocalSessions", "$listSessions", "$planCacheStats", "$redact", "$search",
        "$searchMeta", "$setWindowFields",
    ];

    private static readonly FrozenDictionary<string, Func<BsonValue, StageContext, PipelineStage>> Parsers =
        new Dictionary<string, Func<BsonValue, StageContext, PipelineStage>>
        {
            ["$match"] = (value, context) => Filtering(Match(value), context),
            ["$project"] = (value, context) => Projecting(
                ProjectionTree.Parse(Document("$project", value, 15969), context.Variables, isFind: false), context.Variables),
            ["$addFields"] = (value, context) => Adding("$addFields", value, context.Variables),
            ["$set"] = (value, context) => Adding("$set", value, context.Variables),
            ["$unset"] = (value, context) => Projecting(Unset(value), context.Variables),
            ["$replaceRoot"] = (value, context) => Replacing(NewRoot(value), context.Variables, 40228),
            ["$replaceWith"] = (value, context) => Replacing(value, context.Variables, 40228),
            ["$group"] = (value, context) => new GroupStage(Document("$group", value, 15947), context.Variables, context.Collation).Run,
            ["$bucket"] = (value, context) =>
                GroupingInOrder(BucketStage.ToGroup(value, context.Variables), BsonDocument.Of(("_id", 1)), context),
            ["$out"] = (_, _) => throw OnlyLast("$out"),
            ["$merge"] = (_, _) => throw OnlyLast("$merge"),
            ["$facet"] = (value, context) => new FacetStage(value, context).Run,
            ["$lookup"] = (value, context) => new LookupStage(value, context).Run,
            ["$unionWith"] = (value, context) => new UnionWithStage(value, context).Run,
            ["$sort"] = (value, context) => Sorting(Sort(value), context.Collation),
            ["$skip"] = (value, _) => Skipping(Skip(value)),
            ["$limit"] = (value, _) => Limiting(Limit(value)),
            ["$count"] = (value, _) => Counting(CountField(value)),
            ["$sortByCount"] = (value, context) => SortingByCount(value, context),
            ["$unwind"] = (value, _) => new UnwindStage(value).Run,
            ["$sample"] = (value, _) => Sampling(SampleSize(value)),
            ["$collStats"] = (_, _) => throw OnlyFirst("$collStats"),
            ["$indexStats"] = (_, _) => throw OnlyFirst("$indexStats"),
            [StatisticsStages.CurrentOpName] = (_, _) => throw OnlyFirst(StatisticsStages.CurrentOpName),
        }.ToFrozenDictionary();

    public static PipelineStage Parse(string name, BsonValue value, StageContext context)
    {
        if (Parsers.TryGetValue(name, out Func<BsonValue, StageContext, PipelineStage>? parse))
            return parse(value, context);
        RequireKnown(name);
        throw CommandException.NotSupported($"the pipeline stage {name}");
    }

    /// <summary>Refuses what a pipeline within a stage may not have: a stage that writes, and here one that tells statistics.</summary>
    /// <param name="stages">Of the pipeline.</param>
    /// <param name="of">The stage that it is within.</param>
    /// <param name="code">Of the error where it writes.</param>
    /// <exception cref="CommandException">One of them is such a stage.</exception>
    public static void CheckSubPipeline((string Name, BsonValue Value)[] stages, string of, int code)
    {
        foreach ((string name, _) in stages)
        {
            if (name is "$out" or "$merge")
                throw CommandException.Location(code, $"{name} is not allowed within a {of}'s sub-pipeline");
            if (StatisticsStages.IsOne(name))
                throw CommandException.NotSupported($"{name} within a {of}'s sub-pipeline");
        }
    }

    /// <summary>The stages of a pipeline as the client gave it.</summary>
    /// <exception cref="CommandException">No array, or a stage that is no document of one field or that MongoDB does not have.</exception>
    public static (string Name, BsonValue Value)[] Stages(BsonValue pipeline)
    {
        if (pipeline.Type != BsonType.Array)
            throw NoArray();
        BsonValue[] stages = [.. Values.Items(pipeline)];
        return stages.Length <= ProtocolLimits.MaximumStages
            ? [.. stages.Select(Stage)]
            : throw CommandException.FailedToParse($"Pipeline length must be no longer than {ProtocolLimits.MaximumStages} stages");
    }

    public static CommandException NoArray() => CommandException.TypeMismatch("'pipeline' option must be specified as an array");

    private static (string Name, BsonValue Value) Stage(BsonValue value)
    {
        if (value.Type != BsonType.Document)
            throw CommandException.TypeMismatch("Each element of the 'pipeline' array must be an object");
        KeyValuePair<string, BsonValue>[] fields = [.. value.ToDocument()];
        if (fields.Length != 1)
            throw CommandException.Location(40323, "A pipeline stage specification object must contain exactly one field.");
        RequireKnown(fields[0].Key);
        return (fields[0].Key, fields[0].Value);
    }

    /// <exception cref="CommandException">40324: MongoDB has no such stage.</exception>
    public static void RequireKnown(string name)
    {
        if (!Parsers.ContainsKey(name) && !MongoStages.Contains(name))
            throw CommandException.Location(40324, $"Unrecognized pipeline stage name: '{name}'");
    }

    /// <summary>Whether a stage is part of MongoDB's API version 1.</summary>
    public static bool IsStable((string Name, BsonValue Value) stage) => stage.Name switch
    {
        "$indexStats" or StatisticsStages.CurrentOpName or "$listLocalSessions" or "$listSessions" or "$planCacheStats" or "$search"
            or "$searchMeta" => false,
        "$collStats" => stage.Value.Type != BsonType.Document || stage.Value.ToDocument().All(field => field.Key == "count"),
        _ => true,
    };

    public static BsonDocument Match(BsonValue value) => Document("$match", value, 15959);

    public static BsonDocument Sort(BsonValue value)
    {
        BsonDocument sort = Document("$sort", value, 15973);
        if (!sort.Any())
            throw CommandException.Location(15976, "$sort stage must have at least one sort key");
        foreach ((string field, BsonValue direction) in sort)
        {
            if (direction.Type == BsonType.Document)
                throw CommandException.NotSupported($"$meta in $sort ('{field}')");
            if (!direction.IsNumber)
                throw CommandException.Location(15974, "Illegal key in $sort specification: " + field);
            if (Math.Abs(direction.ToDouble()) != 1)
                throw CommandException.Location(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
        }

        return sort;
    }

    public static long Skip(BsonValue value)
    {
        long skip = Whole(value, 5107200, "invalid argument to $skip stage");
        return skip >= 0 ? skip : throw CommandException.Location(
            5107200, $"invalid argument to $skip stage: Expected a non-negative number in: $skip: {skip}");
    }

    public static long Limit(BsonValue value)
    {
        long limit = Whole(value, 5107201, "invalid argument to $limit stage");
        if (limit < 0)
            throw CommandException.Location(
                5107201, $"invalid argument to $limit stage: Expected a non-negative number in: $limit: {limit}");
        return limit > 0 ? limit : throw CommandException.Location(15958, "the limit must be positive");
    }

    private static long Whole(BsonValue value, int code, string text) => value.IsNumber && value.ToDouble() == Math.Floor(value.ToDouble())
        ? value.ToInt64()
        : throw CommandException.Location(code, $"{text}: Expected an integer: {Values.Text(value)}");

    private static PipelineStage Filtering(BsonDocument match, StageContext context)
    {
        var filter = new Filter(new PathCache()) { Collation = context.Collation };
        filter.Compile(match.Bytes, context.Variables, keepsOrder: true);
        if (context.Collation != null && filter.HasExpressions)
            throw CollationLimits.NotSupported("$expr");
        return documents => documents.Where(document => filter.Matches(document.Bytes));
    }

    private static PipelineStage Projecting(ProjectionTree tree, Variables? variables) =>
        documents => documents.Select(document => tree.Apply(document, variables));

    private static PipelineStage Adding(string stage, BsonValue value, Variables? variables) =>
        Projecting(ProjectionTree.ParseAddition(Document(stage, value, 40272), variables), variables);

    private static ProjectionTree Unset(BsonValue value)
    {
        BsonValue[] fields = value.Type switch
        {
            BsonType.String => [value],
            BsonType.Array => [.. Values.Items(value)],
            _ => throw CommandException.Location(31002, "$unset specification must be a string or an array"),
        };
        if (fields.Length == 0)
            throw CommandException.Location(31119, "$unset specification must be a string or an array with at least one field");
        if (fields.Any(field => field.Type != BsonType.String))
            throw CommandException.Location(31120, "$unset specification must be a string or an array containing only string values");
        return ProjectionTree.Parse(BsonDocument.Of([.. fields.Select(field => (field.ToString(), (object?)0))]), null, isFind: false);
    }

    private static BsonValue NewRoot(BsonValue value)
    {
        BsonDocument fields = Document("$replaceRoot", value, 40229);
        foreach ((string name, _) in fields)
        {
            if (name != "newRoot")
                throw CommandException.UnknownField("$replaceRoot", name);
        }

        return DirectFields.Find(fields, "newRoot") ?? throw CommandException.MissingField("$replaceRoot", "newRoot");
    }

    private static PipelineStage Replacing(BsonValue value, Variables? variables, int code)
    {
        Expression root = ExpressionParser.Parse(value, variables);
        return documents => documents.Select(document => root.Evaluate(new Scope(document, variables)) is { Type: BsonType.Document } result
            ? result.ToDocument()
            : throw CommandException.Location(code, "'newRoot' expression must evaluate to an object"));
    }

    private static PipelineStage Sorting(BsonDocument sort, Collation? collation)
    {
        var order = new SortSpec(new PathCache());
        order.Compile(sort.Bytes);
        if (collation != null)
            order.Collate(collation);
        return documents => DocumentSort.Sort(documents, order);
    }

    private static PipelineStage Skipping(long skip) => documents => documents.Where((_, index) => index >= skip);

    /// <summary>No document after the last one is asked for: it might fail.</summary>
    private static PipelineStage Limiting(long limit) => documents => documents.Take((int)Math.Min(limit, int.MaxValue));

    private static PipelineStage Counting(string field) =>
        documents => documents.LongCount() is var count and > 0 ? [BsonDocument.Of((field, Numbers.Of(count)))] : [];

    private static string CountField(BsonValue value)
    {
        string field = value.Type == BsonType.String
            ? value.ToString()
            : throw CommandException.Location(40156, "the count field must be a non-empty string");
        if (field.Length == 0)
            throw CommandException.Location(40157, "the count field must be a non-empty string");
        if (field[0] == '$')
            throw CommandException.Location(40158, "the count field cannot be a $-prefixed path");
        if (field.Contains('\0'))
            throw CommandException.Location(40159, "the count field cannot contain a null byte");
        return field.Contains('.') ? throw CommandException.Location(40160, "the count field cannot contain '.'") : field;
    }

    private static PipelineStage SortingByCount(BsonValue value, StageContext context)
    {
        bool isExpression = value.Type == BsonType.Document
            ? value.ToDocument().FirstOrDefault().Key is ['$', ..]
            : value.ToString() is ['$', ..];
        if (!isExpression)
            throw CommandException.Location(value.Type == BsonType.Document ? 40147 : value.Type == BsonType.String ? 40148 : 40149,
                "the sortByCount field must be defined as a $-prefixed path or an expression inside an object");
        BsonDocument group = BsonDocument.Of(("_id", value), ("count", BsonDocument.Of(("$sum", 1))));
        return GroupingInOrder(group, BsonDocument.Of(("count", -1)), context);
    }

    private static PipelineStage GroupingInOrder(BsonDocument group, BsonDocument sort, StageContext context)
    {
        PipelineStage grouping = new GroupStage(group, context.Variables, context.Collation).Run;
        PipelineStage sorting = Sorting(sort, context.Collation);
        return documents => sorting(grouping(documents));
    }

    private static long SampleSize(BsonValue value)
    {
        BsonDocument fields = Document("$sample", value, 28745);
        BsonValue size = DirectFields.Find(fields, "size") ?? throw CommandException.Location(28749, "$sample stage must specify a size");
        if (fields.Count() > 1)
            throw CommandException.Location(28748, "unrecognized option to $sample");
        if (!size.IsNumber)
            throw CommandException.Location(28746, "size argument to $sample must be a number");
        return size.ToInt64() >= 0
            ? size.ToInt64()
            : throw CommandException.Location(28747, "size argument to $sample must not be negative");
    }

    /// <summary>A reservoir: every document is as likely as any other (J. Vitter, "Random sampling with a reservoir", 1985).</summary>
    private static PipelineStage Sampling(long size) => documents =>
    {
        var kept = new List<BsonDocument>();
        long seen = 0;
        long bytes = 0;
        foreach (BsonDocument document in documents)
        {
            seen++;
            bytes += document.Bytes.Length;
            if (kept.Count < size)
            {
                kept.Add(document);
            }
            else if (Random.Shared.NextInt64(seen) is var at && at < size)
            {
                bytes -= kept[(int)at].Bytes.Length;
                kept[(int)at] = document;
            }
            else
            {
                bytes -= document.Bytes.Length;
            }

            if (bytes + (kept.Count * BytesOfSample) > ActiveOperation.MaximumHeldBytes)
                throw new CommandException(292, "QueryExceededMemoryLimitNoDiskUseAllowed",
                    $"Sort exceeded memory limit of {ActiveOperation.MaximumHeldBytes} bytes; the embedded server does not sort on disk");
        }

        ActiveOperation.Gather(bytes + (kept.Count * BytesOfSample));
        return kept;
    };

    private static CommandException OnlyLast(string name) =>
        CommandException.Location(40601, $"{name} can only be the final stage in the pipeline");

    private static CommandException OnlyFirst(string name) =>
        CommandException.Location(40602, $"{name} is only valid as the first stage in a pipeline.");

    private static BsonDocument Document(string stage, BsonValue value, int code) => value.Type == BsonType.Document
        ? value.ToDocument()
        : throw CommandException.Location(code, $"the {stage} stage specification must be an object");
}
