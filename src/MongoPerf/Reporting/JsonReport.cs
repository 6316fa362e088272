using System.Text.Encodings.Web;
using System.Text.Json;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Phases;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting;

/// <summary>A run as JSON, schema mongoperf/1. What has no value is null; fields are only ever added.</summary>
internal static class JsonReport
{
    public const string Schema = "mongoperf/1";

    public static void Write(StoredRun run, TextWriter output) => Write(output, json =>
    {
        Dictionary<int, LapFigures> laps = LapFigures.Of(run).ToDictionary(one => one.Phase.Number);
        json.WriteStartObject();
        json.WriteString("schema", Schema);
        json.Object("run", run, WriteRun);
        json.Object("settings", run.Settings, WriteSettings);
        json.Object("deployment", run.Deployment, WriteDeployment);
        json.Record("environment", run.Environment);
        json.Record("accounting", run.Accounting);
        json.Record("errors", run.Errors);
        json.Objects("phases", run.Phases, (_, phase) => PhaseJson.WritePhase(json, phase, laps.GetValueOrDefault(phase.Number)));
        ShardJson.WriteCollStats(json, run);
        ShardJson.WriteSharding(json, run);
        json.Objects("events", run.Events, WriteEvent);
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

    private static void WriteRun(Utf8JsonWriter json, StoredRun stored)
    {
        RunInfo run = stored.Run;
        json.WriteString("id", run.Id);
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
        json.WriteNumber("documentsReached", stored.DocumentsReached);
        json.Record("repeat", run.Repeat);
    }

    private static void WriteSettings(Utf8JsonWriter json, RunSettings settings)
    {
        json.Object("deployment", settings.Deployment, WriteDeploymentSettings);
        json.Object("data", settings.Data, WriteDataSettings);
        json.Object("plan", settings.Plan, WritePlanSettings);
    }

    /// <summary>What is null was left to the program.</summary>
    private static void WriteDeploymentSettings(Utf8JsonWriter json, DeploymentSettings deployment)
    {
        json.Text("name", deployment.Name);
        json.WriteString("topology", deployment.Topology.Text());
        json.Text("uri", deployment.Uri);
        json.Integer("cacheBytes", deployment.CacheBytes);
        json.Integer("memoryLimitBytes", deployment.MemoryLimitBytes);
        json.Integer("cpus", deployment.Cpus);
        json.Integer("shards", deployment.Cluster?.Shards);
        json.Integer("members", deployment.Cluster?.Members);
    }

    private static void WriteDataSettings(Utf8JsonWriter json, DataSettings data)
    {
        json.WriteString("database", data.Database);
        json.WriteBoolean("isExisting", data.IsExisting);
        json.Record("sharding", data.Sharding);
    }

    private static void WritePlanSettings(Utf8JsonWriter json, PlanSettings plan)
    {
        json.WriteString("name", plan.Name);
        json.WriteString("description", plan.Description);
        json.WriteString("path", plan.Path);
        json.WriteStartObject("parameters");
        foreach (ParameterValue parameter in plan.Parameters)
            json.WriteString(parameter.Name, parameter.Value);
        json.WriteEndObject();
        json.Texts("changes", plan.Changes);
        json.Texts("set", plan.Set);
        json.Number("scale", plan.Overrides.Scale);
        json.WriteNumber("targetDocuments", plan.TargetDocuments);
        json.Number("verifyShare", plan.VerifyShare);
        json.WriteNumber("maxErrors", plan.MaxErrors);
    }

    private static void WriteDeployment(Utf8JsonWriter json, DeploymentInfo deployment)
    {
        json.WriteString("kind", JsonNamingPolicy.CamelCase.ConvertName(deployment.Kind.ToString()));
        json.WriteString("topology", deployment.Topology.Text());
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

    private static void WriteEvent(Utf8JsonWriter json, RunEvent happened)
    {
        json.WriteString("at", DateTimeOffset.FromUnixTimeMilliseconds(happened.AtMilliseconds));
        json.WriteString("kind", happened.Kind);
        json.WriteString("text", happened.Text);
        json.Number("seconds", happened.Seconds);
    }
}
