using System.Text.Json.Nodes;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>
/// The commands of MongoDB's CRUD specification tests, sent as drivers send them: those that a real mongod passes, the
/// embedded server passes.
/// </summary>
public sealed class CrudReplayTests : ServerTest
{
    /// <summary>What these tests need and this server refuses.</summary>
    private static readonly string[] Refused = ["$out", "viewOn"];

    [VectorFact]
    public void What_mongod_answers_to_the_specifications_commands_is_answered_or_refused()
    {
        string folder = Path.Combine(RepositoryPaths.VectorFolder("crud"), "unified");
        JsonArray passes = JsonNode.Parse(File.ReadAllText(RepositoryPaths.VectorFolder("crud-replay-6.0.5.json")))!["passes"]!.AsArray();
        var failures = new List<string>();
        int refused = 0;
        foreach (JsonNode? pass in passes)
        {
            JsonNode file = JsonNode.Parse(File.ReadAllText(Path.Combine(folder, (string)pass!["file"]!)))!;
            JsonNode test = file["tests"]!.AsArray().First(candidate => (string)candidate!["description"]! == (string)pass["test"]!)!;
            try
            {
                refused += Replay(file, test, isReplyAlone: pass["onlyReplyOk"] != null) ? 0 : 1;
            }
            catch (Exception error) when (error is ReplayException or IOException or ExtendedJsonException or Xunit.Sdk.XunitException)
            {
                failures.Add($"{pass["file"]}: {pass["test"]}: {error.Message}");
            }
        }

        Assert.True(passes.Count >= 150, $"only {passes.Count} tests");
        Assert.True(failures.Count == 0, string.Join('\n', failures));
        Assert.InRange(refused, 0, 5);
    }

    /// <returns>False when the server refuses what it does not know.</returns>
    private bool Replay(JsonNode file, JsonNode test, bool isReplyAlone)
    {
        foreach (JsonNode? data in file["initialData"]?.AsArray() ?? [])
            Seed(data!);
        // What is dropped beforehand need not be there.
        bool mayFail = test["operations"]!.AsArray().Any(operation => operation!["expectError"] != null);
        var batches = new List<BsonDocument>();
        long cursor = 0;
        foreach (JsonNode? sent in (test["expectEvents"]?.AsArray() ?? []).SelectMany(events => events!["events"]!.AsArray()))
        {
            if (sent!["commandStartedEvent"] is not { } started)
                continue;
            BsonDocument reply = Client.Run(Command(started["command"]!, cursor), (string?)started["databaseName"] ?? DatabaseOf(file));
            if (reply.FindInt64("code") == 238 && Refused.Any(started["command"]!.ToJsonString().Contains))
                return false;
            if (!mayFail && started["command"]!["drop"] == null && (reply.FindDouble("ok") != 1 || reply.Find("writeErrors") != null))
                throw new ReplayException($"{started["command"]!.ToJsonString()} -> {ExtendedJson.Write(reply.Bytes)}");
            cursor = reply.FindInt64("cursor.id") ?? 0;
            foreach (string batch in (string[])["cursor.firstBatch", "cursor.nextBatch"])
                batches.AddRange(reply.FindDocument(batch)?.Select(pair => pair.Value.ToDocument()) ?? []);
        }

        if (!isReplyAlone)
            Compare(test, batches);
        return true;
    }

    private static string DatabaseOf(JsonNode file) => file["createEntities"]!.AsArray()
        .Select(entity => (string?)entity!["database"]?["databaseName"]).First(name => name != null)!;

    private void Seed(JsonNode data)
    {
        string database = (string)data["databaseName"]!;
        string collection = (string)data["collectionName"]!;
        // Not dropped: to make a collection costs more than to empty one.
        Client.Run(TestClient.Json("{'delete': '" + collection + "', 'deletes': [{'q': {}, 'limit': 0}]}"), database);
        if (data["documents"]!.AsArray().Count > 0)
            Client.Run(
                BsonDocument.Of(("insert", collection), ("documents", data["documents"]!.AsArray().Select(document => Parse(document!)))),
                database);
    }

