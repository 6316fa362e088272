using System.Buffers;
using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Plans;

/// <summary>Something that a command can write.</summary>
/// <param name="Name">
/// A namespace such as shop.audit, a whole database as shop.*, or <see cref="WriteTargets.Server"/>; null where only the run would tell.
/// </param>
/// <param name="By">The stage or command that writes it, such as $out or dropDatabase.</param>
public sealed record WriteTarget(string? Name, string By)
{
    /// <param name="name">The name, such as shop.audit, shop.* (which covers shop.audit, too) or server.</param>
    public bool IsCoveredBy(string name) =>
        Name == name || (name.EndsWith(".*", StringComparison.Ordinal) && Name?.StartsWith(name[..^1], StringComparison.Ordinal) == true);
}

/// <summary>
/// Finds what a plan's operations can write, wherever a command names it, so that nothing is written that the run did not create.
/// </summary>
/// <remarks>
/// Commands that are not known here, and those that act on more than a database, count as writing to the server as a whole.
/// </remarks>
public static class WriteTargets
{
    /// <summary>The target of commands that act on the server as a whole, or that are not known.</summary>
    public const string Server = "server";

    /// <summary>What writes where a stage of a pipeline is not known before the run: it comes from a reply, a file or a sample.</summary>
    public const string UnknownStage = "a stage that only the run knows";

    private static readonly SearchValues<char> ForbiddenInDatabase = SearchValues.Create("/\\ \"$*<>:|?");

    /// <summary>They change nothing, except that an aggregation may have a stage that does.</summary>
    private static readonly HashSet<string> Reading =
    [
        "abortTransaction", "aggregate", "atlasVersion", "availableQueryOptions", "balancerCollectionStatus", "balancerStatus",
        "buildInfo", "buildinfo",
        "collStats", "collstats", "commitTransaction",
        "connPoolStats", "connectionStatus", "count", "currentOp", "dataSize", "datasize", "dbHash", "dbhash", "dbStats", "dbstats",
        "distinct", "driverOIDTest", "endSessions", "features",
        "filemd5", "find", "geoNear", "geoSearch", "getCmdLineOpts", "getDefaultRWConcern", "getDiagnosticData", "getLastError",
        "getlasterror", "getLog", "getMore", "getParameter",
        "getShardMap", "getShardVersion", "group", "hello", "hostInfo", "isMaster", "ismaster", "isdbgrid", "listCollections",
        "listCommands", "listDatabases",
        "listIndexes", "listShards", "lockInfo", "parallelCollectionScan", "ping", "planCacheListFilters", "refreshSessions",
        "replSetGetConfig", "replSetGetStatus", "rolesInfo",
        "serverStatus", "shardConnPoolStats", "splitVector", "startSession", "top", "usersInfo", "whatsmyuri",
    ];

    /// <summary>The first value is the collection.</summary>
    private static readonly HashSet<string> OfCollection =
    [
        "collMod", "compact", "convertToCapped", "create", "createIndexes", "createSearchIndexes", "delete", "deleteIndexes", "drop",
        "dropIndexes", "dropSearchIndex", "findAndModify",
        "findandmodify", "insert", "killCursors", "planCacheClear", "planCacheClearFilters", "planCacheSetFilter", "reIndex",
        "setIndexCommitQuorum", "update", "updateSearchIndex", "validate",
    ];

    /// <summary>The first value is the collection with its database before it.</summary>
    private static readonly HashSet<string> OfNamespace =
    [
        "abortReshardCollection", "cleanupOrphaned", "clearJumboFlag", "commitReshardCollection", "configureCollectionBalancing",
        "mergeAllChunksOnShard", "mergeChunks", "moveChunk",
        "moveCollection", "moveRange", "refineCollectionShardKey", "renameCollection", "reshardCollection", "setAllowMigrations",
        "shardCollection", "split", "unshardCollection",
    ];

    /// <summary>The first value is a database.</summary>
    private static readonly HashSet<string> OfDatabase = ["enableSharding", "movePrimary"];

    private static readonly string[] MapReduceModes = ["replace", "merge", "reduce"];

    /// <summary>A target as users write it: a collection as shop.audit, a whole database as shop.*, or server.</summary>
    /// <exception cref="FormatException">None of these.</exception>
    public static string Parse(string name)
    {
        int dot = name.IndexOf('.', StringComparison.Ordinal);
        bool isNamespace = dot > 0 && dot < name.Length - 1 && name.AsSpan(0, dot).IndexOfAny(ForbiddenInDatabase) < 0
            && !name.Any(char.IsControl);
        return isNamespace || name == Server
            ? name
            : throw new FormatException($"'{name}' names nothing that can be written; allowed: DB.COLL such as shop.audit, "
                + $"DB.* for a whole database, and {Server}");
    }

    /// <param name="operation">An operation of a plan.</param>
    /// <param name="database">The run's.</param>
    public static IReadOnlyList<WriteTarget> Of(Operation operation, string database) => operation is SetBalancer
        ? []
        : [.. operation.Steps.SelectMany(step => OfCommand(step.ToCommand(), (step as DatabaseCommand)?.Database ?? database)).Distinct()];

