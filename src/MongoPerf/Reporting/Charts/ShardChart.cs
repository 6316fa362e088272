using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>What each shard holds and does over time, with the migrations shaded.</summary>
internal static class ShardChart
{
    public const string Name = "shards";

    /// <summary>Null unless several shards were looked at.</summary>
    /// <param name="run">Finished or not.</param>
    /// <param name="name">Of its files, where charts of several runs lie in one folder.</param>
    public static Chart? Build(StoredRun run, string name = Name)
    {
        RunPanels panels = RunPanels.Of(run);
        return panels.Shards.Count == 0 ? null : OverTime.Chart(
            run, name, Words.Of("Shards over time"),
            Words.Of("Lines that run together are shards that fill evenly. Shaded: a chunk is on its way from one shard to another. "
            + "Orphans are documents that have moved away and are not deleted yet."),
            [.. panels.Inserts is { } inserts ? [inserts] : Array.Empty<Panel>(), .. panels.Shards]);
    }
}
