using System.Text.Json.Nodes;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>
/// As much of a driver as MongoDB's CRUD tests need: an operation of the unified test format becomes a command, and its reply a result.
/// </summary>
/// <remarks>Source: mongodb/specifications, source/crud/crud.md. Values stay extended JSON until the command is made.</remarks>
internal sealed class UnifiedDriver(MongoConnection connection, string database, string collection)
{
    private static readonly string[] Passed =
    [
        "hint", "let", "comment", "collation", "allowDiskUse", "bypassDocumentValidation", "maxTimeMS",
    ];

    /// <returns>The result as the specification shapes it; null for none.</returns>
    /// <exception cref="UnifiedFailureException">The server refused it, or a part of it.</exception>
    public JsonNode? Run(string name, JsonObject arguments) => name switch
    {
        "find" => Documents(Cursor("find", arguments, Field("filter", arguments["filter"]), Field("sort", arguments["sort"]),
            Field("skip", arguments["skip"]),
            Field("limit", arguments["limit"]), Field("batchSize", arguments["batchSize"]))),
        "findOne" => Documents(Cursor("find", arguments, Field("filter", arguments["filter"]), Field("sort", arguments["sort"]),
            Field("skip", arguments["skip"]), Field("limit", 1)))
            .FirstOrDefault()?.DeepClone(),
        "aggregate" => Documents(Cursor("aggregate", arguments, Field("pipeline", arguments["pipeline"]),
            Field("cursor", arguments["batchSize"] is { } size ? new JsonObject { ["batchSize"] = size.DeepClone() } : new JsonObject()))),
        "countDocuments" => CountDocuments(arguments),
        "count" => Send("count", arguments, Field("query", arguments["filter"]), Field("skip", arguments["skip"]),
            Field("limit", arguments["limit"]))["n"]!.DeepClone(),
        "estimatedDocumentCount" => Send("count", arguments)["n"]!.DeepClone(),
        "distinct" =>
            Send("distinct", arguments, Field("key", arguments["fieldName"]), Field("query", arguments["filter"]))["values"]!.DeepClone(),
        "insertOne" => Counted("insertedCount", Insert([arguments["document"]], arguments)),
        "insertMany" => Counted("insertedCount", Insert(arguments["documents"]!.AsArray(), arguments)),
        "updateOne" or "replaceOne" => Updated(Update([Statement(arguments, isMulti: false)], arguments)),
        "updateMany" => Updated(Update([Statement(arguments, isMulti: true)], arguments)),
        "deleteOne" => Counted("deletedCount", Delete([DeleteStatement(arguments, 1)], arguments)),
        "deleteMany" => Counted("deletedCount", Delete([DeleteStatement(arguments, 0)], arguments)),
        "findOneAndDelete" => FindAndModify(arguments, Field("remove", true)),
        "findOneAndUpdate" =>
            FindAndModify(arguments, Field("update", arguments["update"]), Field("arrayFilters", arguments["arrayFilters"])),
        "findOneAndReplace" => FindAndModify(arguments, Field("update", arguments["replacement"])),
        "bulkWrite" => BulkWrite(arguments),
        _ => throw new NotSupportedException(name),
    };

    private static (string, JsonNode?) Field(string name, JsonNode? value) => (name, value?.DeepClone());

    private JsonValue CountDocuments(JsonObject arguments)
    {
        var pipeline = new JsonArray(new JsonObject { ["$match"] = arguments["filter"]?.DeepClone() });
        foreach (string stage in (string[])["skip", "limit"])
        {
            if (arguments[stage] is { } value)
                pipeline.Add(new JsonObject { ["$" + stage] = value.DeepClone() });
        }

        pipeline.Add(new JsonObject { ["$group"] = new JsonObject { ["_id"] = 1, ["n"] = new JsonObject { ["$sum"] = 1 } } });
        JsonNode? group =
            Documents(Cursor("aggregate", arguments, Field("pipeline", pipeline), Field("cursor", new JsonObject()))).FirstOrDefault();
        return JsonValue.Create((int?)group?["n"] ?? 0);
    }

    private IEnumerable<JsonNode> Cursor(string command, JsonObject arguments, params (string Name, JsonNode? Value)[] fields)
    {
        JsonNode reply = Send(command, arguments, fields);
        foreach (JsonNode? document in reply["cursor"]!["firstBatch"]!.AsArray())
            yield return document!;
        long id = BsonIn(reply, "cursor.id");
        while (id != 0)
        {
            var more = new List<(string, object?)> { ("getMore", id), ("collection", collection) };
            if (arguments["batchSize"] is { } size)
                more.Add(("batchSize", (int)size));
            BsonDocument next = connection.RunUnchecked(database, BsonDocument.Of([.. more]));
            foreach (JsonNode? document in Checked(next)["cursor"]!["nextBatch"]!.AsArray())
                yield return document!;
            id = next.FindInt64("cursor.id") ?? 0;
        }
    }

    private static long BsonIn(JsonNode reply, string path) => ExtendedJson.Parse(reply.ToJsonString()).FindInt64(path) ?? 0;

    private static JsonArray Documents(IEnumerable<JsonNode> documents) => [.. documents.Select(document => document.DeepClone())];

    private JsonNode Insert(IEnumerable<JsonNode?> documents, JsonObject arguments) =>
        Send("insert", arguments, Field("documents", new JsonArray([.. documents.Select(document => document!.DeepClone())])),
            Field("ordered", arguments["ordered"]));

    private JsonNode Update(JsonArray statements, JsonObject arguments) =>
        Send("update", Common(arguments), Field("updates", statements), Field("ordered", arguments["ordered"]));

