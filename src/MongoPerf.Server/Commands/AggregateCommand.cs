using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>
/// The pipelines that drivers and tools send for counting and sizes: [$match] with $count or $group {_id: constant, n: {$sum: 1}},
/// and $collStats. Any other pipeline is refused.
/// </summary>
internal static class AggregateCommand
{
    private static readonly HashSet<string> MongoStages =
    [
        "$addFields", "$bucket", "$bucketAuto", "$changeStream", "$currentOp", "$densify", "$documents", "$facet", "$fill", "$geoNear",
        "$graphLookup", "$indexStats", "$limit", "$listLocalSessions", "$listSessions", "$lookup", "$merge", "$out", "$planCacheStats",
        "$project", "$redact", "$replaceRoot", "$replaceWith", "$sample", "$search", "$set", "$setWindowFields", "$skip", "$sort",
        "$sortByCount", "$unionWith", "$unset", "$unwind",
    ];

    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        bool hasCollection = reader.Type == BsonType.String;
        ReadOnlySpan<byte> name = hasCollection ? reader.StringBytes : default;
        var command = new BsonDocument(request.Body.ToArray());
        BsonDocument pipeline = command.FindDocument("pipeline") ?? throw CommandException.MissingField("aggregate", "pipeline");
        if (command.Find("cursor") == null)
            throw CommandException.FailedToParse("The 'cursor' option is required, except for aggregate with the explain argument");
        (string Name, BsonValue Value)[] stages = [.. pipeline.Select(pair => Stage(pair.Value))];
        Collection? collection = hasCollection ? session.FindCollection(name) : null;
        string nameSpace = hasCollection ? $"{session.Database}.{reader.StringText}" : $"{session.Database}.$cmd.aggregate";
        CatalogCommands.WriteWholeCursor(reply.Body, nameSpace, Run(session, collection, nameSpace, stages));
        reply.Succeed();
    }

    private static (string Name, BsonValue Value) Stage(BsonValue value)
    {
        KeyValuePair<string, BsonValue>[] fields = value.Type == BsonType.Document ? [.. value.ToDocument()] : [];
        if (fields.Length != 1)
            throw CommandException.Location(40323, "A pipeline stage specification object must contain exactly one field.");
        string name = fields[0].Key;
        if (name is not ("$match" or "$count" or "$group" or "$collStats"))
        {
            throw MongoStages.Contains(name)
                ? CommandException.NotSupported($"the pipeline stage {name}")
                : CommandException.Location(40324, $"Unrecognized pipeline stage name: '{name}'");
        }

        return (name, fields[0].Value);
    }

    private static BsonDocument[] Run(CommandSession session, Collection? collection, string nameSpace, (string Name, BsonValue Value)[] stages)
    {
        if (stages.Length == 1 && stages[0].Name == "$collStats")
            return [CollStats(session, collection ?? throw CommandException.NamespaceNotFound($"Collection [{nameSpace}] not found."), stages[0].Value)];
        if (stages.Any(stage => stage.Name == "$collStats"))
            throw stages[0].Name == "$collStats" ? CommandException.NotSupported("stages behind $collStats") : CommandException.Location(40602, "$collStats is only valid as the first stage in a pipeline.");
        BsonDocument filter = BsonDocument.Empty;
        int at = 0;
        if (stages.Length > 0 && stages[0].Name == "$match")
            filter = stages[at++].Value.ToDocument();
        if (stages.Length != at + 1 || stages[at].Name == "$match")
            throw CommandException.NotSupported("this pipeline; it knows [$match] followed by $count, or by $group of a constant _id with {$sum: 1}");
        long count = CountCommand.Count(session, collection, filter.Bytes, 0, 0, default);
        return stages[at].Name == "$count" ? Counted(stages[at].Value, count) : Grouped(stages[at].Value.ToDocument(), count);
    }

    /// <summary>No match gives no document, not a zero.</summary>
    private static BsonDocument[] Counted(BsonValue name, long count)
    {
        if (name.Type != BsonType.String || name.ToString().Length == 0 || name.ToString().AsSpan().IndexOfAny("$.\0") >= 0)
            throw CommandException.Location(40156, "the count field must be a non-empty string without '$', '.' and zero bytes");
        return count == 0 ? [] : [BsonDocument.Of((name.ToString(), Numbers.Of(count)))];
    }

    private static BsonDocument[] Grouped(BsonDocument group, long count)
    {
        BsonValue id = group.Find("_id") ?? throw CommandException.Location(15955, "a group specification must include an _id");
        if (id.Type is not (BsonType.Null or BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Boolean))
            throw CommandException.NotSupported("$group by anything but a constant");
        var result = new List<(string, object?)> { ("_id", id) };
        foreach ((string name, BsonValue value) in group)
        {
            if (name == "_id")
                continue;
            BsonValue? sum = value.Type == BsonType.Document ? value.ToDocument().Find("$sum") : null;
            if (sum is not { IsNumber: true })
                throw CommandException.NotSupported("accumulators in $group other than {$sum: number}");
            result.Add((name, sum.Value.Type == BsonType.Double ? (object)(sum.Value.ToDouble() * count) : Numbers.Of(sum.Value.ToInt64() * count)));
        }

        return count == 0 ? [] : [BsonDocument.Of([.. result])];
    }

    private static BsonDocument CollStats(CommandSession session, Collection collection, BsonValue options)
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.WriteString("ns"u8, collection.Namespace);
        writer.WriteString("host"u8, $"{Environment.MachineName}:{session.Server.Port}");
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
}
