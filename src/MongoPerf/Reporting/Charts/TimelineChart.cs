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
        var tests = run.Scenario is not null ? Operations(run) : TestOrder.Names.Where(run.Steps.SelectMany(static step => step.Tests).Select(static result => result.Test)
            .Concat(run.ReadSamples().Select(static sample => sample.Test)).ToHashSet().Contains).ToList();
        if (axis.IsEmpty || tests.Count == 0)
            return null;

        var rates = OverTime.Rates(run, "timeline-rates.dat", tests, axis.At, axis.Seconds);
        var server = ServerTimeline.Read("timeline-server.dat", ServerTimeline.ServerLines, run.ReadServerSamples, axis, MostRows);
        var host = ServerTimeline.Read("timeline-host.dat", ServerTimeline.HostLines, run.ReadHostSamples, axis, MostRows);
        var latencies = Latencies(run, axis, tests);
        var panels = new TimelinePanels(run, rates, latencies, server, host).Build();

        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "timeline")
            .Set("title", "Rates over time, and the state of server and client")
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", $"time since the start ({unit}{(axis.Pauses.Any() ? "; pauses are cut out" : "")})")
            .Set("panel_pixels", OverTime.PanelPixels)
            .Set("documents_tics", run.Scenario is null ? OverTime.DocumentTics(run, axis.At, axis.Seconds) : "")
            .SetMarks(OverTime.Marks(run, axis))
            .SetBands(MigrationBands.Of(run, axis.At, axis.Seconds));
        TimelinePanels.Set(settings, panels);
        return new Chart(
            "timeline", "Rates over time, and the state of server and client",
            "All panels share one time axis: look straight down from a dip in a rate to see what server, disk and processors did at that moment. "
            + "The numbers on top are documents in the collection at the end of each step.",
            settings, [rates, .. run.Scenario is null ? Enumerable.Empty<ChartTable>() : [latencies], server, host]);
    }

    /// <summary>The operations of a scenario, as many as can be told apart.</summary>
    private static List<string> Operations(StoredRun run) => [.. run.ReadSamples().Select(static sample => sample.Test).Distinct().Take(TimelinePanels.MostOperations)];

    /// <summary>The 99th percentile of each second; of the series the charts over documents show latencies.</summary>
    private static ChartTable Latencies(StoredRun run, TimeAxis axis, List<string> tests)
    {
        var table = new ChartTable("timeline-latency.dat", ["seconds", .. tests]);
        if (run.Scenario is null)
            return table;
        var buckets = new TimeBuckets(tests.Count, axis.Seconds, MostRows / 2);
        foreach (var sample in run.ReadSamples())
        {
            int column = tests.IndexOf(sample.Test);
            if (column >= 0 && sample.LatencyMicroseconds.P99 is { } p99)
                buckets.Add(axis.At(sample.AtMilliseconds), column, p99 / 1000, 1);
        }

        foreach (double[] row in buckets.Rows())
            table.Add(row);
        return table;
    }
}
