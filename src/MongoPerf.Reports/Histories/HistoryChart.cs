using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;

namespace MongoPerf.Reports.Histories;

/// <summary>Draws a history: a panel for each metric of each operation, with the level between changes, and new versions marked.</summary>
internal static class HistoryChart
{
    private const int MostPanels = 24;

    /// <summary>More versions than this would hide the runs behind their marks.</summary>
    private const int MostMarks = 8;

    /// <summary>Panels that stand one below the other; more stand in two columns.</summary>
    private const int MostInColumn = 3;
    private const int MostTicks = 9;

    /// <summary>The columns of a line: its value, the least and the greatest of repeats, and the level.</summary>
    private const int ColumnsOfLine = 4;

    /// <returns>Null when there is no value to draw.</returns>
    public static Chart? Build(RunHistory history, PlotInfo plot)
    {
        IGrouping<(string, FigureMetric), HistoryLine>[] all =
        [
            .. history.Lines.GroupBy(line => (line.Row.Title, line.Row.Metric)).Where(group => IsWanted(plot, group.First().Row)),
        ];
        // What changed is worth more room than what didn't; the order stays that of the table.
        HashSet<object> drawn = [.. all.OrderByDescending(group => group.Any(line => line.Changes.Count > 0)).Take(MostPanels)];
        Panel[] panels = [.. all.Where(drawn.Contains).Select((group, i) =>
            PanelOf(history, [.. group], i == 0 ? $"{plot.Name}.csv" : $"{plot.Name}-{i + 1}.csv")).OfType<Panel>()];
        if (panels.Length == 0)
            return null;
        bool isGrid = panels.Length > MostInColumn;
        string title = plot.TitleWith(("scenario", history.Scenario));
        return new Chart(plot.Name, title, plot.Reading + LeftOut(all.Length), AxisOf(history), panels)
        {
            Subtitle = SubtitleOf(history),
            Columns = isGrid ? 2 : 1,
            Marks = plot.HasMarks ? VersionsOf(history) : [],
        }.Marked(history.Runs);
    }

    private static string LeftOut(int panels) =>
        panels <= MostPanels ? "" : " " + Words.Of($"Only {MostPanels} of {panels} metrics are shown, those with changes first.");

    private static bool IsWanted(PlotInfo plot, HistoryRow row) => plot.Panels.Any(panel =>
        panel.Show == row.Metric.Name && (panel.Lines.Count == 0 || panel.Lines.Contains(row.Title)));

    private static Panel? PanelOf(RunHistory history, HistoryLine[] lines, string file)
    {
        HistoryRow first = lines[0].Row;
        // Where deployments are too many to tell apart, those that ran last.
        HistoryLine[] shown = [.. lines.OrderByDescending(line => LastOf(line.Row)).Take(FigureChart.MostLines)
            .OrderBy(line => Array.IndexOf(lines, line))];
        var table = new ChartTable(
            file, ["run", .. shown.SelectMany(line => (string[])[line.Row.Name, $"{line.Row.Name} low", $"{line.Row.Name} high", "level"])])
        {
            RowNames = [.. history.Points.Select(point => point.Name)],
        };
        for (int i = 0; i < history.Points.Count; i++)
            table.Add([i + 1, .. shown.SelectMany(line => ValuesOf(line, i))]);
        Series[] series =
        [
            .. shown.Select((line, i) => new Series(
                table, 1 + (i * ColumnsOfLine), FigureChart.Legend(line.Row.Deployment), Palette.OfLine(i)) { HasSpread = true }),
            .. shown.Select((line, i) => new Series(table, (i + 1) * ColumnsOfLine, "", Palette.OfLine(i)) { Dash = 2 }),
        ];
        return Panel.Of($"{first.Title}: {first.AxisTitle}", largest => ScaleOf(first.Metric.Unit, largest), series);
    }

    private static int LastOf(HistoryRow row) => row.Values.Index().Where(one => double.IsFinite(one.Item)).Max(one => one.Index);

    private static double[] ValuesOf(HistoryLine line, int point)
    {
        double value = line.Row.Values[point];
        return !double.IsFinite(value) ? [ChartTable.None, double.NaN, double.NaN, ChartTable.None]
            : [value, line.Row.Low[point], line.Row.High[point], line.Levels[point]];
    }

    private static AxisScale ScaleOf(MetricUnit unit, double largest) => unit switch
    {
        MetricUnit.Microseconds => AxisScale.OfMicroseconds(largest),
        MetricUnit.Bytes => AxisScale.OfBytes(largest),
        _ => AxisScale.OfCount(largest),
    };

    private static AxisScale AxisOf(RunHistory history)
    {
        int step = 1 + ((history.Points.Count - 1) / MostTicks);
        Tick[] ticks = [.. history.Points.Index().Where(one => one.Index % step == 0)
            .Select(one => new Tick(one.Index + 1, one.Item.First.Run.Id))];
        return new AxisScale(history.Points.Count + 0.5, ticks) { Min = 0.5, Label = Words.Of("run") };
    }

    private static string SubtitleOf(RunHistory history)
    {
        string runs = Words.Counted(history.Points.Count, "run");
        return history.Points.Count == 1 ? $"{runs} · {ChartText.DeploymentText(history.Points[0].First)}"
            : Words.Of($"{runs}, {DateOf(history.Points[0])} to {DateOf(history.Points[^1])}") + " · "
                + ChartText.DeploymentText(history.Points[^1].First);
    }

    private static string DateOf(HistoryPoint point) => $"{point.First.Run.StartedAt:yyyy-MM-dd}";

    /// <summary>Marks the first run on each version of server and driver; none where versions took turns.</summary>
    private static List<Mark> VersionsOf(RunHistory history)
    {
        List<Mark> marks = [];
        for (int i = 1; i < history.Points.Count; i++)
        {
            foreach (string version in HistoryVersions.NewIn(history.Points[i].First, history.Points[i - 1].First))
                marks.Add(new Mark(i + 0.5, version));
        }

        return marks.Count <= MostMarks ? marks : [];
    }
}
