using System.Globalization;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>Lines of text that console and Markdown have in common.</summary>
internal static class ReportLines
{
    /// <summary>Run, deployment, client and settings: four lines, each with its name.</summary>
    public static IReadOnlyList<(string Name, string Text)> Environment(StoredRun run) =>
    [
        ("run", RunLine(run)),
        ("server", ServerLine(run.Deployment)),
        ("client", ClientLine(run)),
        ("asked", run.Scenario is { } scenario ? ScenarioLine(scenario) : run.Run.Kind == "series" ? AskedLine(run.Settings) : AskedAlone(run.Settings)),
    ];

    /// <summary>What to type next.</summary>
    /// <param name="run">The run.</param>
    /// <param name="runsFolder">As typed after --out; null for the default.</param>
    public static string Next(StoredRun run, string? runsFolder)
    {
        string command = run.StateText switch
        {
            "finished" or "running" => "report",
            _ => run.Run.Kind == "series" ? "resume" : "report",
        };
        string why = command == "resume" ? "to go on" : run.StateText == "running" ? "to see it again later" : "to make the report again";
        return $"{why}: ./mongoperf {command} {run.Run.Id}{(runsFolder == null ? "" : $" --out {Quoted(runsFolder)}")}";
    }

    private static string RunLine(StoredRun run)
    {
        string lasted = run.Run.EndedAt is { } ended ? $", took {Units.Duration(ended - run.Run.StartedAt)}" : "";
        string started = run.Run.StartedAt.UtcDateTime.ToString("yyyy-MM-dd HH:mm", CultureInfo.InvariantCulture);
        return $"{run.Run.Id}, {run.Run.Kind}, seed {run.Run.Seed}, {started} UTC{lasted}; "
            + $"MongoPerf {run.Run.Version} {run.Run.BuildKind}: {run.Run.CommandLine}";
    }

    private static string ServerLine(DeploymentInfo? d)
    {
        if (d == null)
            return "none was reached";
        string product = d.IsEmbedded ? "embedded server" : d.Kind == "null" ? "null server" : "MongoDB";
        string engine = d.StorageEngine == null ? "" : $", {d.StorageEngine}";
        string cache = d.CacheBytes == null ? "" : $", cache {Cache(d)}";
        string topology = d.Topology is "embedded" or "null" ? "" : $" {d.Topology}{Router(d)}";
        return $"{product} {d.ServerVersion}{topology}{engine}{cache}, {d.Namespace} at {d.Address}";
    }

    /// <summary>"256 MiB", of three shards "3 x 256 MiB".</summary>
    public static string Cache(DeploymentInfo d) => (d.ShardCount is > 1 ? $"{d.ShardCount} x " : "") + Units.BinaryBytes(d.CacheBytes);

    private static string Router(DeploymentInfo d) => d.Router is null ? "" : $" (routed by {(d.Router == "mongod" ? "a mongod" : d.Router)})";

    private static string ClientLine(StoredRun run)
    {
        if (run.Environment is not { } e)
            return "unknown";
        string shared = e.ServerOnSameMachine ? ", shared with the server" : "";
        return $"{e.CpuCount} x {e.CpuModel}, {Units.BinaryBytes(e.MemoryBytes)}{shared}; {e.OperatingSystem}, Linux {e.Kernel}, "
            + $".NET {e.DotNetVersion}; {e.Disk}, {Units.Bytes(e.DiskFreeBytes)} of {Units.Bytes(e.DiskTotalBytes)} free";
    }

    private static string ScenarioLine(ScenarioInfo scenario) =>
        $"scenario {scenario.Name} ({scenario.Path}){(scenario.Description.Length > 0 ? $": {scenario.Description}" : "")}";

    private static string AskedAlone(SeriesSettings s) =>
        $"{string.Join(", ", s.Tests)}, threads {string.Join(',', s.Threads)}, {Window(s)}, journal {(s.Journal ? "on" : "off")}{Rate(s)}{Sharded(s)}";

    private static string AskedLine(SeriesSettings s) =>
        $"{Units.Count(s.TargetDocumentCount)} documents in steps of {Units.Count(s.StepDocumentCount)} "
        + $"(unack/batch/safe {string.Join('/', s.Shares)} %), batch {s.BatchSize} {(s.OrderedBatches ? "ordered" : "unordered")}, "
        + $"threads {string.Join(',', s.Threads)}, {Window(s)}, "
        + $"journal {(s.Journal ? "on" : "off")}{Rate(s)}{Sharded(s)}";

    /// <summary>A run that is limited by operations has no time.</summary>
    private static string Window(SeriesSettings s) => s.WindowSeconds <= 0
        ? "no limit of time"
        : $"window {Units.Duration(TimeSpan.FromSeconds(s.WindowSeconds))} of which {Units.Duration(TimeSpan.FromSeconds(s.WarmupSeconds))} warm-up";

    private static string Rate(SeriesSettings s) => s.Rate is { } perSecond ? $", {Units.Rate(perSecond)} operations/s" : "";

    private static string Sharded(SeriesSettings s) => s.Sharding is { } sharding ? $"; {Sharding(sharding)}" : "";

    /// <summary>Such as "sharded by hashed _id, presplit into 6 chunks, chunk size 8 MB, balancer on".</summary>
    public static string Sharding(ShardingSettings s)
    {
        string key = s.ShardKey switch { null => "by the key it had", "hashed" => "by hashed _id", var given => $"by {given}" };
        string presplit = s.Presplit is { } chunks ? $", presplit into {chunks} chunks" : "";
        string size = s.ChunkMegabytes is { } megabytes ? $", chunk size {megabytes} MB" : "";
        return $"sharded {key}{presplit}{size}{(s.Balancer is { } balancer ? $", balancer {balancer}" : "")}";
    }

    private static string Quoted(string path) =>
        path.All(c => char.IsLetterOrDigit(c) || "/._-".Contains(c)) ? path : $"'{path.Replace("'", "'\\''")}'";
}
