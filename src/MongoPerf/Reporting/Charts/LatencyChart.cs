using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Percentiles against documents, a panel for each test and thread count.</summary>
internal static class LatencyChart
{
    private static readonly (string Key, string Title, Func<LatencySummary, double?> Of)[] Percentiles =
    [
        ("p50", "p50 (half are faster)", static latency => latency.P50),
        ("p95", "p95", static latency => latency.P95),
        ("p99", "p99", static latency => latency.P99),
        ("p999", "p99.9 (one in 1,000 is slower)", static latency => latency.P999),
    ];

    public static Chart? Build(StoredRun run)
    {
        var order = ChartText.InsertTests.Concat(ChartText.QueryTests).ToList();
        var panels = run.Steps.SelectMany(static step => step.Tests)
            .Where(static result => result.LatencyMicroseconds.P50 is not null)
            .Select(static result => (result.Test, result.Threads))
            .Distinct()
            .Where(panel => order.Contains(panel.Test))
            .OrderBy(panel => order.IndexOf(panel.Test)).ThenBy(static panel => panel.Threads)
            .ToList();
        if (panels.Count == 0)
            return null;

        var table = new ChartTable(
            "latency.dat", ["documents", .. panels.SelectMany(static panel => Percentiles.Select(one => $"{panel.Test} {panel.Threads} {one.Key}"))]);
        foreach (var step in run.Steps.Where(static step => step.Tests.Count > 0))
            table.Add([step.Documents, .. panels.SelectMany(panel => ValuesOf(step, panel.Test, panel.Threads))]);

        int columns = panels.Count switch { 1 => 1, 2 or 4 => 2, 3 or 5 or 6 => 3, _ => 4 };
        int rows = (panels.Count + columns - 1) / columns;
        double documents = StepCharts.LargestDocuments(run);
        var x = new AxisScale(documents * 1.02, AxisScale.OfCount(documents, columns > 2 ? 4 : 6).Tics);
        (double yMin, var y) = AxisScale.OfLatency(Least(table), table.Largest());
        var crossings = CacheCrossing.Find(run.Steps, run.Deployment?.AllCacheBytes);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "latency")
            .Set("data", table.FileName)
            .Set("title", "Latency as the collection grows")
            .Set("subtitle", ChartText.Subtitle(run))
            .Set("note", string.Join(" · ", crossings.Select(ChartText.CrossingText)))
            .Set("picture_height", rows == 1 ? 800 : 180 + (rows * 430))
            .Set("panel_columns", columns)
            .Set("panel_rows", rows)
            .Set("panel_count", panels.Count)
            .SetArray("panel_title", panels.ConvertAll(panel => PanelTitle(run, panel.Test, panel.Threads)))
            .SetArray("panel_color", panels.ConvertAll(static panel => panel.Test))
            .SetArray("series_title", Percentiles.Select(static one => one.Title).ToList())
            .SetArray("series_color", Percentiles.Select(static one => one.Key).ToList())
            .Set("series_count", Percentiles.Length)
            .SetAxis("x", x)
            .Set("y_min", yMin)
            .SetAxis("y", y)
            .Set("point_size", table.Rows.Count > 40 ? 0.4 : 0.9)
            .SetMarks([.. crossings.Select(static crossing => new PlacedMark(crossing.Documents, "", 0, false))]);
        return new Chart(
            "latency", "Latency as the collection grows",
            "Each step up on the left axis is ten times as slow. Where the lines of one test draw apart, some of its operations wait far longer than most.",
            settings, [table]);
    }

    private static IEnumerable<double> ValuesOf(StepResult step, string test, int threads)
    {
        var latency = step.Tests.FirstOrDefault(result => result.Test == test && result.Threads == threads)?.LatencyMicroseconds;
        // A logarithmic axis has no place for 0; the clock's step is 1 µs anyway.
        return Percentiles.Select(one => latency is not null && one.Of(latency) is { } value ? Math.Max(value, 1) : double.NaN);
    }

    private static double Least(ChartTable table) =>
        table.Rows.SelectMany(static row => row.Skip(1)).Where(double.IsFinite).DefaultIfEmpty(1).Min();

    private static string PanelTitle(StoredRun run, string test, int threads) => test switch
    {
        "unack" => "unack (time to send)",
        "batch" => $"batch ({Units.Exact(run.Settings.BatchSize)} per command)",
        _ => $"{test}, {ChartText.ThreadsText(threads)}",
    };
}
