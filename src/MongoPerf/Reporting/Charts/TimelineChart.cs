using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Rates over time with the server's state below on the same axis.</summary>
internal static class TimelineChart
{
    /// <summary>Rows of a data file, however long the run.</summary>
    public const int MostRows = 1900;

    private static string Title => Words.Of("Rates over time, and the state of server and client");

    public static Chart? Build(StoredRun run, OperationSeconds seconds)
    {
        var axis = new TimeAxis(seconds.All.Select(static second => second.AtMilliseconds).Concat(run.ReadHostSamples().Select(static sample => sample.AtMilliseconds)));
        if (axis.IsEmpty || seconds.Lines.Count == 0)
            return null;

        int[] lines = [.. Places(seconds, static line => line.IsInsert), .. Places(seconds, static line => !line.IsInsert)];
        int[] timed = [.. Places(seconds, static line => !line.IsOfGrowth)];
        ChartTable rates = OverTime.Rates(seconds, "timeline-rates.dat", lines, axis.At, axis.Seconds);
        ChartTable latencies = OverTime.Latencies(seconds, "timeline-latency.dat", timed, axis.At, axis.Seconds);
        var server = ServerTimeline.Read("timeline-server.dat", ServerTimeline.ServerLines, run.ReadServerSamples, axis, MostRows);
        var host = ServerTimeline.Read("timeline-host.dat", ServerTimeline.HostLines, run.ReadHostSamples, axis, MostRows);
        var panels = new TimelinePanels(run, seconds.Lines, (rates, lines), (latencies, timed), server, host).Build();

        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "timeline")
            .Set("title", Title)
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", Words.Of($"time since the start ({unit}{(axis.Pauses.Any() ? Words.Of("; pauses are cut out") : "")})"))
            .Set("panel_pixels", OverTime.PanelPixels)
            .Set("documents_tics", OverTime.DocumentTics(run, axis.At, axis.Seconds))
            .SetMarks(OverTime.Marks(run, axis))
            .SetBands(MigrationBands.Of(run, axis.At, axis.Seconds));
        TimelinePanels.Set(settings, panels);
        return new Chart(
            "timeline", Title,
            Words.Of("All panels share one time axis: look straight down from a dip in a rate to see what server, disk and CPU did at that moment.") + OverTime.DocumentTicsHint(run),
            settings, [rates, .. timed.Length == 0 ? Enumerable.Empty<ChartTable>() : [latencies], server, host]) { SharedTemplate = OverTime.Template };
    }

    /// <summary>Of the lines that are wanted, as many as can be told apart.</summary>
    private static IEnumerable<int> Places(OperationSeconds seconds, Func<OperationLine, bool> isWanted) =>
        Enumerable.Range(0, seconds.Lines.Count).Where(i => isWanted(seconds.Lines[i])).Take(TimelinePanels.MostLines);
}
