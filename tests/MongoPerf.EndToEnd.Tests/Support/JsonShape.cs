using System.Text.Json;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>The documented schema of results, mongoperf/1, as a shape that printed JSON is held against.</summary>
/// <remarks>
/// A leaf names its kind; "?" behind a kind or a field's name allows null; an array has the shape of its elements; "*" stands for
/// any field. Fields beyond the shape are allowed: the schema only grows.
/// </remarks>
internal static class JsonShape
{
    private const string Latency = """{"min":"number?","mean":"number?","p50":"number?","p90":"number?","p95":"number?","p99":"number?","p999":"number?","max":"number?"}""";

    private const string Accounting = """{"scheduled":"number","succeeded":"number","failed":"number","skipped":"number"}""";

    public const string Step = $$"""
        {"documents":"number",
         "tests":[{"test":"string","threads":"number","batch":"number","operations":"number","documents":"number","failed":"number",
                   "warmupSeconds":"number","seconds":"number",
                   "unacknowledged?":{"sent":"number","arrived":"number","lost":"number","drainSeconds":"number"},
                   "operationsPerSecond":"number","documentsPerSecond":"number","megabytesPerSecond":"number","clientCpuMicrosecondsPerOperation":"number",
                   "latencyMicroseconds":{{Latency}},
                   "plan?":{"index":"string?","keysExamined":"number","documentsExamined":"number","returned":"number"},
                   "accounting":{{Accounting}} }],
         "sizes?":{"documents":"number","dataBytes":"number","storageBytes":"number","indexBytes":"number","indexes":{"*":"number"},
                   "shards":[{"shard":"string","documents":"number"}]} }
        """;

    public const string Run = $$"""
        {"schema":"string",
         "run":{"id":"string","seed":"number","version":"string","commandLine":"string","state":"string"},
         "deployment":{"kind":"string","topology":"string","serverVersion":"string","storageEngine":"string?","cacheBytes":"number?","isEmbedded":"boolean"},
         "environment":{"operatingSystem":"string","cpuModel":"string","cpuCount":"number","memoryBytes":"number","disk":"string"},
         "accounting":{{Accounting}},
         "errors":[{"code":"number","name":"string","count":"number","firstMessage":"string"}],
         "steps":[{{Step}}],
         "findings":[{"rule":"string","text":"string"}]}
        """;

    /// <summary>Parses and holds against the shape.</summary>
    public static JsonElement Check(string shape, string json)
    {
        JsonElement value = JsonDocument.Parse(json).RootElement;
        Compare(JsonDocument.Parse(shape).RootElement, value, "$", false);
        return value;
    }

    private static void Compare(JsonElement shape, JsonElement value, string path, bool nullable)
    {
        if (nullable && value.ValueKind == JsonValueKind.Null)
            return;
        switch (shape.ValueKind)
        {
            case JsonValueKind.Object:
                Assert.True(value.ValueKind == JsonValueKind.Object, $"{path} is {value.ValueKind}, no object");
                foreach (JsonProperty field in shape.EnumerateObject())
                    CompareField(field, value, path);
                break;
            case JsonValueKind.Array:
                Assert.True(value.ValueKind == JsonValueKind.Array, $"{path} is {value.ValueKind}, no array");
                int index = 0;
                foreach (JsonElement item in value.EnumerateArray())
                    Compare(shape[0], item, $"{path}[{index++}]", false);
                break;
            default:
                CompareLeaf(shape.GetString()!, value, path);
                break;
        }
    }

    private static void CompareField(JsonProperty field, JsonElement value, string path)
    {
        if (field.Name == "*")
        {
            foreach (JsonProperty any in value.EnumerateObject())
                Compare(field.Value, any.Value, $"{path}.{any.Name}", false);
            return;
        }

        string name = field.Name.TrimEnd('?');
        Assert.True(value.TryGetProperty(name, out JsonElement found), $"{path}.{name} is missing");
        Compare(field.Value, found, $"{path}.{name}", field.Name.EndsWith('?'));
    }

    private static void CompareLeaf(string kind, JsonElement value, string path)
    {
        bool fits = (kind.TrimEnd('?'), value.ValueKind) switch
        {
            (_, JsonValueKind.Null) => kind.EndsWith('?'),
            ("number", JsonValueKind.Number) or ("string", JsonValueKind.String) => true,
            ("boolean", JsonValueKind.True or JsonValueKind.False) => true,
            _ => false,
        };
        Assert.True(fits, $"{path} is {value.ValueKind}, not {kind}");
    }
}

/// <summary>Short ways into printed results.</summary>
internal static class JsonResults
{
    public static long Number(this JsonElement element, string name) => element.GetProperty(name).GetInt64();

    public static string Text(this JsonElement element, string name) => element.GetProperty(name).GetString()!;

    public static IReadOnlyList<JsonElement> Items(this JsonElement element, string name) => [.. element.GetProperty(name).EnumerateArray()];

    /// <summary>The result of one test in a step.</summary>
    public static JsonElement Test(this JsonElement step, string test) => Assert.Single(step.Items("tests"), t => t.Text("test") == test);

    public static void AssertAdds(JsonElement accounting) => Assert.Equal(
        accounting.Number("scheduled"), accounting.Number("succeeded") + accounting.Number("failed") + accounting.Number("skipped"));
}
