using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Draws percentiles against documents, in a panel for each operation and number of threads.</summary>
internal static class LatencyChart
{
    /// <summary>A line by its name, and what it shows.</summary>
    private sealed record Shown(string Key, LatencyMetric Metric)
    {
        public string Title => Key switch
        {
            "p50" => Words.Of("p50 (half are faster)"),
            "p999" => Words.Of("p99.9 (one in 1,000 is slower)"),
            PlotLanguage.Service => Words.Of("p99 of service time"),
            _ => Key,
        };
    }

    public static Chart? Build(PlotInfo plot, GrowthFrame frame)
    {
        GrowthFigures growth = frame.Growth;
        List<GrowthLine> panels =
        [
            .. growth.Inserts.Concat(growth.Queries)
                .Where(static line => line.Results.Values.Any(static result => result.ReportedMicroseconds.P50 is not null))
                .OrderBy(line => line.IsInsert ? 0 : 1)
                .ThenBy(line => growth.Labels.ToList().IndexOf(line.Label)).ThenBy(static line => line.Threads),
        ];
        if (panels.Count == 0)
            return null;

        bool hasRate = panels.Any(HasRate);
        // The table has the usual ones in any case.
        IReadOnlyList<string> wanted = plot.Panels[0].Lines;
        Shown[] series =
        [
            .. PlotLanguage.UsualPercentiles.Concat(wanted.Where(static key => key != PlotLanguage.Service)).Distinct()
                .Select(static key => new Shown(key, LatencyMetric.Find(key)!)),
            .. hasRate ? [new Shown(PlotLanguage.Service, LatencyMetric.Find("serviceP99")!)] : Array.Empty<Shown>(),
        ];
        (int Index, Shown Item)[] shown = [.. series.Index().Where(one => wanted.Count == 0 || wanted.Contains(one.Item.Key))];
        if (shown.Length == 0)
            return null;
        string name = plot.Name + frame.Suffix;
        var table = new ChartTable(
            name + ".csv", ["documents", .. panels.SelectMany(line => series.Select(one => $"{PanelTitle(line)} {one.Key}"))]);
        for (int step = 0; step < growth.Steps.Count; step++)
        {
            if (growth.Lines.Any(line => line.Results.ContainsKey(step)))
                table.Add(
                [
                    growth.Steps[step].Documents,
                    .. panels.SelectMany(line => ValuesOf(frame.Run, line.Results.GetValueOrDefault(step), series)),
                ]);
        }

        int columns = panels.Count switch { 1 => 1, 2 or 4 => 2, 3 or 5 or 6 => 3, _ => 4 };
        double documents = growth.LargestDocuments;
        AxisScale time = AxisScale.OfLatency(Least(table), table.Largest());
        return new Chart(
            name, plot.TitleWith(("growth", frame.Clause)), plot.Reading,
            new AxisScale(documents * 1.02,
                AxisScale.OfCount(documents, columns > 2 ? 4 : 6).Ticks) { Label = Words.Of("documents in the collection") },
            [.. panels.Select((line, i) => new Panel(PanelTitle(line), time, [.. shown.Select(one => new Series(
                table, 1 + (i * series.Length) + one.Index, one.Item.Title, one.Item.Key))]) { Color = frame.ColorOf(line) })])
        {
            Subtitle = ChartText.Subtitle(frame.Run), Columns = columns, HasLegendAbove = true,
            Marks = plot.HasMarks ? ChartText.Marks(frame.Crossings) : [],
        };
    }

    private static bool HasRate(GrowthLine line) => line.Results.Values.Any(static result => result.HasRate);

    /// <summary>The percentiles of response times where a rate was set, and then also how much of that is service time.</summary>
    private static IEnumerable<double> ValuesOf(StoredRun run, OperationResult? result, Shown[] series) => series.Select(
        one => Drawn(result is null || (one.Key == PlotLanguage.Service && !result.HasRate) ? null : run.ValueOf(one.Metric, result)));

    /// <summary>Lifts 0, for which a logarithmic axis has no place and which histograms do not know either.</summary>
    private static double Drawn(double? microseconds) => microseconds is { } value ? Math.Max(value, 0.1) : double.NaN;

    private static double Least(ChartTable table) =>
        table.Rows.SelectMany(static row => row.Skip(1)).Where(double.IsFinite).DefaultIfEmpty(1).Min();

    private static string PanelTitle(GrowthLine line)
    {
        string parameters = line.Parameters.Length > 0 ? $", {line.Parameters}" : "";
        string how = line.IsUnacknowledged ? Words.Of(" (time to send)")
            : line.Batch > 1 ? Words.Of($" ({Units.Exact(line.Batch)} per command)") : $", {Words.Counted(line.Threads, "thread")}";
        return $"{line.Label}{parameters}{how}{(HasRate(line) ? Words.Of(", response time") : "")}";
    }
}
