using System.Text.Json.Nodes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>
/// MongoDB's CRUD unified tests against both servers, as a driver runs them: results, errors and the documents afterwards.
/// </summary>
[Collection(OtherTests.Name)]
public sealed class CrudUnifiedTests(TestServers servers)
{
    private const int NotImplemented = 238;

    private static readonly Version Server = new(6, 0, 5);

    [MongodFact]
    public void Nothing_fails_that_mongod_passes()
    {
        string folder = Path.Combine(RepositoryPaths.VectorFolder("crud"), "unified");
        using MongoConnection ours = servers.Embedded.Connect();
        using MongoConnection theirs = servers["mongod"].Connect();
        var failures = new List<string>();
        int passed = 0;
        foreach (string path in Directory.EnumerateFiles(folder, "*.json").Order(StringComparer.Ordinal))
        {
            JsonNode file = JsonNode.Parse(File.ReadAllText(path))!;
            foreach (JsonNode? test in file["tests"]!.AsArray())
            {
                if (!IsRunnable(file, test!) || Run(theirs, file, test!) != null)
                    continue;
                passed++;
                string title = $"{Path.GetFileName(path)}: {test!["description"]}";
                if (Run(ours, file, test) is { } failure)
                    failures.Add($"{title}: {failure}");
            }
        }

        Assert.True(failures.Count == 0, $"of {passed} that mongod passes, failed:\n{string.Join('\n', failures)}");
        Assert.True(passed >= 200, $"mongod passed only {passed}");
    }

    /// <summary>For this version and one server, and about the server: what a driver refuses by itself tells nothing here.</summary>
    private static bool IsRunnable(JsonNode file, JsonNode test)
    {
        JsonNode?[] requirements = [.. test["runOnRequirements"]?.AsArray() ?? file["runOnRequirements"]?.AsArray() ?? []];
        bool fits = requirements.Length == 0 || requirements.Any(requirement =>
            Version.Parse((string?)requirement!["minServerVersion"] ?? "0.0") <= Server
            && Version.Parse((string?)requirement["maxServerVersion"] ?? "99.0") >= Server
            && (requirement["topologies"]?.AsArray().Any(topology => (string)topology! == "single") ?? true));
        return fits && test["skipReason"] == null && test["operations"]!.AsArray().All(operation =>
            (string)operation!["object"]! is { } target && target.StartsWith("collection", StringComparison.Ordinal)
            && operation["expectError"]?["isClientError"] == null);
    }

    /// <returns>Null, or what went wrong.</returns>
    private static string? Run(MongoConnection connection, JsonNode file, JsonNode test)
    {
        try
        {
            foreach (JsonNode? data in file["initialData"]?.AsArray() ?? [])
                Seed(connection, data!);
            foreach (JsonNode? operation in test["operations"]!.AsArray())
            {
                if (Perform(connection, file, operation!) is { } failure)
                    return failure;
            }

            return test["outcome"]?.AsArray()
                .Select(outcome => Compare(outcome!["documents"]!, All(connection, outcome))).FirstOrDefault(failure => failure != null);
        }
        catch (UnifiedFailureException error)
        {
            return error.Message;
        }
        catch (NotSupportedException error)
        {
            return $"not known to this test: {error.Message}";
        }
    }

    private static string? Perform(MongoConnection connection, JsonNode file, JsonNode operation)
    {
        JsonNode[] entities = [.. file["createEntities"]!.AsArray().Select(entity => entity!.AsObject().First().Value!)];
        JsonNode target = entities.First(entity => (string)entity["id"]! == (string)operation["object"]!);
        JsonNode database = entities.First(entity => (string)entity["id"]! == (string)target["database"]!);
        var driver = new UnifiedDriver(connection, (string)database["databaseName"]!, (string)target["collectionName"]!);
        JsonNode? result;
        try
        {
            result = driver.Run((string)operation["name"]!, operation["arguments"]?.AsObject() ?? []);
        }
        catch (UnifiedFailureException error) when (operation["expectError"] is { } expected && error.Code != NotImplemented)
        {
            return expected["errorCode"] is { } code && (long)code != error.Code ? error.Message : null;
        }

        if (operation["expectError"] != null)
            return "no error";
        return operation.AsObject().ContainsKey("expectResult") ? Compare(operation["expectResult"], result) : null;
    }

    private static void Seed(MongoConnection connection, JsonNode data)
    {
        (string database, string collection) = ((string)data["databaseName"]!, (string)data["collectionName"]!);
        // Emptied rather than dropped, which makes mongod wait for its disk hundreds of times.
        connection.RunUnchecked(database, BsonDocument.Of(("create", collection)));
        connection.RunUnchecked(database,
            BsonDocument.Of(("delete", collection), ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) })));
        if (data["documents"]!.AsArray().Count > 0)
            connection.RunUnchecked(database, BsonDocument.Of(("insert", collection),
                ("documents", data["documents"]!.AsArray().Select(document => ExtendedJson.Parse(document!.ToJsonString())))));
    }

    private static JsonNode All(MongoConnection connection, JsonNode outcome)
    {
        BsonDocument reply = connection.RunUnchecked((string)outcome["databaseName"]!,
            BsonDocument.Of(("find", (string)outcome["collectionName"]!), ("sort", BsonDocument.Of(("_id", 1)))));
        return JsonNode.Parse(ExtendedJson.Write(reply.Bytes, ExtendedJsonMode.Relaxed))!["cursor"]!["firstBatch"]!;
    }

    private static string? Compare(JsonNode? expected, JsonNode? found) =>
        Matches(expected, found, isRoot: true) ? null : $"expected {expected?.ToJsonString()}, found {found?.ToJsonString()}";

    /// <summary>Numbers by value; a result may have members more than are named; of the $$ operators those that stand for values.</summary>
    private static bool Matches(JsonNode? expected, JsonNode? found, bool isRoot)
    {
        switch (expected)
        {
            case JsonObject { Count: 1 } special when special.First() is { Key: ['$', '$', ..] } marker:
                return marker.Key switch
                {
                    // What the driver adds (inserted ids) is not known here.
                    "$$unsetOrMatches" => true,
                    "$$exists" => (bool)marker.Value! == (found != null),
                    _ => found != null,
                };
            case JsonObject members:
                return found is JsonObject other && (isRoot || members.Count == other.Count)
                    && members.All(member => Matches(member.Value, other[member.Key], isRoot: false));
            case JsonArray items:
                return found is JsonArray others && items.Count == others.Count
                    && items.Zip(others).All(pair => Matches(pair.First, pair.Second, isRoot));
            default:
                return Plain(expected) == Plain(found);
        }
    }

    private static string Plain(JsonNode? value) => value is JsonValue number && number.TryGetValue(out double plain)
        ? plain.ToString(System.Globalization.CultureInfo.InvariantCulture)
        : value?.ToJsonString() ?? "null";
}
