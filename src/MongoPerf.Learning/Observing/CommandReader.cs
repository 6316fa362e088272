using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Learning.Observing;

/// <summary>Tells what a command is in the language of scenarios.</summary>
internal static class CommandReader
{
    /// <summary>As many as a server takes in one command.</summary>
    private const int MostWrites = 100_000;

    /// <summary>Statements of different shapes in one command.</summary>
    private const int MostParts = 1000;

    /// <summary>This program's own, in which it notes what it made.</summary>
    private const string Markers = "mongoperf";

    private static readonly string[] Bounds = ["min", "max"];

    /// <summary>They look at a deployment, or belong to connections, sessions and cursors.</summary>
    private static readonly HashSet<string> Housekeeping = new(StringComparer.OrdinalIgnoreCase)
    {
        "ping", "buildInfo", "serverStatus", "getMore", "killCursors", "explain", "collStats", "dbStats", "listCollections",
        "listIndexes", "listDatabases", "getParameter", "getCmdLineOpts", "hostInfo", "top", "currentOp", "replSetGetStatus",
        "replSetGetConfig", "getLog", "connectionStatus", "features", "whatsmyuri", "isdbgrid", "listShards", "balancerStatus", "usersInfo",
        "rolesInfo", "profile", "validate", "fsync", "lockInfo", "atlasVersion", "getFreeMonitoringStatus", "connPoolStats",
            "shardingState",
        "appendOplogNote", "killSessions", "commitTransaction", "abortTransaction", "getShardMap", "netstat", "dataSize",
        "getDefaultRWConcern", "killOp", "listCommands",
    };

    /// <summary>A command that says nothing of what an application does.</summary>
    public static bool IsHousekeeping(string command) => LeftOutCommands.WhyNot(command) is not null || Housekeeping.Contains(command);

    /// <param name="operation">What was seen.</param>
    /// <param name="whyNot">What of it scenarios can't say, or can't be learned; null where nothing is wrong.</param>
    /// <returns>One or several; none for what an application doesn't do, and for what can't be learned.</returns>
    /// <exception cref="BsonFormatException">The command is no BSON.</exception>
    public static IReadOnlyList<SeenOperation> Read(ObservedOperation operation, out string? whyNot)
    {
        whyNot = null;
        BsonDocument command = operation.Command;
        BsonValidator.ValidateStructure(command.Bytes);
        string name = command.FirstOrDefault().Key ?? "";
        if (IsHousekeeping(name) || operation.Collection.StartsWith("system.", StringComparison.Ordinal) || operation.Collection == Markers
            || operation.Database is "admin" or "local" or "config" && name != "bulkWrite")
            return [];
        var reader = new ShapeReader(operation.IsTypeOnly);
        IReadOnlyList<SeenOperation> made = Read(operation, command, name, reader);
        whyNot = made.Count == 0 ? reader.WhyNot ?? $"the command {ForeignText.OneLine(name, 40)}" : reader.WhyNot;
        return whyNot is null ? made : [];
    }

    private static IReadOnlyList<SeenOperation> Read(
        ObservedOperation operation, BsonDocument command, string name, ShapeReader reader)
    {
        var head = new LearnedOperation(operation.Database, operation.Collection, name, 1)
        {
            Collation = command.FindDocument("collation"),
            ReadConcern = LevelOf(command.FindDocument("readConcern")),
            WriteConcern = ConcernOf(command.FindDocument("writeConcern")),
            Hint = HintOf(command),
        };
        DocumentNode? FilterOf(string key) =>
            command.FindDocument(key) is { } filter && reader.Filter(filter) is { IsEmpty: false } node ? node : null;
        switch (name)
        {
            case "find":
                return [new SeenOperation(head with
                {
                    LeftOut = LeftOutOf(command),
                    Sort = SortOf(command.FindDocument("sort")),
                    Skip = CountOf(command, "skip") is { } skip ? (skip, skip) : null,
                    Limit = LimitOf(command),
                    BatchSize = CountOf(command, "batchSize"),
                })
                {
                    Filter = FilterOf("filter"),
                    Projection = command.FindDocument("projection") is { } fields && reader.Expressions(fields) is { IsEmpty: false } shown
                        ? shown : null,
                }.Named()];
            case "count":
                return [new SeenOperation(head with
                {
                    Skip = CountOf(command, "skip") is { } left ? (left, left) : null, Limit = LimitOf(command),
                })
                { Filter = FilterOf("query") }.Named()];
            case "distinct":
                return command.FindString("key") is { Length: > 0 } key
                    ? [new SeenOperation(head with { Field = key }) { Filter = FilterOf("query") }.Named()] : [];
            case "aggregate":
                return command.Find("pipeline") is { Type: BsonType.Array } stages && operation.Collection.Length > 0
                    ? [new SeenOperation(head) { Pipeline = reader.Pipeline(stages.ToDocument()) }.Named()] : [];
            case "insert":
                int documents = (int)Math.Clamp(
                    operation.Inserted ?? command.FindDocument("documents")?.Count() ?? 1, 1, 100_000);
                return [new SeenOperation(head with
                {
                    Kind = documents > 1 ? "insertMany" : "insert", DocumentsPerOperation = documents, IsUnordered = IsUnordered(command),
                }).Named()];
            case "findAndModify" or "findandmodify":
                return [FindAndModify(head, command, reader, FilterOf("query"))];
            case "update" or "delete":
                return Bulk(head, Statements(command, name == "update" ? "updates" : "deletes")
                    .Select(statement => Write(head, name, statement, "q", "u", reader.Next())), IsUnordered(command), reader);
            case "bulkWrite":
                return Bulk(head, BulkWrites(head, command, reader), IsUnordered(command), reader);
            default:
                return [];
        }
    }