    private void Compare(JsonNode test, List<BsonDocument> batches)
    {
        foreach (JsonNode? outcome in test["outcome"]?.AsArray() ?? [])
        {
            BsonDocument reply = Client.Run(
                BsonDocument.Of(("find", (string)outcome!["collectionName"]!), ("sort", BsonDocument.Of(("_id", 1)))),
                (string)outcome["databaseName"]!);
            CompareAll(outcome["documents"]!.AsArray(), TestClient.Batch(reply, "firstBatch"));
        }

        JsonArray operations = test["operations"]!.AsArray();
        if (operations.Count == 1 && operations[0]!["expectResult"] is JsonArray result
            && (string)operations[0]!["name"]! is "find" or "aggregate")
            CompareAll(result, batches);
    }

    private static void CompareAll(JsonArray expected, List<BsonDocument> found)
    {
        BsonDocument[] wanted = [.. expected.Select(document => Parse(document!))];
        if (wanted.Length != found.Count || !wanted.Zip(found).All(pair => Matches(pair.First, pair.Second)))
            throw new ReplayException($"expected {string.Join(' ', wanted.Select(Text))}, found {string.Join(' ', found.Select(Text))}");
    }

    private static bool Matches(BsonDocument expected, BsonDocument found) =>
        expected.Select(pair => pair.Key).SequenceEqual(found.Select(pair => pair.Key))
        && expected.Zip(found).All(pair => Matches(pair.First.Value, pair.Second.Value));

    /// <summary>Numbers by their value, whatever their type; {$$type: …} is any value.</summary>
    private static bool Matches(BsonValue expected, BsonValue found)
    {
        if (expected.Type == BsonType.Document && expected.ToDocument().FirstOrDefault().Key is ['$', '$', ..])
            return true;
        if (expected.IsNumber || found.IsNumber)
            return expected.IsNumber && found.IsNumber && expected.ToDouble() == found.ToDouble();
        return expected.Type == found.Type && (expected.Type is BsonType.Document or BsonType.Array
            ? Matches(expected.ToDocument(), found.ToDocument())
            : expected.Bytes.Span.SequenceEqual(found.Bytes.Span));
    }

    private static string Text(BsonDocument document) => ExtendedJson.Write(document.Bytes);

    /// <summary>
    /// As the note in the list of passes says: without what a driver adds, with the cursor that is open, with an aggregate's cursor option.
    /// </summary>
    private static BsonDocument Command(JsonNode expected, long cursor)
    {
        JsonObject command = (JsonObject)Kept(expected)!;
        foreach (string name in (string[])["lsid", "txnNumber", "$db"])
            command.Remove(name);
        if (command.ContainsKey("aggregate") && !command.ContainsKey("cursor"))
            command["cursor"] = new JsonObject();
        var elements = new List<(string, object?)>();
        foreach ((string name, BsonValue value) in Parse(command))
            elements.Add((name, value));
        if (expected["getMore"] != null)
            elements.Insert(0, ("getMore", cursor));
        return BsonDocument.Of([.. elements]);
    }

    /// <returns>Null for what a $$ operator stands for.</returns>
    private static JsonNode? Kept(JsonNode? node)
    {
        if (node is JsonArray array)
            return new JsonArray([.. array.Select(Kept)]);
        if (node is not JsonObject members)
            return node?.DeepClone();
        var kept = new JsonObject();
        foreach ((string name, JsonNode? value) in members)
        {
            if (value is not JsonObject { Count: 1 } inner || !inner.First().Key.StartsWith("$$", StringComparison.Ordinal))
                kept[name] = Kept(value);
        }

        return kept;
    }

    private static BsonDocument Parse(JsonNode node) => ExtendedJson.Parse(node.ToJsonString());

    private sealed class ReplayException(string message) : Exception(message);
}
