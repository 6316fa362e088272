using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>$collStats and $indexStats: a first stage that tells about the collection instead of reading it.</summary>
internal static class StatisticsStages
{
    public static bool IsOne(string stage) => stage is "$collStats" or "$indexStats";

    /// <returns>Null when the pipeline does not begin so.</returns>
    public static BsonDocument[]? TryRun(CommandSession session, Collection? collection, string nameSpace, (string Name, BsonValue Value)[] stages) =>
        stages.Length == 0 ? null : stages[0].Name switch
        {
            "$collStats" => [CollStats(session, collection ?? throw CommandException.NamespaceNotFound($"Collection [{nameSpace}] not found."), stages[0].Value)],
            "$indexStats" => IndexStats(session, collection, stages[0].Value),
            _ => null,
        };

    private static BsonDocument[] IndexStats(CommandSession session, Collection? collection, BsonValue options)
    {
        if (options.Type != BsonType.Document || options.ToDocument().Any())
            throw CommandException.Location(28803, "The $indexStats stage specification must be an empty object");
        return [.. (collection?.Indexes ?? []).Select(index => BsonDocument.Of(
            ("name", index.Spec.Name), ("key", index.Spec.KeyPattern()), ("host", Host(session)),
            ("accesses", BsonDocument.Of(("ops", index.Accesses), ("since", index.Since))), ("spec", IndexCommands.Describe(index.Spec))))];
    }

    private static BsonDocument CollStats(CommandSession session, Collection collection, BsonValue options)
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
                    StatisticsCommands.WriteStorageStats(writer, collection, Math.Max(1, value.ToDocument().FindInt64("scale") ?? 1));
                    writer.End();
                    break;
                case "count":
                    Numbers.Write(writer, "count"u8, collection.DocumentCount);
                    break;
                default:
                    throw CommandException.NotSupported($"'{option}' in $collStats");
            }
        }

        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    private static string Host(CommandSession session) => $"{Environment.MachineName}:{session.Server.Port}";
}
