using System.Globalization;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>The words on charts.</summary>
internal static class ChartText
{
    /// <summary>
    /// Writes what was measured where, such as "2 shards · mongod 6.0.5, sharded, WiredTiger cache 1 GiB · 2 cores, 24 GiB · run
    /// 2026-11-21-a"; only a deployment with a name has the first.
    /// </summary>
    public static string Subtitle(StoredRun run)
    {
        List<string> parts = [.. new[] { run.DeploymentName, DeploymentText(run) }.OfType<string>()];
        if (run.Environment is { } machine)
        {
            string where = run.Deployment?.Kind.IsGiven() == true && !machine.ServerOnSameMachine ? Words.Of("client: ") : "";
            double gibibytes = Math.Round(machine.MemoryBytes / (1024.0 * 1024 * 1024));
            parts.Add(
                Words.Of($"{where}{Words.Counted(machine.CpuCount, "core")}, {gibibytes.ToString(CultureInfo.InvariantCulture)} GiB"));
        }

        parts.Add(Words.Of($"run {run.Run.Id}"));
        if (run.Run.State != RunState.Finished)
            parts.Add(Words.Of(run.StateText));
        return string.Join(" · ", parts);
    }

    /// <summary>Tells what was under load, and through which client when it was not MongoPerf's own.</summary>
    public static string DeploymentText(StoredRun run) => DeploymentText(run.Deployment) + Through(run.Settings.Engine);

    /// <summary>Tells the client, such as ", through MongoDB.Driver 3.11.0"; nothing for MongoPerf's own.</summary>
    public static string Through(EngineSettings engine) =>
        engine.Kind == EngineKind.Wire ? "" : Words.Of($", through MongoDB.Driver {engine.Version}").TrimEnd();

    /// <summary>Tells what was under load.</summary>
    public static string DeploymentText(DeploymentInfo? deployment)
    {
        if (deployment is null)
            return Words.Of("no server reached");
        if (deployment.IsEmbedded)
            return deployment.ShardCount is { } shards
                ? Words.Of($"embedded server as a mongos of {Words.Counted(shards, "shard")}, not MongoDB")
                : Words.Of("embedded server, not MongoDB");
        if (deployment.Topology == Topology.Null)
            return Words.Of("null deployment (answers from memory, stores nothing), not MongoDB");
        if (deployment.OtherSystem is { } system)
            return Words.Of($"{system} {deployment.ServerVersion}, {deployment.StorageEngine} database");
        string cache = deployment.CacheBytes is > 0 ? Words.Of($", {EngineName(deployment.StorageEngine)} cache {Cache(deployment)}") : "";
        return deployment.StandIn is { } standIn
            ? Words.Of($"{standIn}, not MongoDB, {Words.Of(deployment.ShapeText)}{cache}")
            : Words.Of($"mongod {Words.Of(deployment.VersionText)}, {Words.Of(deployment.ShapeText)}{cache}");
    }

    /// <summary>"256 MiB", of three shards "3 × 256 MiB".</summary>
    public static string Cache(DeploymentInfo d) => (d.ShardCount is > 1 ? $"{d.ShardCount} × " : "") + Units.BinaryBytes(d.CacheBytes);

    /// <summary>Names a line "q5", "unack: unacknowledged" or "batch: 1,000 per command".</summary>
    public static string TitleOf(GrowthLine line) =>
        line.IsUnacknowledged ? Words.Of($"{line.Label}: unacknowledged")
            : line.IsInsert && line.Batch > 1 ? Words.Of($"{line.Label}: {Units.Exact(line.Batch)} per command") : line.Label;

    /// <summary>Writes a crossing as "data &gt; cache at 4.1M" or "files &gt; memory limit at 650k".</summary>
    public static string CrossingText(CacheCrossing crossing) =>
        Words.Of($"{Words.Of(crossing.What)} > {Words.Of(crossing.Limit)} at {AxisScale.AboutText(crossing.Documents)}");

    public static IReadOnlyList<Mark> Marks(IEnumerable<CacheCrossing> crossings) =>
        [.. crossings.Select(static crossing => new Mark(crossing.Documents, CrossingText(crossing)))];

    private static string EngineName(string? storageEngine) => storageEngine is null or "wiredTiger" ? "WiredTiger" : storageEngine;
}
