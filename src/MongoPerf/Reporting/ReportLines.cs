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
        ("asked", run.Scenario is { } scenario ? ScenarioLine(scenario) : AskedLine(run.Settings)),
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
        string product = d.IsEmbedded ? "embedded server" : d.Kind == "null" ? "null server" : d.Kind == "tyrant" ? "Tokyo Tyrant" : "MongoDB";
        string engine = d.StorageEngine == null ? "" : $", {d.StorageEngine}";
        string cache = d.CacheBytes == null ? "" : $", cache {Units.BinaryBytes(d.CacheBytes)}";
        string topology = d.Topology is "embedded" or "null" or "Tokyo Tyrant" ? "" : $" {d.Topology}";
        return $"{product} {d.ServerVersion}{topology}{engine}{cache}, {d.Namespace} at {d.Address}";
    }

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

    private static string AskedLine(SeriesSettings s)
    {
        string rate = s.Rate is { } perSecond ? $", {Units.Rate(perSecond)} operations/s" : "";
        return $"{Units.Count(s.TargetDocumentCount)} documents in steps of {Units.Count(s.StepDocumentCount)} "
            + $"(unack/batch/safe {string.Join('/', s.Shares)} %), batch {s.BatchSize} {(s.OrderedBatches ? "ordered" : "unordered")}, "
            + $"threads {string.Join(',', s.Threads)}, window {Units.Duration(TimeSpan.FromSeconds(s.WindowSeconds))} of which "
            + $"{Units.Duration(TimeSpan.FromSeconds(s.WarmupSeconds))} warm-up, journal {(s.Journal ? "on" : "off")}{rate}";
    }

    private static string Quoted(string path) =>
        path.All(c => char.IsLetterOrDigit(c) || "/._-".Contains(c)) ? path : $"'{path.Replace("'", "'\\''")}'";
}
