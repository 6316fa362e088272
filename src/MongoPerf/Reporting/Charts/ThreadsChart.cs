using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Experiments;

namespace MongoPerf.Reporting.Charts;

/// <summary>Rate and latency against the number of threads, at one size.</summary>
internal static class ThreadsChart
{
    private const int Ticks = 4;

    /// <summary>Names of colours in common.gp, far apart from each other.</summary>
    private static readonly string[] Colours = ["batch", "q4", "safe", "q6", "unack", "q5", "q7"];

    private static readonly (string Title, Func<LatencySummary, double?> Of)[] Latencies = [("p50", l => l.P50), ("p99", l => l.P99)];

    /// <summary>Null unless a test was run by several numbers of threads, at one size.</summary>
    public static Chart? Build(StoredRun run)
    {
        if (ThreadFigures.Of(run) is not { } figures)
            return null;
        var table = new ChartTable("threads.dat", ["place", .. figures.Tests.SelectMany(test => (string[])[$"{test} rate", $"{test} p50", $"{test} p99"])]);
        for (int i = 0; i < figures.Threads.Count; i++)
            table.Add([i + 0.5, .. figures.Tests.SelectMany(test => Values(figures, figures.Find(test, figures.Threads[i])))]);

        string title = figures.AreInserts ? "Inserts by number of threads" : "Queries by number of threads";
        GnuplotSettings settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "threads")
            .Set("title", title)
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", AxisScale.OfPlaces([.. figures.Threads.Select(t => $"{t}")]))
            .Set("x_label", "threads")
            .Set("documents_tics", "")
            .Set("panel_pixels", OverTime.PanelPixels)
            .SetMarks([])
            .SetBands([]);
        TimelinePanels.Set(settings, [.. Panels(figures, table)]);
        return new Chart(
            "threads", title,
            "From left to right more threads work at once. Where the rate no longer rises while latency does, threads only wait for one another.", settings, [table]);
    }

    private static IEnumerable<double> Values(ThreadFigures figures, TestResult? result) => result is null
        ? [double.NaN, double.NaN, double.NaN]
        : [figures.RateOf(result), .. Latencies.Select(l => l.Of(result.LatencyMicroseconds) ?? double.NaN)];

    private static IEnumerable<TimelinePanels.Panel> Panels(ThreadFigures figures, ChartTable table)
    {
        yield return Panel(figures.AreInserts ? "documents/s" : "operations/s", 0, AxisScale.OfCount);
        for (int i = 0; i < Latencies.Length; i++)
            yield return Panel(Latencies[i].Title, i + 1, AxisScale.OfMicroseconds);

        TimelinePanels.Panel Panel(string title, int place, Func<double, int, AxisScale> scale)
        {
            List<TimelinePanels.PanelLine> lines = [.. figures.Tests.Select((test, i) =>
            {
                int column = 1 + (i * (1 + Latencies.Length)) + place;
                return new TimelinePanels.PanelLine(table.FileName, column + 1, Colours[i % Colours.Length], test, table.Largest(column, 1));
            })];
            return new TimelinePanels.Panel(title, scale(lines.Max(l => l.Largest), Ticks), lines, table.Rows.Count, IsRate: true);
        }
    }
}
