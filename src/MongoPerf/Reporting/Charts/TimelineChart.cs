using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Rates and latencies over time with the state of servers and host below, on the same axis: panels for which the run has figures.</summary>
internal static class TimelineChart
{
    public const string Name = "timeline";

    public static Chart? Build(StoredRun run)
    {
        RunPanels panels = RunPanels.Of(run);
        Panel[] operations = [.. new[] { panels.Inserts, panels.Operations, panels.Latencies }.OfType<Panel>()];
        if (operations.Length == 0)
            return null;
        return OverTime.Chart(
            run, Name, Words.Of("Rates over time, and the state of server and client"),
            Words.Of("All panels share one time axis: look straight down from a dip in a rate to see what server, disk and CPU did at that moment.")
            + (operations.Any(static panel => panel.IsCut) ? " " + Words.Of($"A panel holds {Panel.MostLines} lines: the first are drawn; the interactive charts and the tables have the others.") : ""),
            [.. operations, .. panels.States]);
    }
}
