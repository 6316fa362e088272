using System.Text;

namespace MongoPerf.Traffic.Redacting;

/// <summary>What becomes of a value, and of those in it: of what no rule names, values are replaced.</summary>
/// <remarks>Immutable once made, for any thread. Source: the reference of commands, operators and stages, MongoDB 4.2 to 8.0.</remarks>
internal sealed class RedactionRule
{
    /// <summary>Nothing is replaced: options, names of collections and fields, numbers that a server counts with.</summary>
    public static readonly RedactionRule Kept = new() { KeepsAll = true };

    /// <summary>Code: literals in it can't be told from the rest.</summary>
    public static readonly RedactionRule Code = new() { IsCode = true };

    /// <summary>All values are replaced.</summary>
    public static readonly RedactionRule Data = new();

    private static readonly RedactionRule Pattern = new() { IsPattern = true };
    private static readonly RedactionRule Expression = new() { KeepsPaths = true };

    /// <summary>What has operands that are places or lengths, not data.</summary>
    private static readonly RedactionRule Counted = new() { KeepsPaths = true, KeepsNumbers = true, Default = Expression };
    private static readonly RedactionRule Projection = new() { KeepsPaths = true, KeepsNumbers = true, OtherOperators = Expression };
    private static readonly RedactionRule Filter = new();
    private static readonly RedactionRule Pipeline = new() { Default = Expression };
    private static readonly RedactionRule Pushed = new() { Default = With(Data, Each(Kept, "$position", "$slice", "$sort")) };
    private static readonly RedactionRule Update = new() { Default = Data, OfArrays = Pipeline };

    private static readonly RedactionRule Statement = With(Data,
        [
            .. Each(Filter, "q", "filter", "arrayFilters"), .. Each(Update, "u", "updateMods"), .. Each(Expression, "c", "constants"),
            .. Each(Kept, "multi", "upsert", "hint", "collation", "limit", "sort", "insert", "update", "delete", "return"),
        ]);

    private static readonly RedactionRule Index = With(Kept, Each(Filter, "partialFilterExpression"));

    /// <summary>A command; its first element names it, and mostly its collection.</summary>
    public static readonly RedactionRule Command = With(Data,
        [
            .. Each(Filter, "filter", "query", "q", "arrayFilters"), .. Each(Update, "update"), .. Each(Pipeline, "pipeline"),
            .. Each(Projection, "projection", "fields"), .. Each(Expression, "let"), .. Each(Statement, "updates", "deletes", "ops"),
            .. Each(Code, "map", "reduce", "finalize"),
            .. Each(Kept, "$db", "lsid", "txnNumber", "autocommit", "startTransaction", "$clusterTime", "$readPreference", "readConcern",
                "writeConcern", "apiVersion", "apiStrict", "apiDeprecationErrors", "stmtId", "stmtIds", "limit", "skip", "batchSize",
                "maxTimeMS", "maxTimeMSOpOnly", "singleBatch", "sort", "hint", "collation", "tailable", "oplogReplay", "noCursorTimeout",
                "awaitData", "allowPartialResults", "allowDiskUse", "returnKey", "showRecordId", "ordered", "bypassDocumentValidation",
                "collection", "cursors", "cursor", "key", "keyPattern", "maxSize", "maxObjects", "new", "remove", "upsert",
                "nsInfo", "errorsOnly", "verbosity", "explain", "fromMongos", "needsMerge", "isMapReduceCommand",
                "mayBypassWriteBlocking", "recoveryToken"),
        ]);

    /// <summary>What defines or looks at collections, and has no values but those of filters.</summary>
    public static readonly RedactionRule Definition = With(Kept,
        [
            .. Each(Data, "comment"), .. Each(Filter, "validator"), .. Each(Pipeline, "pipeline"), .. Each(Index, "indexes"),
        ]);

