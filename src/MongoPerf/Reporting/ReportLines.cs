using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting;

/// <summary>Lines of text that console and Markdown have in common.</summary>
internal static class ReportLines
{
    /// <summary>Run, deployment, client and settings: four lines, each with its name.</summary>
    public static IReadOnlyList<(string Name, string Text)> Environment(StoredRun run) =>
    [
        (Words.Of("run"), RunLine(run)),
        (Words.Of("server"), ServerLine(run.Deployment) + ChartText.Through(run.Settings.Engine)),
        (Words.Of("client"), ClientLine(run)),
        (Words.Of("settings"), SettingsLine(run)),
    ];

    /// <summary>What to type next.</summary>
    /// <param name="run">The run.</param>
    /// <param name="runsFolder">As typed after --out; null for the default.</param>
    public static string Next(StoredRun run, string? runsFolder)
    {
        (string why, string command) = run.StateText switch
        {
            "finished" => (Words.Of("to rebuild this report"), "report"),
            "running" => (Words.Of("to refresh this report"), "report"),
            _ when run.Run.Clients.Count > 0 => (Words.Of("to rebuild this report"), "report"),
            _ => (Words.Of("to resume"), "resume"),
        };
        // A program that only the stored run names is not started: it is named again.
        string mongod = command == "resume" && run.Settings.Deployment.MongodPath is { } named ? $" --mongod {Quoted(named)}" : "";
        return $"{why}: ./mongoperf {command} {run.Run.Id}{mongod}{(runsFolder == null ? "" : $" --out {Quoted(runsFolder)}")}";
    }

    private static string RunLine(StoredRun run)
    {
        string lasted = run.Run.EndedAt is { } ended ? Words.Of($", took {Units.Duration(ended - run.Run.StartedAt)}") : "";
        string started = run.Run.StartedAt.UtcDateTime.ToString("yyyy-MM-dd HH:mm", CultureInfo.InvariantCulture);
        return Words.Of($"{run.Run.Id}, {run.Settings.Plan.Name}, seed {run.Run.Seed}, {started} UTC{lasted}; "
            + $"MongoPerf {run.Run.Version} {run.Run.BuildKind}: {run.Run.CommandLine}");
    }

    private static string ServerLine(DeploymentInfo? d)
    {
        if (d == null)
            return Words.Of("no server was reached");
        string product = d.IsEmbedded ? Words.Of("embedded server") : d.Topology == Topology.Null ? Words.Of("null server") : d.Kind == DeploymentKind.Tyrant ? "Tokyo Tyrant" : "MongoDB";
        string engine = d.StorageEngine == null ? "" : $", {d.StorageEngine}";
        string cache = d.CacheBytes == null ? "" : Words.Of($", cache {Cache(d)}");
        string topology = d.Topology is Topology.Embedded or Topology.Null or Topology.TokyoTyrant ? "" : $" {Words.Of(d.ShapeText)}{Router(d)}";
        return Words.Of($"{product} {d.ServerVersion}{topology}{engine}{cache}, {d.Namespace} at {d.Address}");
    }

    /// <summary>"256 MiB", of three shards "3 × 256 MiB".</summary>
    public static string Cache(DeploymentInfo d) => (d.ShardCount is > 1 ? $"{d.ShardCount} × " : "") + Units.BinaryBytes(d.CacheBytes);

    private static string Router(DeploymentInfo d) => d.Router is null ? "" : Words.Of($" (routed by {(d.Router == "mongod" ? Words.Of("a mongod") : d.Router)})");

    private static string ClientLine(StoredRun run)
    {
        if (run.Environment is not { } e)
            return Words.Of("unknown");
        string shared = e.ServerOnSameMachine ? Words.Of(", shared with the server") : "";
        return Words.Of($"{e.CpuCount} × {e.CpuModel}, {Units.BinaryBytes(e.MemoryBytes)}{shared}; {e.OperatingSystem}, Linux {e.Kernel}, "
            + $".NET {e.DotNetVersion}; {e.Disk}, {Units.Bytes(e.DiskFreeBytes)} of {Units.Bytes(e.DiskTotalBytes)} free");
    }

    private static string SettingsLine(StoredRun run)
    {
        PlanSettings plan = run.Settings.Plan;
        string parameters = PhaseLabels.Parameters(plan.Parameters.Where(parameter => parameter.Value != "~"));
        return Words.Of($"scenario {PlanText(plan)}{(parameters.Length > 0 ? "; " : "")}{parameters}{(run.Settings.Data.Sharding is { } sharding ? $"; {Sharding(sharding, run.Deployment?.Collections)}" : "")}");
    }

    /// <summary>"news (scenarios/news.yaml): what it is about".</summary>
    public static string PlanText(PlanSettings plan) => $"{plan.Name} ({plan.Path}){(plan.Description.Length > 0 ? $": {plan.Description}" : "")}";

    /// <summary>Such as "sharded by hashed _id, presplit into 6 chunks, chunk size 8 MB, balancer on".</summary>
    /// <param name="s">What was asked for.</param>
    /// <param name="collections">As the cluster has them, which comes first: a scenario's collections have keys of their own. Null or empty where it was not asked.</param>
    public static string Sharding(ShardingSettings s, IReadOnlyList<CollectionSharding>? collections = null)
    {
        string key = collections is [{ Key: { } only }] ? Words.Of($"by {only}")
            : collections is { Count: > 1 } ? Words.Of($"by {string.Join(", ", collections.Select(one => $"{one.Collection} {one.Key ?? Words.Of("none")}"))}")
            : s.ShardKey switch { null => Words.Of("by the key it had"), "hashed" => Words.Of("by hashed _id"), var given => Words.Of($"by {given}") };
        string presplit = s.Presplit is { } chunks ? Words.Of($", presplit into {chunks} chunks") : "";
        string size = s.ChunkMegabytes is { } megabytes ? Words.Of($", chunk size {megabytes} MB") : "";
        return Words.Of($"sharded {key}{presplit}{size}{(s.Balancer is { } balancer ? Words.Of($", balancer {balancer}") : "")}");
    }

    public static string Quoted(string path) =>
        path.All(c => char.IsLetterOrDigit(c) || "/._-".Contains(c)) ? path : $"'{path.Replace("'", "'\\''")}'";
}