    /// <summary>
    /// Finds what the stages $out and $merge write, at any depth: in pipelines of $facet, $lookup, $unionWith and views, and in whatever a
    /// generator draws from.
    /// </summary>
    /// <param name="value">A pipeline, or what holds one.</param>
    /// <param name="database">The database of a target that names none.</param>
    public static IEnumerable<WriteTarget> OfStages(TemplateValue value, string database) => value is DocumentValue document
        ? document.Elements.SelectMany(element => OfStage(element.Key, element.Value, database).Concat(OfStages(element.Value, database)))
        : value.Parts.SelectMany(part => OfStages(part, database));

    private static IEnumerable<WriteTarget> OfStage(string stage, TemplateValue value, string database) => stage switch
    {
        "$out" or "$internalOutToDifferentDB" => [new(InDatabase(value, database, "coll", "db"), "$out")],
        "$merge" => [new(
            Fields(value)?.Find("into") is { } into ? InDatabase(into, database, "coll", "db") : InDatabase(value, database, "coll", "db"),
            "$merge")],
        _ => [],
    };

    private static IEnumerable<WriteTarget> OfCommand(DocumentValue command, string database)
    {
        (string name, TemplateValue first) = command.Elements[0];
        // What is explained is not done, but an explanation is no reason to name what may not be written.
        if (name == "explain")
        {
            return (Fields(first) ?? first as DocumentValue) is { Elements.Count: > 0 } explained
                ? OfCommand(explained, database)
                : [new WriteTarget(null, name)];
        }

        IEnumerable<string?> named = name switch
        {
            "renameCollection" => [Namespace(first), Namespace(command.Find("to"))],
            "cloneCollectionAsCapped" => [InDatabase(command.Find("toCollection"), database)],
            "mapReduce" or "mapreduce" => MapReduced(command.Find("out"), database),
            "bulkWrite" => Bulk(command.Find("nsInfo")),
            "dropDatabase" => [$"{database}.*"],
            _ when Reading.Contains(name) => [],
            _ when OfCollection.Contains(name) => [InDatabase(first, database)],
            _ when OfNamespace.Contains(name) => [Namespace(first)],
            _ when OfDatabase.Contains(name) =>
                [Text(first) is { Length: > 0 } whole && !whole.Contains('.', StringComparison.Ordinal) ? $"{whole}.*" : null],
            _ => [Server],
        };
        // The fields of a file's row may name anything.
        if (command.Row is not null)
            named = named.Append(null);
        return named.Select(target => new WriteTarget(target, name)).Concat(OfStages(command, database))
            .Concat(command.Find("pipeline") is { } pipeline && HasUnknownStage(pipeline) ? [new WriteTarget(null, UnknownStage)] : []);
    }

    /// <summary>The pipeline, or a stage of it, comes from a reply, a file's row or existing data, which may hold $out or $merge.</summary>
    /// <remarks>Pipelines within stages need no look: a server takes no stage that writes there.</remarks>
    private static bool HasUnknownStage(TemplateValue pipeline) => pipeline switch
    {
        DocumentValue { IsArray: false } stage => stage.Row is not null,
        DocumentValue or LiteralValue => pipeline.Parts.Any(HasUnknownStage),
        FromValue => true,
        _ => !pipeline.Parts.Any() || pipeline.Parts.Any(HasUnknownStage),
    };

    private static IEnumerable<string?> MapReduced(TemplateValue? output, string database) => Fields(output) is not { } fields
        ? [InDatabase(output, database)]
        : fields.Elements is [{ Key: "inline" }] ? []
        : [InDatabase(fields, database, MapReduceModes.FirstOrDefault(mode => fields.Find(mode) is not null) ?? "replace", "db")];

    private static IEnumerable<string?> Bulk(TemplateValue? namespaces) => Fields(namespaces) is { Elements.Count: > 0 } all
        ? all.Elements.Select(element => Namespace(Fields(element.Value)?.Find("ns")))
        : [null];

    /// <summary>A collection by its name alone, or a document that may name the database, too.</summary>
    /// <returns>Null where it is not known.</returns>
    private static string? InDatabase(TemplateValue? value, string database, string collectionField = "", string databaseField = "")
    {
        if (Text(value) is { } alone)
            return Joined(database, alone);
        if (collectionField.Length == 0 || Fields(value) is not { } fields)
            return null;
        return Joined(fields.Find(databaseField) is { } other ? Text(other) : database, Text(fields.Find(collectionField)));
    }

    private static string? Namespace(TemplateValue? value) =>
        Text(value) is { } text && text.IndexOf('.', StringComparison.Ordinal) is > 0 and var dot
            ? Joined(text[..dot], text[(dot + 1)..])
            : null;

    /// <summary>No database has a dot in its name: with one it would look like another namespace.</summary>
    private static string? Joined(string? database, string? collection) =>
        database is null || database.Contains('.', StringComparison.Ordinal) || collection is null or "" or "*" ? null
            : $"{database}.{collection}";

    /// <summary>What does not change: a value that is drawn can't be checked.</summary>
    private static string? Text(TemplateValue? value) =>
        value is LiteralValue { Value: { Type: BsonType.String } text } ? text.ToString() : null;

    /// <returns>Null where a file's row gives it fields, too: nobody knows which before the run.</returns>
    private static DocumentValue? Fields(TemplateValue? value) => value switch
    {
        DocumentValue { Row: null } document => document,
        LiteralValue literal => literal.Parts.SingleOrDefault() as DocumentValue,
        _ => null,
    };
}
