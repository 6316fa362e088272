using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Collections;

/// <summary>Reads what matters out of an explain, of any command and in any of its forms.</summary>
/// <remarks>
/// Forms: a plan of the classic engine or (explainVersion 2) of the slot-based one, a pipeline whose first stage holds the plan of what a
/// find could do, and either of them for each shard that a router asked.
/// </remarks>
internal static class QueryPlanReader
{
    /// <summary>Stages that find by _id alone do not name its index.</summary>
    private const string IdIndex = "_id_";

    /// <summary>Of a shard, a collection or an index, in characters.</summary>
    private const int LongestName = 60;

    /// <param name="reply">The server's.</param>
    /// <param name="limit">
    /// The limit of the query, 0 for none: a router adds up what its shards return, which is more than the client gets.
    /// </param>
    /// <param name="skip">The skip of the query; 0 for none.</param>
    public static PlanSummary Read(BsonDocument reply, int limit, long skip = 0)
    {
        PlanSummary plan = ReadAny(reply, limit, skip);
        return plan.Sources is [{ Stage: null }] ? plan with { Sources = [] } : plan;
    }

    /// <returns>With its own collection among the sources.</returns>
    private static PlanSummary ReadAny(BsonDocument reply, int limit, long skip)
    {
        if (reply.Find("queryPlanner") is not null)
            return ReadQuery(reply, limit, skip);
        // Of an aggregation: a router has it from each of its shards, and does the rest itself or has one of them do it.
        if (reply.FindDocument("shards") is { } byShard)
        {
            PlanSummary sum = Sum([.. byShard.Select(shard => (shard.Key, ReadAny(DocumentOf(shard.Value), limit: 0, skip: 0)))], limit);
            return sum.Reading(SourcesOf([.. ItemsOf(reply, "splitPipeline.mergerPart")]));
        }

        return ReadPipeline([.. ItemsOf(reply, "stages")]);
    }

    /// <summary>Its first stage stands for all that a find could do; the others follow it, each on its own.</summary>
    private static PlanSummary ReadPipeline(BsonDocument[] stages)
    {
        string[] names = [.. stages.Select(NameOf)];
        if (stages is not [var first, .. var rest] || ValueOf(first) is not { } query || query.Find("queryPlanner") is null)
            return new PlanSummary { Stages = string.Join(" > ", names.Reverse()) }.Reading(SourcesOf(stages));
        PlanSummary found = ReadAny(query, limit: 0, skip: 0);
        return (found with
        {
            Stages = string.Join(" > ", [.. names.Skip(1).Reverse(), found.Stages]),
            Returned = rest.LastOrDefault()?.FindInt64("nReturned") ?? first.FindInt64("nReturned") ?? found.Returned,
        }).Reading(SourcesOf(rest, found.Returned));
    }

    private static PlanSummary ReadQuery(BsonDocument reply, int limit, long skip)
    {
        BsonDocument? plan = PlanOf(reply, "queryPlanner.winningPlan");
        BsonDocument[] executed = [.. StagesIn(reply.FindDocument("executionStats.executionStages"))];
        PlanSource[] joined = [.. StagesOf(plan).Where(IsJoin).Select(stage => ReadJoin(stage, executed))];
        (string stages, string? index) = Follow(plan);
        int? shards = plan?.Find("shards") is { } list ? DocumentOf(list).Count() : null;
        // A count returns none of what it counts.
        long[] counted = [.. executed.Select(stage => stage.FindInt64("nCounted")).OfType<long>()];
        long all = counted.Length > 0 ? counted.Sum() : reply.FindInt64("executionStats.nReturned") ?? 0;
        long returned = Math.Min(all, limit > 0 ? limit : long.MaxValue);
        long keys = reply.FindInt64("executionStats.totalKeysExamined") ?? 0;
        long documents = reply.FindInt64("executionStats.totalDocsExamined") ?? 0;
        string name = reply.FindString("queryPlanner.namespace") ?? plan?.FindString("shards.0.namespace") ?? "";
        return new PlanSummary
        {
            Index = index,
            Stages = stages,
            KeysExamined = keys,
            DocumentsExamined = documents,
            Returned = returned,
            Shards = shards,
            // Each shard has to be ready to return all that the router skips and returns; groups of all documents need them all.
            Necessary = IsOfAll(reply, plan) ? documents : (skip + returned) * (limit > 0 ? shards ?? 1 : 1),
            ByShard = shards is null ? [] : ReadShards(plan!, reply),
            Sources =
            [
                new PlanSource(CollectionOf(name), returned)
                {
                    Index = index,
                    IsScanned = StagesOf(plan).Any(stage => stage.FindString("stage") == "COLLSCAN"),
                    KeysExamined = keys - joined.Sum(source => source.KeysExamined),
                    DocumentsExamined = documents - joined.Sum(source => source.DocumentsExamined),
                },
                .. joined,
            ],
        };
    }