    private static SeenOperation FindAndModify(LearnedOperation head, BsonDocument command, ShapeReader reader, DocumentNode? filter)
    {
        bool isRemove = command.IsTrue("remove");
        BsonValue? update = isRemove ? null : command.Find("update");
        return new SeenOperation(head with
        {
            Kind = "findAndModify", Sort = SortOf(command.FindDocument("sort")), IsRemove = isRemove, IsNew = command.IsTrue("new"),
            IsUpsert = command.IsTrue("upsert"),
        })
        {
            Filter = filter,
            Projection = command.FindDocument("fields") is { } fields && reader.Expressions(fields) is { IsEmpty: false } shown ? shown
                : null,
            Update = update is { Type: BsonType.Document or BsonType.Array } change && !IsReplacement(change) ? reader.Update(change)
                : null,
            ArrayFilters = command.FindDocument("arrayFilters") is { } filters ? reader.ArrayFilters(filters) : null,
        }.Named();
    }

    /// <param name="head">What the whole command says.</param>
    /// <param name="name">update or delete.</param>
    /// <param name="statement">The statement.</param>
    /// <param name="filterKey">The name of its filter.</param>
    /// <param name="updateKey">The name of its update.</param>
    /// <param name="reader">The reader of the command.</param>
    private static SeenOperation Write(
        LearnedOperation head, string name, BsonDocument statement, string filterKey, string updateKey, ShapeReader reader)
    {
        DocumentNode? filter = statement.FindDocument(filterKey) is { } query ? reader.Filter(query) : null;
        head = head with
        {
            Collation = statement.FindDocument("collation"),
            Hint = HintOf(statement),
        };
        if (name == "delete")
            return new SeenOperation(head with
            {
                Kind = "delete", IsMany = statement.Find("limit") is { IsNumber: true } limit ? limit.ToInt64() == 0
                    : statement.IsTrue("multi"),
            })
            { Filter = filter }.Named();
        BsonValue? update = statement.Find(updateKey);
        bool isReplacement = update is not { Type: BsonType.Document or BsonType.Array } change || IsReplacement(change);
        return new SeenOperation(head with
        {
            Kind = isReplacement ? "replace" : "update", IsMany = !isReplacement && statement.IsTrue("multi"),
            IsUpsert = statement.IsTrue("upsert"),
        })
        {
            Filter = filter,
            Update = isReplacement ? null : reader.Update(update!.Value),
            ArrayFilters = statement.FindDocument("arrayFilters") is { } filters ? reader.ArrayFilters(filters) : null,
        }.Named();
    }

    private static bool IsReplacement(BsonValue update) =>
        update.Type == BsonType.Document && update.ToDocument().FirstOrDefault().Key is not ['$', ..];

    /// <summary>The statements of a write; a server's log and profiler show each by itself.</summary>
    private static IEnumerable<BsonDocument> Statements(BsonDocument command, string name) =>
        command.FindDocument(name)?.Where(item => item.Value.Type == BsonType.Document).Select(item => item.Value.ToDocument())
            .Take(MostWrites)
        ?? [];