    private static readonly HashSet<string> Definitions = new(StringComparer.OrdinalIgnoreCase)
    {
        "create", "createIndexes", "collMod", "drop", "dropDatabase", "dropIndexes", "deleteIndexes", "renameCollection",
        "listCollections", "listIndexes", "listDatabases", "collStats", "dbStats", "validate", "ping", "buildInfo",
        "serverStatus", "getMore", "killCursors", "commitTransaction", "abortTransaction", "shardCollection", "enableSharding",
        "convertToCapped", "compact", "fsync", "hostInfo", "connectionStatus", "replSetGetStatus", "top", "listCommands",
    };

    static RedactionRule()
    {
        Filter.Name(Each(Kept, "$exists", "$type", "$size", "$mod", "$options", "$jsonSchema", "$meta", "$language", "$caseSensitive",
            "$diacriticSensitive", "$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear", "$sampleRate", "$ref", "$db"));
        Filter.Name([("$expr", Expression), ("$regex", Pattern), ("$where", Code), ("$function", Code)]);
        Data.Name(Each(Kept, "$ref", "$db"));
        Update.Name(
        [
            .. Each(Kept, "$pop", "$rename", "$currentDate"), .. Each(Pushed, "$push", "$addToSet"), ("$pull", Filter),
        ]);
        Projection.Name([("$elemMatch", Filter), .. Each(Kept, "$slice", "$meta"), .. Operators()]);
        Expression.Name(Operators());
        Counted.Name(Operators());
        Pipeline.Name(Stages());
    }

    /// <summary>The value stays, with all that is in it.</summary>
    public bool KeepsAll { get; private init; }

    /// <summary>It can't be replaced.</summary>
    public bool IsCode { get; private init; }

    /// <summary>A text is a regular expression.</summary>
    public bool IsPattern { get; private init; }

    /// <summary>A text that begins with $ names a field.</summary>
    public bool KeepsPaths { get; private init; }

    public bool KeepsNumbers { get; private init; }

    /// <summary>A text alone names a collection or a field, or says what to do.</summary>
    public bool KeepsTexts { get; private init; }

    /// <summary>For what is in an array; null for the same rule.</summary>
    private RedactionRule? OfArrays { get; init; }

    /// <summary>For elements that no rule names; null for the same rule.</summary>
    private RedactionRule? Default { get; init; }

    private Dictionary<string, RedactionRule>? Named { get; set; }

    /// <summary>For operators that no rule names; null for <see cref="Default"/>.</summary>
    private RedactionRule? OtherOperators { get; init; }

    /// <summary>Only operators are named: other elements need no look.</summary>
    private bool NamesOperatorsOnly { get; set; } = true;

    /// <returns>The rule of a command's elements but the first.</returns>
    public static RedactionRule OfCommand(string command) => Definitions.Contains(command) ? Definition : Command;

    /// <returns>The rule of an element of a document that has this one.</returns>
    public RedactionRule Of(ReadOnlySpan<byte> name) =>
        Named is not null && (!NamesOperatorsOnly || name is [(byte)'$', ..])
            && Named.TryGetValue(Encoding.UTF8.GetString(name), out RedactionRule? own) ? own
        : (name is [(byte)'$', ..] ? OtherOperators : null) ?? Default ?? this;

    /// <returns>The rule of an array's items.</returns>
    public RedactionRule OfItems() => OfArrays ?? this;

    private static RedactionRule With(RedactionRule others, (string Name, RedactionRule Rule)[] named, bool keepsTexts = false)
    {
        var rule = new RedactionRule { Default = others, KeepsPaths = others.KeepsPaths, KeepsTexts = keepsTexts };
        rule.Name(named);
        return rule;
    }

    private static (string Name, RedactionRule Rule)[] Each(RedactionRule rule, params string[] names) =>
        [.. names.Select(name => (name, rule))];

