using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>
/// Checks the names of update operators, pipeline stages and query operators against the manual of MongoDB 8.0. Expressions are
/// left to the server.
/// </summary>
internal static class Operators
{
    private static readonly string[] OfUpdates =
    [
        "$addToSet", "$bit", "$currentDate", "$inc", "$max", "$min", "$mul", "$pop", "$pull", "$pullAll", "$push", "$rename",
        "$set", "$setOnInsert", "$unset",
    ];

    private static readonly string[] StagesOfUpdates = ["$addFields", "$project", "$replaceRoot", "$replaceWith", "$set", "$unset"];

    private static readonly string[] Stages =
    [
        "$addFields", "$bucket", "$bucketAuto", "$changeStream", "$changeStreamSplitLargeEvent", "$collStats", "$count", "$currentOp",
        "$densify", "$documents", "$facet", "$fill", "$geoNear",
        "$graphLookup", "$group", "$indexStats", "$limit", "$listLocalSessions", "$listSampledQueries", "$listSearchIndexes",
        "$listSessions", "$lookup", "$match", "$merge", "$out",
        "$planCacheStats", "$project", "$querySettings", "$queryStats", "$redact", "$replaceRoot", "$replaceWith", "$sample", "$search",
        "$searchMeta", "$set", "$setWindowFields",
        "$shardedDataDistribution", "$skip", "$sort", "$sortByCount", "$unionWith", "$unset", "$unwind", "$vectorSearch",
    ];

    /// <summary>The operators of filters that stand in the place of a field.</summary>
    private static readonly string[] OfFilters =
    [
        "$and", "$comment", "$expr", "$jsonSchema", "$nor", "$or", "$sampleRate", "$text", "$where",
    ];

    /// <summary>The operators of a field's value.</summary>
    private static readonly string[] OfFields =
    [
        "$all", "$bitsAllClear", "$bitsAllSet", "$bitsAnyClear", "$bitsAnySet", "$elemMatch", "$eq", "$exists", "$geoIntersects",
        "$geoWithin", "$gt", "$gte", "$in", "$lt", "$lte",
        "$maxDistance", "$minDistance", "$mod", "$ne", "$near", "$nearSphere", "$nin", "$not", "$options", "$regex", "$size", "$type",
    ];

    /// <summary>They make a mapping a reference to a document, which is a value.</summary>
    private static readonly string[] OfReferences = ["$ref", "$id", "$db"];

    /// <param name="node">Operators, a pipeline or a whole document.</param>
    /// <param name="path">The path for messages.</param>
    /// <exception cref="UserException">An operator or stage that MongoDB does not have.</exception>
    public static void RequireUpdate(ScenarioNode node, string path)
    {
        if (node is SequenceNode pipeline)
            RequirePipeline(pipeline, path, StagesOfUpdates);
        else if (node is MappingNode update)
            RequireKnown(Named(update), "update operator", path, OfUpdates);
    }

    /// <inheritdoc cref="RequireUpdate"/>
    public static void RequirePipeline(ScenarioNode node, string path) => RequirePipeline(node, path, Stages);

    /// <inheritdoc cref="RequireUpdate"/>
    public static void RequireFilter(ScenarioNode? node, string path)
    {
        if (node is not MappingNode filter)
            return;
        RequireKnown(Named(filter), "query operator", path, OfFilters);
        foreach (MappingEntry entry in filter.Entries)
        {
            if (entry.Name is "$and" or "$or" or "$nor")
                RequireFilters(entry.Value, $"{path}.{entry.Name}");
            else if (!entry.Name.StartsWith('$'))
                RequireField(entry.Value, $"{path}.{entry.Name}");
        }
    }

    private static void RequireFilters(ScenarioNode node, string path)
    {
        foreach (ScenarioNode filter in (node as SequenceNode)?.Items ?? [])
            RequireFilter(filter, path);
    }

    /// <summary>Checks a field as the server sees it: the first key says whether a mapping holds operators or is a value.</summary>
    private static void RequireField(ScenarioNode node, string path)
    {
        if (node is not MappingNode { Entries: [{ Name: ['$', ..] first }, ..] } mapping || OfReferences.Contains(first)
            || LiteralReader.IsWrapper(mapping))
            return;
        RequireKnown(mapping.Entries, "query operator", path, OfFields);
        foreach (MappingEntry entry in mapping.Entries)
        {
            if (entry.Name == "$not")
                RequireField(entry.Value, $"{path}.$not");
            else if (entry.Name == "$elemMatch")
                RequireElement(entry.Value, $"{path}.$elemMatch");
        }
    }

    private static void RequireElement(ScenarioNode node, string path)
    {
        if (node is MappingNode { Entries: [{ Name: ['$', ..] first }, ..] } && !OfFilters.Contains(first))
            RequireField(node, path);
        else
            RequireFilter(node, path);
    }

    private static void RequirePipeline(ScenarioNode node, string path, string[] allowed)
    {
        foreach ((int i, MappingNode stage) in ((node as SequenceNode)?.Items ?? []).OfType<MappingNode>().Index())
        {
            // A generator draws the stage.
            if (stage.Entries is [{ Name: ['^', ..] }])
                continue;
            RequireKnown(stage.Entries, "pipeline stage", path, allowed);
            if (stage.Entries is not [var only])
                throw MappingReader.Wrong(stage,
                    $"{path}: a stage is a mapping with one key; "
                    + $"found {(stage.Entries.Count == 0 ? "none" : string.Join(", ", stage.Entries.Select(e => e.Name)))}",
                    "such as [{$match: {…}}, {$sort: {…}}]");
            RequireInside(only, $"{path}.{i}.{only.Name}");
        }
    }

    private static void RequireInside(MappingEntry stage, string path)
    {
        if (stage.Name == "$match")
            RequireFilter(stage.Value, path);
        else if (stage.Name is "$lookup" or "$unionWith" && (stage.Value as MappingNode)?.Find("pipeline") is { } inner)
            RequirePipeline(inner, $"{path}.pipeline");
        else if (stage.Name == "$facet")
        {
            foreach (MappingEntry facet in (stage.Value as MappingNode)?.Entries ?? [])
                RequirePipeline(facet.Value, $"{path}.{facet.Name}");
        }
    }

    private static IEnumerable<MappingEntry> Named(MappingNode mapping) =>
        LiteralReader.IsWrapper(mapping) ? [] : mapping.Entries.Where(e => e.Name.StartsWith('$'));

    private static void RequireKnown(IEnumerable<MappingEntry> entries, string kind, string path, string[] known)
    {
        if (entries.FirstOrDefault(e => !known.Contains(e.Name)) is { } unknown)
            throw MappingReader.Unknown(unknown.Key, path, known, kind);
    }
}
