using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Plots;

namespace MongoPerf.Reporting.Charts;

/// <summary>Charts over a whole run's time, on one axis: the panels that a plot names, as far as the run has figures for them.</summary>
internal static class TimeCharts
{
    /// <returns>Null where the run has none of what the plot needs.</returns>
    /// <param name="run">Finished or not.</param>
    /// <param name="plot">Over time.</param>
    /// <param name="name">Of its files; null for the plot's.</param>
    public static Chart? Build(StoredRun run, PlotInfo plot, string? name = null)
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
            .. plot.Panels.SelectMany(one => Named(one.Show).Where(known.ContainsKey).Select(panel => Chosen(known[panel], one))).OfType<Panel>(),
        ];
        if (panels.Length == 0 || (plot.Needs.Count > 0 && !plot.Needs.SelectMany(Named).Any(known.ContainsKey)))
            return null;
        string cut = panels.Any(static panel => !panel.IsState && panel.IsCut)
            ? " " + Words.Of($"A panel holds {Panel.MostLines} lines: the first are drawn; the interactive charts and the tables have the others.") : "";
        Chart chart = OverTime.Chart(run, name ?? plot.Name, plot.TitleWith(), plot.Reading + cut, panels);
        return chart with { Marks = plot.HasMarks ? chart.Marks : [], Bands = [.. chart.Bands.Where(band => plot.Bands.Contains(band.Kind))] };

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

    /// <summary>With the lines and the title that the plot wants; null without any of the lines.</summary>
    private static Panel? Chosen(Panel panel, PlotPanel wanted)
    {
        if (wanted.Title is { } title)
            panel = panel with { Title = Words.Of(title), Unit = "" };
        if (wanted.Lines.Count == 0)
            return panel;
        Series[] lines = [.. panel.Series.Where(line => wanted.Lines.Contains(line.Title)).OrderBy(line => wanted.Lines.ToList().IndexOf(line.Title)).Select(static line => line with { IsShown = true })];
        if (lines.Length == 0)
            return null;
        double[] values = [.. lines.SelectMany(static line => line.Values).Where(double.IsFinite).DefaultIfEmpty(1)];
        return panel with { Series = lines, Y = panel.Y.IsLogarithmic ? AxisScale.OfLatency(values.Min(), values.Max()) : panel.Y };
    }
}
