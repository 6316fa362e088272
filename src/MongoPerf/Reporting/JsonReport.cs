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
        json.Object("run", run, WriteRun);
        json.Object("deployment", run.Deployment, (_, deployment) => WriteDeployment(json, deployment, run.DeploymentName));
        json.Object("environment", run.Environment, WriteEnvironment);
        StepJson.WriteAccounting(json, run.Accounting);
        json.Objects("errors", run.Errors, WriteError);
        ScenarioJson.WriteScenario(json, run);
        json.Objects("steps", run.Steps, StepJson.WriteStep);
        ShardJson.WriteCollStats(json, run);
        ShardJson.WriteSharding(json, run);
        json.Objects("events", run.Events, WriteEvent);
        json.Objects("findings", run.Findings, WriteFinding);
        json.WriteEndObject();
    });

    /// <summary>One step alone, as `run q4 --format json` prints it.</summary>
    public static void WriteStep(StepResult step, TextWriter output) => Write(output, json =>
    {
        json.WriteStartObject();
        StepJson.WriteStep(json, step);
        json.WriteEndObject();
    });

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

    private static void WriteError(Utf8JsonWriter json, ErrorCount error)
    {
        StepJson.WriteError(json, error);
        json.Texts("labels", error.Labels);
    }

    private static void WriteRun(Utf8JsonWriter json, StoredRun stored)
    {
        RunInfo run = stored.Run;
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
        json.Object("sharding", stored.Settings.Sharding, WriteSharding);
    }

    private static void WriteSharding(Utf8JsonWriter json, ShardingSettings sharding)
    {
        json.Text("shardKey", sharding.ShardKey);
        json.Integer("presplit", sharding.Presplit);
        json.Integer("chunkMegabytes", sharding.ChunkMegabytes);
        json.Text("balancer", sharding.Balancer);
    }

    private static void WriteDeployment(Utf8JsonWriter json, DeploymentInfo deployment, string? name)
    {
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
    }

    private static void WriteEnvironment(Utf8JsonWriter json, EnvironmentInfo environment)
    {
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
    }

    private static void WriteEvent(Utf8JsonWriter json, RunEvent happened)
    {
        json.WriteString("at", DateTimeOffset.FromUnixTimeMilliseconds(happened.AtMilliseconds));
        json.WriteString("kind", happened.Kind);
        json.WriteString("text", happened.Text);
        json.Number("seconds", happened.Seconds);
    }

    private static void WriteFinding(Utf8JsonWriter json, Finding finding)
    {
        json.WriteString("rule", finding.Rule);
        json.WriteString("text", finding.Text);
        json.WriteString("certainty", finding.Certainty);
        json.WriteString("nextStep", finding.NextStep);
        json.Number("atDocuments", finding.AtDocuments);
    }
}
