using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Rates over time with the server's state below on the same axis.</summary>
internal static class TimelineChart
{
    /// <summary>Rows of a data file, however long the run.</summary>
    public const int MostRows = 1900;

    public static Chart? Build(StoredRun run)
    {
        var axis = new TimeAxis(run.ReadSamples().Select(static sample => sample.AtMilliseconds)
            .Concat(run.ReadHostSamples().Select(static sample => sample.AtMilliseconds)));
        var tests = TestOrder.Names.Where(run.Steps.SelectMany(static step => step.Tests).Select(static result => result.Test)
            .Concat(run.ReadSamples().Select(static sample => sample.Test)).ToHashSet().Contains).ToList();
        if (axis.IsEmpty || tests.Count == 0)
            return null;

        var rates = OverTime.Rates(run, "timeline-rates.dat", tests, axis.At, axis.Seconds);
        var server = ServerTimeline.Read("timeline-server.dat", ServerTimeline.ServerLines, run.ReadServerSamples, axis, MostRows);
        var host = ServerTimeline.Read("timeline-host.dat", ServerTimeline.HostLines, run.ReadHostSamples, axis, MostRows);
        var panels = new TimelinePanels(run, rates, server, host).Build();

        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "timeline")
            .Set("title", "Rates over time, and the state of server and client")
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", $"time since the start ({unit}{(axis.Pauses.Any() ? "; pauses are cut out" : "")})")
            .Set("panel_pixels", OverTime.PanelPixels)
            .Set("documents_tics", OverTime.DocumentTics(run, axis.At, axis.Seconds))
            .SetMarks(OverTime.Marks(run, axis))
            .SetBands(MigrationBands.Of(run, axis.At, axis.Seconds));
        TimelinePanels.Set(settings, panels);
        return new Chart(
            "timeline", "Rates over time, and the state of server and client",
            "All panels share one time axis: look straight down from a dip in a rate to see what server, disk and processors did at that moment. "
            + "The numbers on top are documents in the collection at the end of each step.",
            settings, [rates, server, host]);
    }
}
