using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Draws percentiles against documents, in a panel for each operation and number of threads.</summary>
internal static class LatencyChart
{
    private static readonly (string Key, string Title, Func<LatencySummary, double?> Of)[] Percentiles =
    [
        ("p50", "p50 (half are faster)", static latency => latency.P50),
        ("p95", "p95", static latency => latency.P95),
        ("p99", "p99", static latency => latency.P99),
        ("p999", "p99.9 (one in 1,000 is slower)", static latency => latency.P999),
    ];

    private static readonly (string Key, string Title, Func<LatencySummary, double?> Of) Service =
        ("service", "p99 of service time", static latency => latency.P99);

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
        (string Key, string Title, Func<LatencySummary, double?> Of)[] series = hasRate ? [.. Percentiles, Service] : Percentiles;
        IReadOnlyList<string> wanted = plot.Panels[0].Lines;
        (int Index, (string Key, string Title, Func<LatencySummary, double?> Of) Item)[] shown =
            [.. series.Index().Where(one => wanted.Count == 0 || wanted.Contains(one.Item.Key))];
        if (shown.Length == 0)
            return null;
        string name = plot.Name + frame.Suffix;
        var table = new ChartTable(
            name + ".csv", ["documents", .. panels.SelectMany(line => series.Select(one => $"{PanelTitle(line)} {one.Key}"))]);
        for (int step = 0; step < growth.Steps.Count; step++)
        {
            if (growth.Lines.Any(line => line.Results.ContainsKey(step)))
                table.Add(
                    [growth.Steps[step].Documents, .. panels.SelectMany(line => ValuesOf(line.Results.GetValueOrDefault(step), hasRate))]);
        }

        int columns = panels.Count switch { 1 => 1, 2 or 4 => 2, 3 or 5 or 6 => 3, _ => 4 };
        double documents = growth.LargestDocuments;
        AxisScale time = AxisScale.OfLatency(Least(table), table.Largest());
        return new Chart(
            name, plot.TitleWith(("growth", frame.Clause)), plot.Reading,
            new AxisScale(documents * 1.02,
                AxisScale.OfCount(documents, columns > 2 ? 4 : 6).Ticks) { Label = Words.Of("documents in the collection") },
            [.. panels.Select((line, i) => new Panel(PanelTitle(line), time, [.. shown.Select(one => new Series(
                table, 1 + (i * series.Length) + one.Index, Words.Of(one.Item.Title), one.Item.Key))]) { Color = frame.ColorOf(line) })])
        {
            Subtitle = ChartText.Subtitle(frame.Run), Columns = columns, HasLegendAbove = true,
            Marks = plot.HasMarks ? ChartText.Marks(frame.Crossings) : [],
        };
    }

    private static bool HasRate(GrowthLine line) => line.Results.Values.Any(static result => result.HasRate);

    /// <summary>The percentiles of response times where a rate was set, and then also how much of that is service time.</summary>
    private static IEnumerable<double> ValuesOf(OperationResult? result, bool withService)
    {
        foreach (var one in Percentiles)
            yield return Drawn(result is null ? null : one.Of(result.ReportedMicroseconds));
        if (withService)
            yield return Drawn(result is { HasRate: true } ? Service.Of(result.LatencyMicroseconds) : null);
    }

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
