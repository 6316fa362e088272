using System.Text.Json;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>The documented schema of results, mongoperf/1, as a shape that printed JSON is held against.</summary>
/// <remarks>
/// A leaf names its kind; "?" behind a kind or a field's name allows null; an array has the shape of its elements; "*" stands for
/// any field. Fields beyond the shape are allowed: the schema only grows.
/// </remarks>
internal static class JsonShape
{
    private const string Latency =
        """{"min":"number?","mean":"number?","p50":"number?","p90":"number?","p95":"number?","p99":"number?","p999":"number?","max":"number?"}""";

    private const string Accounting = """{"scheduled":"number","succeeded":"number","failed":"number","skipped":"number"}""";

    private const string Sizes = """
        {"collection":"string?","documents":"number","dataBytes":"number","storageBytes":"number","indexBytes":"number","indexes":{"*":"number"},
         "diskBytes":"number?","shards":[{"shard":"string","documents":"number"}]}
        """;

    private const string Phase = $$"""
        {"number":"number","phase":"string","kind":"string","growth?":{"name":"string","step":"number","documents":"number"},
         "parameters":{"*":"string"},"collection":"string?","documents":"number","complete":"boolean","rate":"number?","operationsPerSecond":"number",
         "operations":[{"operation":"string","isInsert":"boolean","threads":"number","batch":"number","operations":"number","documents":"number","failed":"number",
                        "warmupSeconds":"number","seconds":"number",
                        "unacknowledged?":{"sent":"number","arrived":"number","lost":"number","drainSeconds":"number"},
                        "operationsPerSecond":"number","documentsPerSecond":"number","megabytesPerSecond":"number","clientCpuMicrosecondsPerOperation":"number",
                        "latencyMicroseconds":{{Latency}},
                        "plan?":{"index":"string?","keysExamined":"number","documentsExamined":"number","returned":"number"},
                        "verified":"number","wrong":"number","members":[{"member":"string","operations":"number"}],
                        "accounting":{{Accounting}} }],
         "sizes":[{{Sizes}}],
         "errors":[{"operation":"string","code":"number","name":"string","count":"number"}],
         "assertions":[{"text":"string","value":"number?","holds":"boolean"}] }
        """;

    public const string Run = $$"""
        {"schema":"string",
         "run":{"id":"string","seed":"number","version":"string","commandLine":"string","state":"string","documentsReached":"number"},
         "settings":{"deployment":{"topology":"string","uri":"string?"},
                     "engine":"string",
                     "data":{"database":"string","isExisting":"boolean"},
                     "plan":{"name":"string","path":"string","parameters":{"*":"string"},"changes":["string"],"targetDocuments":"number","verifyShare":"number","maxErrors":"number"} },
         "deployment":{"kind":"string","topology":"string","serverVersion":"string","storageEngine":"string?","cacheBytes":"number?","isEmbedded":"boolean","address":"string","namespace":"string"},
         "environment":{"operatingSystem":"string","cpuModel":"string","cpuCount":"number","memoryBytes":"number","disk":"string"},
         "accounting":{{Accounting}},
         "errors":[{"code":"number","name":"string","count":"number","firstMessage":"string"}],
         "phases":[{{Phase}}],
         "events":[{"at":"string","kind":"string","text":"string"}]}
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

    public static IReadOnlyList<JsonElement> Items(this JsonElement element, string name) =>
        [.. element.GetProperty(name).EnumerateArray()];

    /// <summary>Of every run's schema.</summary>
    public static JsonElement Report(this ProgramResult result) => JsonShape.Check(JsonShape.Run, result.Output);

    /// <summary>The only one of this name.</summary>
    public static JsonElement Phase(this JsonElement report, string name) =>
        Assert.Single(report.Items("phases"), phase => phase.Text("phase") == name);

    /// <summary>Of a phase, the only one of this name.</summary>
    public static JsonElement Operation(this JsonElement phase, string name) =>
        Assert.Single(phase.Items("operations"), operation => operation.Text("operation") == name);

    /// <summary>The phases of growths, by size.</summary>
    public static IReadOnlyList<GrownStep> GrowthSteps(this JsonElement report) =>
    [
        .. report.Items("phases").Where(phase => phase.GetProperty("growth").ValueKind == JsonValueKind.Object)
            .GroupBy(phase => (phase.GetProperty("growth").Text("name"), phase.GetProperty("growth").Number("step"),
                phase.GetProperty("growth").Number("documents")))
            .Select(step => new GrownStep(step.Key.Item3, [.. step])),
    ];

    /// <summary>
    /// Every phase is complete, but for a write whose result was lost with the process when all of its documents were
    /// there: events name it.
    /// </summary>
    public static void AssertComplete(JsonElement report)
    {
        string[] lost = [.. report.Items("events")
            .Select(happened => happened.Text("text")).Where(text => text.Contains("its result was lost", StringComparison.Ordinal))];
        Assert.All(report.Items("phases").Where(phase => !phase.GetProperty("complete").GetBoolean()), phase =>
            Assert.Contains(lost, text =>
                text.StartsWith($"{phase.Text("phase")} of step {phase.GetProperty("growth").Number("step")} ", StringComparison.Ordinal)));
    }

    public static void AssertAdds(JsonElement accounting) => Assert.Equal(
        accounting.Number("scheduled"), accounting.Number("succeeded") + accounting.Number("failed") + accounting.Number("skipped"));
}

/// <summary>Operations of the series, in its file's order.</summary>
internal static class SeriesNames
{
    public static IReadOnlyList<string> Queries { get; } = ["q4", "q5", "q6", "q7"];

    /// <summary>All that have results.</summary>
    public static IReadOnlyList<string> Measured { get; } = ["unack", "batch", "safe", .. Queries];
}

/// <summary>What a growth measured at one size.</summary>
internal sealed record GrownStep(long Documents, IReadOnlyList<JsonElement> Phases)
{
    public IReadOnlyList<JsonElement> Operations => [.. Phases.SelectMany(phase => phase.Items("operations"))];

    public IReadOnlyList<string> Names => [.. Operations.Select(operation => operation.Text("operation"))];

    /// <summary>The only one that were taken; none fails.</summary>
    public JsonElement Sizes => Assert.Single(Phases.SelectMany(phase => phase.Items("sizes")));

    public bool IsComplete => Phases.All(phase => phase.GetProperty("complete").GetBoolean());

    public JsonElement Operation(string name) => Assert.Single(Operations, operation => operation.Text("operation") == name);
}