    private static (string Name, RedactionRule Rule)[] Operators() =>
    [
        ("$literal", Data), ("$function", Code), ("$accumulator", Code), ("$_internalJsEmit", Code), ("$where", Code),
        .. Each(Kept, "$meta", "$rand"),
        ("$getField", With(Expression, Each(Kept, "field"), keepsTexts: true)),
        .. Each(Counted, "$arrayElemAt", "$slice", "$substr", "$substrBytes", "$substrCP", "$round", "$trunc", "$range", "$indexOfArray",
            "$indexOfBytes", "$indexOfCP", "$sum", "$avg", "$pow", "$mod"),
        .. Each(With(Expression, Each(Kept, "format", "timezone", "unit", "startOfWeek", "binSize", "amount", "iso8601")),
            "$dateToString", "$dateFromString", "$dateToParts", "$dateFromParts", "$dateTrunc", "$dateAdd", "$dateSubtract", "$dateDiff",
            "$year", "$month", "$dayOfMonth", "$dayOfWeek", "$dayOfYear", "$hour", "$minute", "$second", "$week", "$isoWeek"),
        .. Each(With(Expression, Each(Kept, "as", "limit")), "$map", "$filter", "$reduce"),
        .. Each(With(Expression, Each(Kept, "field")), "$setField", "$unsetField"),
        .. Each(With(Expression, Each(Kept, "sortBy", "n")), "$sortArray", "$firstN", "$lastN", "$maxN", "$minN", "$topN", "$top",
            "$bottomN", "$bottom"),
        .. Each(With(Expression, [("regex", new RedactionRule { IsPattern = true, KeepsPaths = true }), ("options", Kept)]),
            "$regexMatch", "$regexFind", "$regexFindAll"),
        .. Each(With(Expression, Each(Kept, "to", "format", "useLongestLength")), "$convert", "$zip"),
    ];

    private static (string Name, RedactionRule Rule)[] Stages() =>
    [
        ("$match", Filter), ("$project", Projection), ("$facet", With(Pipeline, [])),
        .. Each(Kept, "$limit", "$skip", "$sample", "$sort", "$count", "$out", "$unset", "$unwind", "$indexStats", "$collStats",
            "$currentOp", "$listSessions", "$listLocalSessions", "$planCacheStats", "$changeStream", "$listSampledQueries"),
        ("$lookup", With(Expression, [.. Each(Kept, "from", "localField", "foreignField", "as"), ("pipeline", Pipeline)])),
        ("$unionWith", With(Expression, [("coll", Kept), ("pipeline", Pipeline)], keepsTexts: true)),
        ("$graphLookup", With(Expression, [.. Each(Kept, "from", "connectFromField", "connectToField", "as", "depthField", "maxDepth"),
            ("restrictSearchWithMatch", Filter)])),
        ("$merge", With(Expression, [.. Each(Kept, "into", "on", "whenNotMatched"),
            ("whenMatched", new RedactionRule { KeepsTexts = true, OfArrays = Pipeline })])),
        ("$geoNear", With(Data, [.. Each(Kept, "distanceField", "spherical", "includeLocs", "key"), ("query", Filter)])),
        ("$bucketAuto", With(Expression, Each(Kept, "buckets", "granularity"))),
        .. Each(Data, "$search", "$searchMeta", "$vectorSearch"),
        .. Each(With(Expression, [.. Each(Kept, "sortBy", "field", "partitionByFields"),
            ("range", With(Kept, [("bounds", new RedactionRule { KeepsTexts = true, OfArrays = Data })])),
            ("output", new RedactionRule { Default = With(Expression, [.. Operators(), .. Each(Kept, "window", "method")]) })]),
            "$setWindowFields", "$fill", "$densify"),
    ];

    private void Name((string Name, RedactionRule Rule)[] rules)
    {
        Named ??= new Dictionary<string, RedactionRule>(StringComparer.Ordinal);
        foreach ((string name, RedactionRule rule) in rules)
        {
            Named[name] = rule;
            NamesOperatorsOnly &= name[0] == '$';
        }
    }
}
