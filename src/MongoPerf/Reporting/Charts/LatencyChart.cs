using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Percentiles against documents, a panel for each operation and number of threads.</summary>
internal static class LatencyChart
{
    public const string Template = "by-latency.gp";

    private static readonly (string Key, string Title, Func<LatencySummary, double?> Of)[] Percentiles =
    [
        ("p50", "p50 (half are faster)", static latency => latency.P50),
        ("p95", "p95", static latency => latency.P95),
        ("p99", "p99", static latency => latency.P99),
        ("p999", "p99.9 (one in 1,000 is slower)", static latency => latency.P999),
    ];

    private static readonly (string Key, string Title, Func<LatencySummary, double?> Of) Service = ("service", "p99 of service time", static latency => latency.P99);

    public static Chart? Build(GrowthFrame frame)
    {
        GrowthFigures growth = frame.Growth;
        List<GrowthLine> panels =
        [
            .. growth.Inserts.Concat(growth.Queries).Where(static line => line.Results.Values.Any(static result => result.JudgedMicroseconds.P50 is not null))
                .OrderBy(line => line.IsInsert ? 0 : 1).ThenBy(line => growth.Labels.ToList().IndexOf(line.Label)).ThenBy(static line => line.Threads),
        ];
        if (panels.Count == 0)
            return null;

        bool hasRate = panels.Any(HasRate);
        (string Key, string Title, Func<LatencySummary, double?> Of)[] series = hasRate ? [.. Percentiles, Service] : Percentiles;
        string name = "latency" + frame.Suffix;
        var table = new ChartTable(name + ".dat", ["documents", .. panels.SelectMany(line => series.Select(one => $"{PanelTitle(line)} {one.Key}"))]);
        for (int step = 0; step < growth.Steps.Count; step++)
        {
            if (growth.Lines.Any(line => line.Results.ContainsKey(step)))
                table.Add([growth.Steps[step].Documents, .. panels.SelectMany(line => ValuesOf(line.Results.GetValueOrDefault(step), hasRate))]);
        }

        string title = Words.Of($"Latency {frame.Clause}");
        return new Chart(
            name, title,
            Words.Of("Each line up on the left axis is ten times as slow. Where the percentiles of an operation spread apart, some of its executions wait far longer than most."),
            Settings(frame, name, title, panels, series, table), [table]) { SharedTemplate = Template };
    }

    private static GnuplotSettings Settings(GrowthFrame frame, string name, string title, List<GrowthLine> panels, (string Key, string Title, Func<LatencySummary, double?> Of)[] series, ChartTable table)
    {
        int columns = panels.Count switch { 1 => 1, 2 or 4 => 2, 3 or 5 or 6 => 3, _ => 4 };
        int rows = (panels.Count + columns - 1) / columns;
        double documents = frame.Growth.LargestDocuments;
        var x = new AxisScale(documents * 1.02, AxisScale.OfCount(documents, columns > 2 ? 4 : 6).Tics);
        (double yMin, var y) = AxisScale.OfLatency(Least(table), table.Largest());
        return GnuplotSettings.Of(name, title, ChartText.Subtitle(frame.Run), table.FileName)
            .Set("note", string.Join(" · ", frame.Crossings.Select(ChartText.CrossingText)))
            .Set("picture_height", rows == 1 ? 800 : 180 + (rows * 430))
            .Set("panel_columns", columns)
            .Set("panel_rows", rows)
            .Set("panel_count", panels.Count)
            .SetArray("panel_title", panels.ConvertAll(PanelTitle))
            .SetArray("panel_color", panels.ConvertAll(frame.ColorOf))
            .SetArray("series_title", series.Select(static one => Words.Of(one.Title)).ToList())
            .SetArray("series_color", series.Select(static one => one.Key).ToList())
            .Set("series_count", series.Length)
            .SetAxis("x", x)
            .Set("y_min", yMin)
            .SetAxis("y", y)
            .Set("point_size", table.Rows.Count > 40 ? 0.4 : 0.9)
            .SetMarks([.. frame.Crossings.Select(static crossing => new PlacedMark(crossing.Documents, "", 0, false))]);
    }

    private static bool HasRate(GrowthLine line) => line.Results.Values.Any(static result => result.HasRate);

    /// <summary>Response times where a rate was set, and then also how much of that is service time.</summary>
    private static IEnumerable<double> ValuesOf(OperationResult? result, bool withService)
    {
        foreach (var one in Percentiles)
            yield return Drawn(result is null ? null : one.Of(result.JudgedMicroseconds));
        if (withService)
            yield return Drawn(result is { HasRate: true } ? Service.Of(result.LatencyMicroseconds) : null);
    }

    /// <summary>A logarithmic axis has no place for 0, which histograms do not know either.</summary>
    private static double Drawn(double? microseconds) => microseconds is { } value ? Math.Max(value, 0.1) : double.NaN;

    private static double Least(ChartTable table) =>
        table.Rows.SelectMany(static row => row.Skip(1)).Where(double.IsFinite).DefaultIfEmpty(1).Min();

    private static string PanelTitle(GrowthLine line)
    {
        string parameters = line.Parameters.Length > 0 ? $", {line.Parameters}" : "";
        string how = line.IsUnacknowledged ? Words.Of(" (time to send)") : line.Batch > 1 ? Words.Of($" ({Units.Exact(line.Batch)} per command)") : $", {Words.Counted(line.Threads, "thread")}";
        return $"{line.Label}{parameters}{how}{(HasRate(line) ? Words.Of(", response time") : "")}";
    }
}