    private static bool IsOfAll(BsonDocument reply, BsonDocument? plan) =>
        reply.FindDocument("queryPlanner.parsedQuery") is { } filter && !filter.Any()
        && StagesOf(plan).Any(stage => stage.FindString("stage") == "GROUP");

    /// <summary>A $lookup that the slot-based engine carries out with what comes before it.</summary>
    private static bool IsJoin(BsonDocument stage) => stage.FindString("foreignCollection") is not null;

    /// <param name="join">Of the winning plan.</param>
    /// <param name="executed">What the whole plan did; its stages have the number of that of the plan to which they belong.</param>
    private static PlanSource ReadJoin(BsonDocument join, BsonDocument[] executed)
    {
        BsonDocument[] own = [.. executed.Where(stage => IsPartOf(stage, join))];
        string? index = join.FindString("indexName");
        BsonDocument? input = join.FindDocument("inputStage");
        return new PlanSource(CollectionOf(join.FindString("foreignCollection")!),
            executed.FirstOrDefault(stage => input is not null && IsPartOf(stage, input))?.FindInt64("nReturned") ?? 0, "$lookup")
        {
            Index = Shortened(index),
            IsScanned = index is null && join.FindString("strategy") is not "NonExistentForeignCollection",
            KeysExamined = own.Sum(stage => stage.FindInt64("keysExamined") ?? 0),
            DocumentsExamined =
                own.Where(stage => stage.FindString("stage") is "scan" or "seek").Sum(stage => stage.FindInt64("numReads") ?? 0),
        };

        static bool IsPartOf(BsonDocument stage, BsonDocument planned) =>
            stage.FindInt64("planNodeId") is { } number && number == planned.FindInt64("planNodeId");
    }

    /// <summary>What stages of a pipeline read of other collections.</summary>
    /// <param name="stages">One after the other.</param>
    /// <param name="input">Documents that come into the first.</param>
    private static PlanSource[] SourcesOf(BsonDocument[] stages, long input = 0)
    {
        var sources = new List<PlanSource>();
        foreach (BsonDocument stage in stages)
        {
            sources.AddRange(SourcesOf(stage, input));
            input = stage.FindInt64("nReturned") ?? 0;
        }

        return [.. sources];
    }

    private static IEnumerable<PlanSource> SourcesOf(BsonDocument stage, long input)
    {
        BsonDocument value = ValueOf(stage) ?? BsonDocument.Empty;
        switch (NameOf(stage))
        {
            case "$lookup" or "$graphLookup":
                return NamesIn(stage) is { Length: > 0 } looked
                    ?
                    [
                        new PlanSource(looked, input, NameOf(stage))
                        {
                            Index = Joined(ValuesOf(stage, "indexesUsed").Select(index => index.ToString())),
                            IsScanned = stage.FindInt64("collectionScans") > 0,
                            KeysExamined = stage.FindInt64("totalKeysExamined"),
                            DocumentsExamined = stage.FindInt64("totalDocsExamined"),
                        },
                    ]
                    : [];
            case "$unionWith":
                PlanSummary? read = value.Find("pipeline") is not { Type: BsonType.Document or BsonType.Array } pipeline ? null
                    : pipeline.Type == BsonType.Array ? ReadPipeline([.. ItemsOf(value, "pipeline")])
                    : ReadAny(pipeline.ToDocument(), limit: 0, skip: 0);
                // Of what is only planned there is the pipeline as it was written.
                return read?.Sources is [{ Stage: null } own, ..] ? [own with { Stage = "$unionWith" }, .. read.Sources.Skip(1)]
                    : NamesIn(stage) is { Length: > 0 } united ? [new PlanSource(united, 0, "$unionWith")] : [];
            case "$facet":
                return value.SelectMany(branch => SourcesOf([.. DocumentOf(branch.Value).Select(inner => DocumentOf(inner.Value))]));
            default:
                return [];
        }
    }

