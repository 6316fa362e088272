using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>
/// $collStats, $indexStats and $currentOp: a first stage that tells about a collection, or about what runs, instead of reading documents.
/// </summary>
internal static class StatisticsStages
{
    private static readonly HashSet<string> CurrentOpOptions =
    [
        "allUsers", "idleConnections", "idleCursors", "idleSessions", "localOps", "truncateOps", "backtrace",
    ];

    public static bool IsOne(string stage) => stage is "$collStats" or "$indexStats" or CurrentOpName;

    /// <summary>The one stage that is about no collection.</summary>
    public const string CurrentOpName = "$currentOp";

    /// <param name="session">The client's.</param>
    /// <param name="collection">Null for a missing one.</param>
    /// <param name="nameSpace">"database.collection".</param>
    /// <param name="stages">The pipeline's.</param>
    /// <param name="shard">The number of the shard that is asked; null for a server without shards.</param>
    /// <returns>Null when the pipeline does not begin so.</returns>
    public static BsonDocument[]? TryRun(
        CommandSession session, Collection? collection, string nameSpace, (string Name, BsonValue Value)[] stages, int? shard = null) =>
        stages.Length == 0 ? null : stages[0].Name switch
        {
            "$collStats" => [CollStats(
                session, collection ?? throw CommandException.NamespaceNotFound($"Collection [{nameSpace}] not found."), stages[0].Value,
                shard)],
            "$indexStats" => IndexStats(session, collection, stages[0].Value),
            CurrentOpName => CurrentOp(session, stages[0].Value),
            _ => null,
        };

    /// <summary>Idle connections, cursors and sessions are not told, whatever the options ask for.</summary>
    private static BsonDocument[] CurrentOp(CommandSession session, BsonValue options)
    {
        if (options.Type != BsonType.Document)
            throw CommandException.TypeMismatch(
                $"$currentOp options must be specified in an object, but found: {Queries.TypeSet.AliasOf(options.Type)}");
        foreach ((string name, BsonValue value) in options.ToDocument())
        {
            if (!CurrentOpOptions.Contains(name))
                throw CommandException.FailedToParse($"Unrecognized option '{name}' in $currentOp stage.");
            if (value.Type != BsonType.Boolean)
                throw CommandException.TypeMismatch($"The '{name}' parameter of the $currentOp stage must be a boolean value, but found: "
                    + $"{Queries.TypeSet.AliasOf(value.Type)}");
        }

        return [.. session.Server.Operations.Active.Select(OperationCommands.Describe)];
    }

    private static BsonDocument[] IndexStats(CommandSession session, Collection? collection, BsonValue options)
    {
        if (options.Type != BsonType.Document || options.ToDocument().Any())
            throw CommandException.Location(28803, "The $indexStats stage specification must be an empty object");
        return [.. (collection?.Indexes ?? []).Select(index => BsonDocument.Of(
            ("name", index.Spec.Name), ("key", index.Spec.KeyPattern()), ("host", Host(session)),
            ("accesses", BsonDocument.Of(("ops", index.Accesses), ("since", index.Since))), ("spec", IndexCommands.Describe(index.Spec))))];
    }

    private static BsonDocument CollStats(CommandSession session, Collection collection, BsonValue options, int? shard)
    {
        if (options.Type != BsonType.Document)
            throw CommandException.Location(5447000, "$collStats must take a nested object");
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.WriteString("ns"u8, collection.Namespace);
        writer.WriteString("host"u8, Host(session));
        writer.WriteDateTime("localTime"u8, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        foreach ((string option, BsonValue value) in options.ToDocument())
        {
            switch (option)
            {
                case "storageStats":
                    writer.StartDocument("storageStats"u8);
                    StatisticsCommands.WriteStorageStats(writer, collection, Math.Max(1, value.ToDocument().FindInt64("scale") ?? 1),
                        shard);
                    writer.End();
                    break;
                case "count":
                    Numbers.Write(writer, "count"u8,
                        shard is { } one && collection.Shards is { } map ? map.Counts.Documents(one) : collection.DocumentCount);
                    break;
                case "latencyStats" when shard is { } number:
                    WriteWork(writer, collection.Shards?.WorkOf(number) ?? default);
                    break;
                default:
                    throw CommandException.NotSupported($"'{option}' in $collStats");
            }
        }

        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    /// <summary>How many operations; how long they took is not measured by shard.</summary>
    private static void WriteWork(BsonWriter writer, (long Reads, long Writes) work) =>
        writer.WriteDocument("latencyStats"u8, BsonDocument.Of(
            ("reads", BsonDocument.Of(("ops", work.Reads))), ("writes", BsonDocument.Of(("ops", work.Writes)))).Bytes);

    private static string Host(CommandSession session) => $"{Environment.MachineName}:{session.Server.Port}";
}