    /// <summary>The writes of a bulkWrite of 8.0, each to its own collection.</summary>
    private static IEnumerable<SeenOperation> BulkWrites(LearnedOperation head, BsonDocument command, ShapeReader reader)
    {
        string[] namespaces = [.. command.FindDocument("nsInfo")?.Select(item => item.Value.Type == BsonType.Document
            ? item.Value.ToDocument().FindString("ns") ?? "" : "") ?? []];
        foreach (BsonDocument write in Statements(command, "ops"))
        {
            (string kind, BsonValue place) = write.First();
            if (!place.IsNumber || place.ToInt64() is < 0 or > int.MaxValue || place.ToInt64() >= namespaces.Length
                || namespaces[place.ToInt64()].Split('.', 2) is not [var database, var collection])
                yield break;
            LearnedOperation own = head with { Database = database, Collection = collection };
            yield return kind == "insert" ? new SeenOperation(own with { Kind = "insert" }).Named()
                : Write(own, kind, write, "filter", "updateMods", reader.Next());
        }
    }

    /// <summary>One write is itself; of several those alike are one part of a bulk.</summary>
    private static IReadOnlyList<SeenOperation> Bulk(
        LearnedOperation head, IEnumerable<SeenOperation> writes, bool isUnordered, ShapeReader reader)
    {
        var parts = new List<(SeenOperation First, int Times)>();
        var places = new Dictionary<string, int>(StringComparer.Ordinal);
        foreach (SeenOperation write in writes)
        {
            if (places.TryGetValue(write.Key, out int known))
            {
                parts[known] = (parts[known].First, parts[known].Times + 1);
                parts[known].First.Merge(write, isPart: true);
                continue;
            }

            if (parts.Count == MostParts)
            {
                reader.Refuse($"commands of more than {MostParts:N0} different statements");
                return [];
            }

            places[write.Key] = parts.Count;
            parts.Add((write, 1));
        }

        if (parts is [(var only, 1)])
            return [only];
        string[] databases = [.. parts.Select(part => part.First.Head.Database).Distinct()];
        return databases is not [var database] ? []
            : [new SeenOperation(head with
            {
                Kind = "bulkWrite", Database = database, Collection = "", IsUnordered = isUnordered, Hint = null, Collation = null,
            })
            { Parts = [.. parts.Select(part => part.First.Repeated(part.Times))] }.Named()];
    }

    /// <summary>What a find says that is not read.</summary>
    private static string[] LeftOutOf(BsonDocument command)
    {
        bool isOther = command.FindDocument("sort") is { } sort && sort.Any() && SortOf(sort) is null;
        return [.. isOther ? ["a sort by $meta"] : Array.Empty<string>(), .. Bounds.Where(bound =>
            command.FindDocument(bound)?.Any() == true)];
    }

    private static bool IsUnordered(BsonDocument command) => command.Find("ordered") is { } ordered && !ordered.ToBoolean();

    /// <summary>A negative one says the same as its absolute value, but for how a find's replies come.</summary>
    private static int? LimitOf(BsonDocument command) => CountOf(command, "limit") is { } limit ? Math.Abs(limit) : null;

    private static int? CountOf(BsonDocument command, string key) =>
        command.Find(key) is { IsNumber: true } value && value.ToInt64() is > int.MinValue and <= int.MaxValue and not 0 and var count
            ? (int)count : null;

    /// <summary>Directions, and nothing else; null where a sort has others.</summary>
    private static BsonDocument? SortOf(BsonDocument? sort) =>
        sort?.Any() == true && sort.All(field => field.Value.IsNumber)
            ? BsonDocument.Of([.. sort.Select(field => (field.Key, (object?)(field.Value.ToDouble() < 0 ? -1 : 1)))]) : null;

    /// <summary>An index's name, or its key; null where it is neither.</summary>
    private static BsonValue? HintOf(BsonDocument command) => command.Find("hint") switch
    {
        { Type: BsonType.String } name => name,
        { Type: BsonType.Document } key when key.ToDocument().All(field => field.Value.IsNumber
            || field.Value.ToString() is "hashed" or "text" or "2d" or "2dsphere") =>
            BsonDocument.Of(("", BsonDocument.Of([.. key.ToDocument().Select(field => (field.Key, (object?)(!field.Value.IsNumber
                ? field.Value : field.Value.ToDouble() < 0 ? -1 : 1)))]))).First().Value,
        _ => null,
    };

    private static BsonDocument? LevelOf(BsonDocument? concern) =>
        concern?.FindString("level") is { } level && level is "available" or "majority" or "linearizable" or "snapshot"
            ? BsonDocument.Of(("level", level)) : null;

    /// <summary>Only what scenarios take; names of tags are left out.</summary>
    private static BsonDocument? ConcernOf(BsonDocument? concern)
    {
        if (concern?.Find("w") is not { } w || !(w.IsNumber || w.ToString() == "majority"))
            return null;
        return concern.Find("j") is { } journal ? BsonDocument.Of(("w", w), ("j", journal.ToBoolean())) : BsonDocument.Of(("w", w));
    }
}
