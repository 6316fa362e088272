using System.Diagnostics;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>explain of find: which plan, and with a verbosity above queryPlanner what it cost.</summary>
internal static class ExplainCommand
{
    /// <summary>
    /// Levels that a reply puts around a filter, at most, and that the command did not: statistics, and stages inside each other.
    /// </summary>
    private const int LevelsAround = 10;

    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        ReadOnlySpan<byte> inner = ReadFind(request, out bool isExecuted);
        var first = new BsonReader(inner);
        first.Read();
        FindQuery query = session.Query;
        query.Parse(inner);
        Collection? collection = session.FindCollection(CommandSession.CollectionName(first));
        long milliseconds = Run(session, collection, isExecuted);
        BsonWriter body = reply.Body;
        body.WriteString("explainVersion"u8, "1");
        body.StartDocument("queryPlanner"u8);
        WritePlan(body, query, $"{session.Database}.{first.StringText}");
        body.End();
        if (isExecuted)
        {
            body.StartDocument("executionStats"u8);
            WriteCosts(body, query, milliseconds);
            body.End();
        }

        WriteEnd(session, body, inner);
        reply.Succeed();
    }

    /// <summary>What every explain ends with.</summary>
    public static void WriteEnd(CommandSession session, BsonWriter body, ReadOnlySpan<byte> find)
    {
        body.WriteDocument("command"u8, find);
        body.StartDocument("serverInfo"u8);
        body.WriteString("host"u8, Environment.MachineName);
        body.WriteInt32("port"u8, session.Server.Port);
        body.WriteString("version"u8, HelloCommand.Version);
        body.End();
    }

    /// <returns>The find that is explained.</returns>
    /// <exception cref="CommandException">It is something else, or nested too deeply.</exception>
    public static ReadOnlySpan<byte> ReadFind(in CommandRequest request, out bool isExecuted)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        if (reader.Type != BsonType.Document)
            throw CommandException.TypeMismatch("BSON field 'explain.explain' is the wrong type, expected type 'object'");
        ReadOnlySpan<byte> inner = reader.Value;
        isExecuted = Verbosity(reader) != "queryPlanner";
        if (BsonValidator.ValidateStructure(inner) + LevelsAround > BsonValidator.MaximumDepth)
            throw ProtocolLimits.TooDeep();
        var first = new BsonReader(inner);
        if (!first.Read() || !first.NameIs("find"u8))
            throw CommandException.NotSupported("explain of commands other than find");
        return inner;
    }

    private static string Verbosity(BsonReader reader)
    {
        string verbosity = reader.Find("verbosity"u8) ? reader.StringText : "allPlansExecution";
        return verbosity is "queryPlanner" or "executionStats" or "allPlansExecution"
            ? verbosity
            : throw CommandException.BadValue($"Enumeration value '{verbosity}' for field 'explain.verbosity' is not a valid value.");
    }

    /// <returns>Milliseconds; 0 where the query is only planned.</returns>
    public static long Run(CommandSession session, Collection? collection, bool isExecuted)
    {
        if (collection == null)
            return 0;
        FindQuery query = session.Query;
        long start = Stopwatch.GetTimestamp();
        using var use = CollectionUse.ToRead(session, collection);
        if (!isExecuted)
        {
            query.OpenPlan(collection.IsDropped ? null : collection);
            return 0;
        }

        query.Open(collection.IsDropped ? null : collection);
        while (query.MoveNext())
        {
            // Only the counters are wanted.
        }

        return (long)Stopwatch.GetElapsedTime(start).TotalMilliseconds;
    }

    /// <summary>Writes what queryPlanner holds.</summary>
    public static void WritePlan(BsonWriter body, FindQuery query, string nameSpace)
    {
        body.WriteString("namespace"u8, nameSpace);
        body.WriteBoolean("indexFilterSet"u8, false);
        body.WriteDocument("parsedQuery"u8, query.Filter.Source);
        if (query.Filter.Collation is { } collation)
            body.WriteDocument("collation"u8, collation.Description.Bytes);
        body.StartDocument("winningPlan"u8);
        WriteStages(body, query, withCosts: false);
        body.End();
        body.StartArray("rejectedPlans"u8);
        body.End();
    }

    /// <summary>Writes what executionStats holds.</summary>
    public static void WriteCosts(BsonWriter body, FindQuery query, long milliseconds)
    {
        body.WriteBoolean("executionSuccess"u8, true);
        Numbers.Write(body, "nReturned"u8, query.Returned);
        Numbers.Write(body, "executionTimeMillis"u8, milliseconds);
        Numbers.Write(body, "totalKeysExamined"u8, query.Runner?.KeysExamined ?? 0);
        Numbers.Write(body, "totalDocsExamined"u8, query.Runner?.DocumentsExamined ?? 0);
        body.StartDocument("executionStages"u8);
        WriteStages(body, query, withCosts: true);
        body.End();
    }

    /// <summary>The stages from the outermost in, each the inputStage of the one before; the open document becomes the first.</summary>
    private static void WriteStages(BsonWriter body, FindQuery query, bool withCosts)
    {
        int depth = 0;
        PlanExecutor? runner = query.Runner;
        long matched = runner?.Matched ?? 0;
        if (query.Limit > 0 && !query.UsesBlockingSort && BeginStage(body, "LIMIT", ref depth, withCosts, query.Returned))
            Numbers.Write(body, "limitAmount"u8, query.Limit);
        if (query.Skip > 0 && BeginStage(body, "SKIP", ref depth, withCosts, query.Returned))
            Numbers.Write(body, "skipAmount"u8, query.Skip);
        if (query.Projection.IsGiven)
            BeginStage(body, "PROJECTION_SIMPLE", ref depth, withCosts, query.Returned);
        if (query.UsesBlockingSort)
        {
            BeginStage(body, "SORT", ref depth, withCosts, Math.Min(matched, query.Skip + query.Returned));
            WriteSort(body, query);
        }

        if (query.Filter.Part is { } part && !ShardTargets.IsPoint(part.Map, new BsonDocument(query.Filter.Source.ToArray())))
            BeginStage(body, "SHARDING_FILTER", ref depth, withCosts, matched);
        if (runner == null)
            BeginStage(body, "EOF", ref depth, withCosts, 0);
        else if (runner.Plan.Index == null)
            WriteFullScan(body, query, runner, ref depth, withCosts);
        else
            WriteIndexScan(body, query, runner, ref depth, withCosts);
        for (int i = 1; i < depth; i++)
            body.End();
    }

    private static bool BeginStage(BsonWriter body, string stage, ref int depth, bool withCosts, long returned)
    {
        if (depth++ > 0)
            body.StartDocument("inputStage"u8);
        body.WriteString("stage"u8, stage);
        if (withCosts)
            Numbers.Write(body, "nReturned"u8, returned);
        return true;
    }

    private static void WriteSort(BsonWriter body, FindQuery query)
    {
        body.StartDocument("sortPattern"u8);
        foreach (IndexField field in query.Sort.Fields)
            body.WriteInt32(System.Text.Encoding.UTF8.GetBytes(field.Path.Text), field.IsDescending ? -1 : 1);
        body.End();
        Numbers.Write(body, "memLimit"u8, BlockingSort.MaximumBytes);
        if (query.Limit > 0)
            Numbers.Write(body, "limitAmount"u8, query.Skip + query.Limit);
        body.WriteString("type"u8, "simple");
    }

    private static void WriteFullScan(BsonWriter body, FindQuery query, PlanExecutor runner, ref int depth, bool withCosts)
    {
        BeginStage(body, "COLLSCAN", ref depth, withCosts, runner.Matched);
        if (!query.Filter.IsEmpty)
            body.WriteDocument("filter"u8, query.Filter.Source);
        body.WriteString("direction"u8, runner.Plan.IsReverse ? "backward" : "forward");
        if (withCosts)
            Numbers.Write(body, "docsExamined"u8, runner.DocumentsExamined);
    }

    private static void WriteIndexScan(BsonWriter body, FindQuery query, PlanExecutor runner, ref int depth, bool withCosts)
    {
        BeginStage(body, "FETCH", ref depth, withCosts, runner.Matched);
        if (!query.Filter.IsEmpty)
            body.WriteDocument("filter"u8, query.Filter.Source);
        if (withCosts)
            Numbers.Write(body, "docsExamined"u8, runner.DocumentsExamined);
        IndexSpec spec = runner.Plan.Index!.Spec;
        BeginStage(body, "IXSCAN", ref depth, withCosts, runner.KeysExamined);
        body.WriteDocument("keyPattern"u8, spec.KeyPattern().Bytes);
        body.WriteString("indexName"u8, spec.Name);
        if (spec.Collation is { } collation)
            body.WriteDocument("collation"u8, collation.Description.Bytes);
        body.WriteBoolean("isMultiKey"u8, runner.Plan.Index.IsMultikey);
        body.WriteBoolean("isUnique"u8, spec.IsUnique);
        body.WriteBoolean("isSparse"u8, spec.IsSparse);
        body.WriteBoolean("isPartial"u8, spec.Partial != null);
        body.WriteInt32("indexVersion"u8, 2);
        body.WriteString("direction"u8, runner.Plan.IsReverse ? "backward" : "forward");
        if (withCosts)
            Numbers.Write(body, "keysExamined"u8, runner.KeysExamined);
    }
}