    /// <summary>The collections that a stage names, and those that stages within its pipeline do.</summary>
    private static string NamesIn(BsonDocument stage) => string.Join(", ", Find(stage).Select(CollectionOf).Distinct());

    private static IEnumerable<string> Find(BsonDocument document)
    {
        foreach ((string key, BsonValue value) in document)
        {
            if (key == "$unionWith" && value.Type == BsonType.String)
                yield return value.ToString();
            if (value.Type is not (BsonType.Document or BsonType.Array))
                continue;
            BsonDocument inner = value.ToDocument();
            if (key is "$lookup" or "$graphLookup" or "$unionWith"
                && (inner.FindString("from") ?? inner.FindString("from.coll") ?? inner.FindString("coll")) is { } name)
                yield return name;
            foreach (string nested in Find(inner))
                yield return nested;
        }
    }

    private static IReadOnlyList<ShardPlan> ReadShards(BsonDocument plan, BsonDocument reply)
    {
        ILookup<string, BsonDocument> executed = ItemsOf(reply, "executionStats.executionStages.shards").ToLookup(ShardOf);
        return [.. ItemsOf(plan, "shards").Select(shard => ReadShard(shard, executed[ShardOf(shard)].FirstOrDefault()))
            .OrderBy(shard => shard.Shard, StringComparer.Ordinal)];
    }

    private static string ShardOf(BsonDocument shard) => shard.FindString("shardName") ?? "";

    /// <param name="shard">Of the winning plan.</param>
    /// <param name="executed">What it did; null where that is not told.</param>
    private static ShardPlan ReadShard(BsonDocument shard, BsonDocument? executed)
    {
        BsonDocument did = executed ?? BsonDocument.Empty;
        (string stages, string? index) = Follow(PlanOf(shard, "winningPlan"));
        return new ShardPlan(
            ForeignText.OneLine(ShardOf(shard), LongestName), stages, did.FindInt64("totalKeysExamined") ?? 0,
            did.FindInt64("totalDocsExamined") ?? 0, did.FindInt64("nReturned") ?? 0, index);
    }

    /// <returns>The stages from the outermost in, of several inputs the first; the indexes of all of them.</returns>
    private static (string Stages, string? Index) Follow(BsonDocument? plan)
    {
        var stages = new List<string>();
        for (BsonDocument? stage = plan; stage is not null; stage = InputsOf(stage).FirstOrDefault())
            stages.Add(stage.FindString("stage") ?? "?");
        return (string.Join(" > ", stages), Joined(StagesOf(plan).Where(stage => !IsJoin(stage)).Select(IndexOf).OfType<string>()));
    }

    /// <remarks>Release 8.0's EXPRESS stages name it, unless they change what they find.</remarks>
    private static string? IndexOf(BsonDocument stage) =>
        stage.FindString("indexName") ?? (stage.FindString("stage") is { } name
            && (name is "IDHACK" or "CLUSTERED_IXSCAN" || name.StartsWith("EXPRESS_", StringComparison.Ordinal)) ? IdIndex : null);

    private static string? Joined(IEnumerable<string> indexes) =>
        indexes.Distinct().ToArray() is { Length: > 0 } names ? string.Join(", ", names.Select(Shortened)) : null;

    private static string? Shortened(string? name) => name is null ? null : ForeignText.OneLine(name, LongestName);

    /// <summary>Of a namespace what follows its database.</summary>
    private static string CollectionOf(string name) => Shortened(name[(name.IndexOf('.', StringComparison.Ordinal) + 1)..])!;