    private JsonNode Delete(JsonArray statements, JsonObject arguments) =>
        Send("delete", Common(arguments), Field("deletes", statements), Field("ordered", arguments["ordered"]));

    /// <summary>What belongs to the command and not to its statements.</summary>
    private static JsonObject Common(JsonObject arguments) =>
        new(arguments.Where(argument => argument.Key is "let" or "comment" or "bypassDocumentValidation")
            .Select(argument => KeyValuePair.Create(argument.Key, argument.Value?.DeepClone())));

    private static JsonObject Statement(JsonObject arguments, bool isMulti) => Compact(
        ("q", arguments["filter"]),
        ("u", arguments["update"] ?? arguments["replacement"]),
        ("multi", isMulti ? true : null),
        ("upsert", arguments["upsert"]),
        ("arrayFilters", arguments["arrayFilters"]), ("collation", arguments["collation"]), ("hint", arguments["hint"]),
        ("sort", arguments["sort"]));

    private static JsonObject DeleteStatement(JsonObject arguments, int limit) =>
        Compact(("q", arguments["filter"]), ("limit", limit), ("collation", arguments["collation"]), ("hint", arguments["hint"]));

    private static JsonObject Compact(params (string Name, JsonNode? Value)[] fields) =>
        new(fields.Where(field => field.Value != null)
            .Select(field => KeyValuePair.Create(field.Name, (JsonNode?)field.Value!.DeepClone())));

    private JsonNode? FindAndModify(JsonObject arguments, params (string Name, JsonNode? Value)[] fields) =>
        Send("findAndModify", arguments,
        [
            Field("query", arguments["filter"]), .. fields, Field("sort", arguments["sort"]), Field("fields", arguments["projection"]),
            Field("upsert", arguments["upsert"]),
            Field("new", (string?)arguments["returnDocument"] == "After" ? true : null),
        ])["value"]?.DeepClone();

    private JsonObject BulkWrite(JsonObject arguments)
    {
        bool isOrdered = (bool?)arguments["ordered"] ?? true;
        var total = new JsonObject
        {
            ["insertedCount"] = 0,
            ["matchedCount"] = 0,
            ["modifiedCount"] = 0,
            ["deletedCount"] = 0,
            ["upsertedCount"] = 0,
            ["upsertedIds"] = new JsonObject(),
        };
        UnifiedFailureException? failure = null;
        int index = 0;
        foreach (JsonNode? request in arguments["requests"]!.AsArray())
        {
            (string name, JsonNode? value) = request!.AsObject().First();
            var merged = new JsonObject(value!.AsObject()
                .Concat(arguments.Where(argument => argument.Key is "let" or "comment" or "bypassDocumentValidation"))
                .Select(argument => KeyValuePair.Create(argument.Key, argument.Value?.DeepClone())));
            try
            {
                Add(total, Run(name, merged)!.AsObject(), index++);
            }
            catch (UnifiedFailureException error)
            {
                failure = error;
                if (isOrdered)
                    break;
            }
        }

        return failure == null ? total : throw failure;
    }

    private static void Add(JsonObject total, JsonObject part, int index)
    {
        foreach ((string name, JsonNode? count) in part)
        {
            if (name.EndsWith("Count", StringComparison.Ordinal))
                total[name] = (int)total[name]! + (int)count!;
        }

        if (part["upsertedId"] is { } id)
            total["upsertedIds"]![$"{index}"] = id.DeepClone();
    }

    private static JsonObject Counted(string name, JsonNode reply) => new() { [name] = reply["n"]!.DeepClone() };

    private static JsonObject Updated(JsonNode reply)
    {
        JsonNode? upserted = reply["upserted"]?[0];
        var result = new JsonObject
        {
            ["matchedCount"] = upserted == null ? (int?)reply["n"] ?? 0 : 0,
            ["modifiedCount"] = (int?)reply["nModified"] ?? 0,
            ["upsertedCount"] = upserted == null ? 0 : 1,
        };
        if (upserted != null)
            result["upsertedId"] = upserted["_id"]?.DeepClone();
        return result;
    }

    private JsonNode Send(string command, JsonObject arguments, params (string Name, JsonNode? Value)[] fields)
    {
        var elements = new List<(string, object?)> { (command, collection) };
        foreach ((string name, JsonNode? value) in fields.Concat(arguments.Where(argument => Passed.Contains(argument.Key))
            .Select(argument => (argument.Key, argument.Value))))
        {
            if (value != null && !(name is "hint" or "collation" && command is "update" or "delete"))
                elements.Add((name, ExtendedJson.Parse(new JsonObject { ["v"] = value.DeepClone() }.ToJsonString()).First().Value));
        }

        return Checked(connection.RunUnchecked(database, BsonDocument.Of([.. elements])));
    }

    /// <summary>Relaxed, so that numbers compare by their value.</summary>
    private static JsonNode Checked(BsonDocument reply)
    {
        long? code = reply.FindInt64("code") ?? reply.FindInt64("writeErrors.0.code");
        if (code != null || reply.FindDouble("ok") != 1)
            throw new UnifiedFailureException(code ?? 0, reply.FindString("errmsg") ?? reply.FindString("writeErrors.0.errmsg") ?? "");
        return JsonNode.Parse(ExtendedJson.Write(reply.Bytes, ExtendedJsonMode.Relaxed))!;
    }
}

/// <summary>A server's error.</summary>
internal sealed class UnifiedFailureException(long code, string message) : Exception($"{code}: {message}")
{
    public long Code { get; } = code;
}
