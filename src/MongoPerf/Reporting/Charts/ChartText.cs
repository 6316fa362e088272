using System.Globalization;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>The words on charts.</summary>
internal static class ChartText
{
    /// <summary>Tests in the order and with the meaning of the series.</summary>
    public static List<string> InsertTests { get; } = ["unack", "batch", "safe"];

    public static List<string> QueryTests { get; } = ["q4", "q5", "q6", "q7"];

    /// <summary>"2 shards · mongod 6.0.5, sharded, WiredTiger cache 1 GiB · 2 cores, 24 GiB · run 2026-11-21-a"; the first for a deployment with a name.</summary>
    public static string Subtitle(StoredRun run)
    {
        List<string> parts = [.. new[] { run.DeploymentName, DeploymentText(run.Deployment) }.OfType<string>()];
        if (run.Environment is { } machine)
        {
            string cores = machine.CpuCount == 1 ? "1 core" : $"{machine.CpuCount} cores";
            string where = run.Deployment?.Kind is "uri" or "tyrant" && !machine.ServerOnSameMachine ? "client: " : "";
            double gibibytes = Math.Round(machine.MemoryBytes / (1024.0 * 1024 * 1024));
            parts.Add($"{where}{cores}, {gibibytes.ToString(CultureInfo.InvariantCulture)} GiB");
        }

        parts.Add("run " + run.Run.Id);
        if (run.Run.State != RunState.Finished)
            parts.Add(run.StateText);
        return string.Join(" · ", parts);
    }

    public static string DeploymentText(DeploymentInfo? deployment)
    {
        if (deployment is null)
            return "no server reached";
        if (deployment.IsEmbedded)
            return "embedded server, not MongoDB";
        if (deployment.Kind == "null")
            return "null deployment (answers from memory, stores nothing), not MongoDB";
        if (deployment.Kind == "tyrant")
            return $"Tokyo Tyrant {deployment.ServerVersion}, {deployment.StorageEngine} database";
        string cache = deployment.CacheBytes is > 0 ? $", {EngineName(deployment.StorageEngine)} cache {ReportLines.Cache(deployment)}" : "";
        return $"mongod {deployment.ServerVersion}, {deployment.Topology}{cache}";
    }

    /// <summary>"q5: two conditions, 2 fields", or "q5, 8 threads" where several thread counts were measured.</summary>
    public static string SeriesTitle(SeriesSettings settings, string test, int? threads)
    {
        if (threads is { } count)
            return $"{test}, {ThreadsText(count)}";
        return test switch
        {
            "unack" => "unack: one by one, unacknowledged",
            "batch" => $"batch: {Units.Exact(settings.BatchSize)} per command",
            "safe" => settings.Journal ? "safe: one by one, journaled" : "safe: one by one, acknowledged",
            "q4" => "q4: one condition, 10 docs",
            "q5" => "q5: two conditions, 2 fields",
            "q6" => "q6: sorted by date, skip 100",
            "q7" => "q7: no condition, 100 docs",
            _ => test,
        };
    }

    public static string ThreadsText(int threads) => threads == 1 ? "1 thread" : $"{threads} threads";

    /// <summary>"data &gt; cache at 4.1M".</summary>
    public static string CrossingText(CacheCrossing crossing) => $"{crossing.What} > cache at {AxisScale.AboutText(crossing.Documents)}";

    /// <summary>The text in rows of at most so many characters, broken at blanks; a word that is longer stays whole.</summary>
    public static string Wrap(string text, int width)
    {
        var rows = new List<string>();
        foreach (string word in text.Split(' '))
        {
            if (rows.Count > 0 && rows[^1].Length + 1 + word.Length <= width)
                rows[^1] += " " + word;
            else
                rows.Add(word);
        }

        return string.Join('\n', rows);
    }

    private static string EngineName(string? storageEngine) => storageEngine is null or "wiredTiger" ? "WiredTiger" : storageEngine;
}