    private static PlanSummary Sum(IReadOnlyList<(string Shard, PlanSummary Plan)> parts, int limit) =>
        parts.Count == 0 ? new PlanSummary { Stages = "" } : parts[0].Plan with
        {
            KeysExamined = parts.Sum(part => part.Plan.KeysExamined),
            DocumentsExamined = parts.Sum(part => part.Plan.DocumentsExamined),
            Returned = Math.Min(parts.Sum(part => part.Plan.Returned), limit > 0 ? limit : long.MaxValue),
            Shards = parts.Count,
            Necessary = parts.Sum(part => part.Plan.Necessary),
            Sources = [.. parts.SelectMany(part => part.Plan.Sources).GroupBy(source => (source.Stage, source.Collection)).Select(Sum)],
            ByShard = [.. parts.OrderBy(part => part.Shard, StringComparer.Ordinal).Select(part => new ShardPlan(
                ForeignText.OneLine(part.Shard, LongestName), part.Plan.Stages, part.Plan.KeysExamined, part.Plan.DocumentsExamined,
                part.Plan.Returned, part.Plan.Index))],
        };

    /// <summary>What several shards read of the same collection. What they ask others for, they do not count.</summary>
    private static PlanSource Sum(IEnumerable<PlanSource> parts)
    {
        PlanSource[] all = [.. parts];
        long keys = all.Sum(source => source.KeysExamined) ?? 0;
        long documents = all.Sum(source => source.DocumentsExamined) ?? 0;
        long served = all.Sum(source => source.Served);
        bool isKnown = all.All(source => source.DocumentsExamined is not null)
            && (all[0].Stage is null or "$unionWith" || served == 0 || keys + documents > 0);
        return all[0] with
        {
            Served = served,
            Index = Joined(all.Select(source => source.Index).OfType<string>()),
            IsScanned = all.Any(source => source.IsScanned),
            KeysExamined = isKnown ? keys : null,
            DocumentsExamined = isKnown ? documents : null,
        };
    }

    /// <summary>The same plan, with what further stages read of other collections.</summary>
    private static PlanSummary Reading(this PlanSummary plan, PlanSource[] others) => others.Length == 0 ? plan : plan with
    {
        KeysExamined = plan.KeysExamined + others.Sum(source => source.KeysExamined ?? 0),
        DocumentsExamined = plan.DocumentsExamined + others.Sum(source => source.DocumentsExamined ?? 0),
        Sources = [.. plan.Sources, .. others],
    };

    /// <summary>A stage's name: its first element's.</summary>
    private static string NameOf(BsonDocument stage) => stage.FirstOrDefault().Key ?? "?";

    /// <returns>Null for one that is not a document.</returns>
    private static BsonDocument? ValueOf(BsonDocument stage) =>
        stage.FirstOrDefault().Value is { Type: BsonType.Document } value ? value.ToDocument() : null;

    private static BsonDocument DocumentOf(BsonValue value) =>
        value.Type is BsonType.Document or BsonType.Array ? value.ToDocument() : BsonDocument.Empty;

    private static IEnumerable<BsonValue> ValuesOf(BsonDocument document, string list) =>
        (document.FindDocument(list) ?? BsonDocument.Empty).Select(item => item.Value);

    private static IEnumerable<BsonDocument> ItemsOf(BsonDocument document, string list) => ValuesOf(document, list).Select(DocumentOf);

    /// <summary>explainVersion 2 puts the plan one level deeper.</summary>
    private static BsonDocument? PlanOf(BsonDocument parent, string path) =>
        parent.FindDocument($"{path}.queryPlan") ?? parent.FindDocument(path);

    /// <summary>The stage and all below it, from the outermost in; through a router, those of its first shard.</summary>
    private static IEnumerable<BsonDocument> StagesOf(BsonDocument? plan) =>
        plan is null ? [] : InputsOf(plan).SelectMany(StagesOf).Prepend(plan);

    private static IEnumerable<BsonDocument> InputsOf(BsonDocument stage) =>
        stage.FindDocument("inputStage") is { } input ? [input]
        : stage.Find("inputStages") is not null ? ItemsOf(stage, "inputStages")
        : PlanOf(stage, "shards.0.winningPlan") is { } ofShard ? [ofShard] : [];

    /// <summary>Everything within what was executed that calls itself a stage.</summary>
    private static IEnumerable<BsonDocument> StagesIn(BsonDocument? executed)
    {
        if (executed is null)
            yield break;
        if (executed.FindString("stage") is not null)
            yield return executed;
        foreach (BsonDocument stage in executed.Where(element => element.Value.Type is BsonType.Document or BsonType.Array)
            .SelectMany(element => StagesIn(element.Value.ToDocument())))
            yield return stage;
    }
}
