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
        TimeAxis axis = seconds.Axis;
        if (axis.IsEmpty || seconds.Lines.Count == 0)
            return null;

        int[] lines = [.. Places(seconds, static line => line.IsInsert), .. Places(seconds, static line => !line.IsInsert)];
        int[] timed = [.. Places(seconds, static line => line is { IsOfGrowth: false, IsTotal: false })];
        ChartTable rates = OverTime.Rates(seconds, "timeline-rates.dat", lines, axis.At, axis.Seconds);
        ChartTable latencies = OverTime.Latencies(seconds, "timeline-latency.dat", timed, axis.At, axis.Seconds);
        var server = ServerTimeline.Read("timeline-server.dat", ServerTimeline.ServerLines, run.ReadServerSamples, axis, MostRows);
        var host = ServerTimeline.Read("timeline-host.dat", ServerTimeline.HostLines, run.ReadHostSamples, axis, MostRows);
        var panels = new TimelinePanels(run, seconds.Lines, (rates, lines), (latencies, timed), server, host).Build();

        GnuplotSettings settings = OverTime.Head(run, axis, "timeline", Title);
        TimelinePanels.Set(settings, panels);
        return new Chart(
            "timeline", Title,
            Words.Of("All panels share one time axis: look straight down from a dip in a rate to see what server, disk and CPU did at that moment.") + OverTime.DocumentTicsHint(run) + LeftOut(seconds.Lines),
            settings, [rates, .. timed.Length == 0 ? Enumerable.Empty<ChartTable>() : [latencies], server, host]) { SharedTemplate = OverTime.Template };
    }

    /// <summary>Of the lines that are wanted, as many as can be told apart; totals are never left out.</summary>
    private static IEnumerable<int> Places(OperationSeconds seconds, Func<OperationLine, bool> isWanted) => Enumerable.Range(0, seconds.Lines.Count)
        .Where(i => isWanted(seconds.Lines[i])).OrderBy(i => seconds.Lines[i].IsTotal ? 0 : 1).Take(TimelinePanels.MostLines).Order();

    private static string LeftOut(IReadOnlyList<OperationLine> lines)
    {
        int most = lines.GroupBy(static line => line.IsInsert).Max(static panel => panel.Count());
        return most <= TimelinePanels.MostLines ? "" : " " + Words.Of($"A panel holds {TimelinePanels.MostLines} lines: the first are drawn; the interactive charts and the tables have the others.");
    }
}
