using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Draws a whole run over time: the panels that a plot names, as far as the run has figures for them.</summary>
internal static class TimeCharts
{
    /// <returns>Null where the run has none of what the plot needs.</returns>
    /// <param name="run">A run, finished or not.</param>
    /// <param name="plot">A plot over time.</param>
    public static Chart? Build(StoredRun run, PlotInfo plot)
    {
        RunPanels all = RunPanels.Of(run);
        var known = new Dictionary<string, Panel>();
        Know("inserts", all.Inserts);
        Know("operations", all.Operations);
        Know("latency", all.Latencies);
        foreach (Panel state in all.States)
            Know(NameOf(state), state);
        foreach (Panel shard in all.Shards)
            Know("shard-" + NameOf(shard), shard);
        Panel[] panels =
        [
            .. plot.Panels
                .SelectMany(one => Named(one.Show).Where(known.ContainsKey).Select(panel => one.Of(known[panel]))).OfType<Panel>(),
        ];
        if (panels.Length == 0 || (plot.Needs.Count > 0 && !plot.Needs.SelectMany(Named).Any(known.ContainsKey)))
            return null;
        string cut = panels.Any(static panel => !panel.IsState && panel.IsCut)
            ? " " + Words.Of(
                $"A panel holds {Panel.MostLines} lines: the first are drawn; the interactive charts and the tables have the others.") : "";
        Chart chart = OverTime.Chart(run, plot.Name, plot.TitleWith(), plot.Reading + cut, panels);
        return chart with
        {
            Marks = plot.HasMarks ? chart.Marks : [], Bands = [.. chart.Bands.Where(band => plot.Bands.Contains(band.Kind))],
        };

        void Know(string panel, Panel? its)
        {
            if (its is not null)
                known[panel] = its;
        }
    }

    private static IEnumerable<string> Named(string show) => show switch
    {
        PlotLanguage.Servers => PlotLanguage.ServerPanels,
        PlotLanguage.Shards => PlotLanguage.ShardPanels,
        _ => [show],
    };

    private static string NameOf(Panel panel) => Path.GetFileNameWithoutExtension(panel.Table.FileName);
}
