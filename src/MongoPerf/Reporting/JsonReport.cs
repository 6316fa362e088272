using System.Text.Encodings.Web;
using System.Text.Json;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Scenarios;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting;

/// <summary>A run as JSON, schema mongoperf/1. What has no value is null; fields are only ever added.</summary>
internal static class JsonReport
{
    public const string Schema = "mongoperf/1";

    public static void Write(StoredRun run, TextWriter output) => Write(output, json =>
    {
        json.WriteStartObject();
        json.WriteString("schema", Schema);
        WriteRun(json, run);
        WriteDeployment(json, run.Deployment, run.DeploymentName);
        WriteEnvironment(json, run.Environment);
        StepJson.WriteAccounting(json, run.Accounting);
        json.WriteStartArray("errors");
        foreach (ErrorCount error in run.Errors)
        {
            json.WriteStartObject();
            json.WriteNumber("code", error.Code);
            json.WriteString("name", error.Name);
            json.WriteNumber("count", error.Count);
            json.WriteString("firstMessage", error.FirstMessage);
            json.Texts("labels", error.Labels);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        ScenarioJson.WriteScenario(json, run);
        json.WriteStartArray("steps");
        foreach (StepResult step in run.Steps)
            StepJson.WriteStep(json, step);
        json.WriteEndArray();
        ShardJson.WriteCollStats(json, run);
        ShardJson.WriteSharding(json, run);
        WriteEvents(json, run.Events);
        WriteFindings(json, run.Findings);
        json.WriteEndObject();
    });

    /// <summary>One step alone, as `run q4 --format json` prints it.</summary>
    public static void WriteStep(StepResult step, TextWriter output) => Write(output, json => StepJson.WriteStep(json, step));

    /// <summary>Indented, with a line feed behind it.</summary>
    public static void Write(TextWriter output, Action<Utf8JsonWriter> write)
    {
        using var bytes = new MemoryStream();
        // Relaxed: the file is read as JSON, never pasted into HTML, and 'it's' stays readable.
        using (var json = new Utf8JsonWriter(bytes, new JsonWriterOptions
        {
            Indented = true, NewLine = "\n", Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        }))
        {
            write(json);
        }

        output.Write(System.Text.Encoding.UTF8.GetString(bytes.GetBuffer(), 0, (int)bytes.Length));
        output.Write('\n');
    }

    private static void WriteRun(Utf8JsonWriter json, StoredRun stored)
    {
        RunInfo run = stored.Run;
        json.WriteStartObject("run");
        json.WriteString("id", run.Id);
        json.WriteString("kind", run.Kind);
        json.WriteNumber("seed", run.Seed);
        json.WriteString("version", run.Version);
        json.WriteString("buildKind", run.BuildKind);
        json.WriteString("commandLine", run.CommandLine);
        json.WriteString("state", stored.StateText);
        json.Text("stoppedBecause", run.StoppedBecause);
        json.WriteString("startedAt", run.StartedAt);
        if (run.EndedAt is { } ended)
            json.WriteString("endedAt", ended);
        else
            json.WriteNull("endedAt");
        json.WriteNumber("targetDocuments", stored.Settings.TargetDocumentCount);
        json.WriteNumber("documentsReached", stored.DocumentsReached);
        json.WriteBoolean("orderedBatches", stored.Settings.OrderedBatches);
        WriteSharding(json, stored.Settings.Sharding);
        json.WriteEndObject();
    }

    private static void WriteSharding(Utf8JsonWriter json, ShardingSettings? sharding)
    {
        if (sharding == null)
        {
            json.WriteNull("sharding");
            return;
        }

        json.WriteStartObject("sharding");
        json.Text("shardKey", sharding.ShardKey);
        json.Integer("presplit", sharding.Presplit);
        json.Integer("chunkMegabytes", sharding.ChunkMegabytes);
        json.Text("balancer", sharding.Balancer);
        json.WriteEndObject();
    }

    private static void WriteDeployment(Utf8JsonWriter json, DeploymentInfo? deployment, string? name)
    {
        if (deployment == null)
        {
            json.WriteNull("deployment");
            return;
        }

        json.WriteStartObject("deployment");
        if (name is not null)
            json.WriteString("name", name);
        json.WriteString("kind", deployment.Kind);
        json.WriteString("topology", deployment.Topology);
        json.WriteString("serverVersion", deployment.ServerVersion);
        json.Text("storageEngine", deployment.StorageEngine);
        json.Integer("cacheBytes", deployment.CacheBytes);
        if (deployment.Router is not null)
            json.WriteString("router", deployment.Router);
        if (deployment.ShardCount is { } shards)
            json.WriteNumber("shardCount", shards);
        json.WriteBoolean("isEmbedded", deployment.IsEmbedded);
        json.WriteString("address", deployment.Address);
        json.WriteString("namespace", deployment.Namespace);
        json.Texts("remarks", deployment.Remarks);
        json.WriteEndObject();
    }

    private static void WriteEnvironment(Utf8JsonWriter json, EnvironmentInfo? environment)
    {
        if (environment == null)
        {
            json.WriteNull("environment");
            return;
        }

        json.WriteStartObject("environment");
        json.WriteString("operatingSystem", environment.OperatingSystem);
        json.WriteString("kernel", environment.Kernel);
        json.WriteString("cpuModel", environment.CpuModel);
        json.WriteNumber("cpuCount", environment.CpuCount);
        json.WriteNumber("memoryBytes", environment.MemoryBytes);
        json.WriteString("disk", environment.Disk);
        json.WriteNumber("diskTotalBytes", environment.DiskTotalBytes);
        json.WriteNumber("diskFreeBytes", environment.DiskFreeBytes);
        json.WriteString("dotNetVersion", environment.DotNetVersion);
        json.WriteBoolean("serverOnSameMachine", environment.ServerOnSameMachine);
        json.WriteEndObject();
    }

    private static void WriteEvents(Utf8JsonWriter json, IEnumerable<RunEvent> events)
    {
        json.WriteStartArray("events");
        foreach (RunEvent happened in events)
        {
            json.WriteStartObject();
            json.WriteString("at", DateTimeOffset.FromUnixTimeMilliseconds(happened.AtMilliseconds));
            json.WriteString("kind", happened.Kind);
            json.WriteString("text", happened.Text);
            json.Number("seconds", happened.Seconds);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteFindings(Utf8JsonWriter json, IEnumerable<Finding> findings)
    {
        json.WriteStartArray("findings");
        foreach (Finding finding in findings)
        {
            json.WriteStartObject();
            json.WriteString("rule", finding.Rule);
            json.WriteString("text", finding.Text);
            json.WriteString("certainty", finding.Certainty);
            json.WriteString("nextStep", finding.NextStep);
            json.Number("atDocuments", finding.AtDocuments);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }
}

/// <summary>Values that may be missing.</summary>
internal static class JsonValues
{
    private const int Decimals = 6;

    public static void Text(this Utf8JsonWriter json, string name, string? value)
    {
        if (value == null)
            json.WriteNull(name);
        else
            json.WriteString(name, value);
    }

    public static void Texts(this Utf8JsonWriter json, string name, IEnumerable<string> values)
    {
        json.WriteStartArray(name);
        foreach (string value in values)
            json.WriteStringValue(value);
        json.WriteEndArray();
    }

    public static void Integer(this Utf8JsonWriter json, string name, long? value)
    {
        if (value is { } number)
            json.WriteNumber(name, number);
        else
            json.WriteNull(name);
    }

    /// <summary>Rounded to a millionth; JSON knows neither NaN nor infinity.</summary>
    public static void Number(this Utf8JsonWriter json, string name, double? value)
    {
        if (value is { } number && double.IsFinite(number))
            json.WriteNumber(name, Math.Round(number, Decimals));
        else
            json.WriteNull(name);
    }
}
