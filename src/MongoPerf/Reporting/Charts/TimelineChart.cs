using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Rates over time with the server's state below on the same axis.</summary>
internal static class TimelineChart
{
    /// <summary>Rows of a data file, however long the run.</summary>
    public const int MostRows = 1900;
    private const double PlotShare = 0.755;
    private const int MostEventLines = 60;

    public static Chart? Build(StoredRun run)
    {
        var axis = new TimeAxis(run.ReadSamples().Select(static sample => sample.AtMilliseconds)
            .Concat(run.ReadHostSamples().Select(static sample => sample.AtMilliseconds)));
        var tests = run.Scenario is not null ? Operations(run) : TestOrder.Names.Where(run.Steps.SelectMany(static step => step.Tests).Select(static result => result.Test)
            .Concat(run.ReadSamples().Select(static sample => sample.Test)).ToHashSet().Contains).ToList();
        if (axis.IsEmpty || tests.Count == 0)
            return null;

        var rates = Rates(run, axis, tests);
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
            .Set("documents_tics", run.Scenario is null ? DocumentTics(run, axis) : "")
            .SetMarks(Marks(run, axis));
        TimelinePanels.Set(settings, panels);
        return new Chart(
            "timeline", "Rates over time, and the state of server and client",
            "All panels share one time axis: look straight down from a dip in a rate to see what server, disk and processors did at that moment. "
            + "The numbers on top are documents in the collection at the end of each step.",
            settings, [rates, .. run.Scenario is null ? Enumerable.Empty<ChartTable>() : [latencies], server, host]);
    }

    private static ChartTable Rates(StoredRun run, TimeAxis axis, List<string> tests)
    {
        var table = new ChartTable("timeline-rates.dat", ["seconds", .. tests]);
        var buckets = new TimeBuckets(tests.Count, axis.Seconds, MostRows / 2);
        foreach (var sample in run.ReadSamples())
        {
            int column = tests.IndexOf(sample.Test);
            long count = run.Scenario is null && ChartText.InsertTests.Contains(sample.Test) ? sample.Documents : sample.Operations;
            if (column >= 0)
                buckets.Add(axis.At(sample.AtMilliseconds), column, count, sample.Seconds);
        }

        foreach (double[] row in buckets.Rows())
            table.Add(row);
        return table;
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

    /// <summary>Ticks on the top: the collection's size at the end of each step, as many as there is room for.</summary>
    private static string DocumentTics(StoredRun run, TimeAxis axis)
    {
        double nearest = axis.Seconds / 14;
        double last = double.NegativeInfinity;
        var tics = new List<string>();
        foreach (var checkpoint in run.Checkpoints.Where(static checkpoint => checkpoint.Documents > 0))
        {
            double at = axis.At(checkpoint.AtMilliseconds);
            if (at - last < nearest)
                continue;
            last = at;
            tics.Add($"{GnuplotSettings.Quote(AxisScale.AboutText(checkpoint.Documents, 3))} {AxisScale.Number(at)}");
        }

        return tics.Count == 0 ? "" : $"({string.Join(", ", tics)})";
    }

    /// <summary>Events and pauses; those that would lie on one another are counted together.</summary>
    private static IReadOnlyList<PlacedMark> Marks(StoredRun run, TimeAxis axis)
    {
        double nearest = axis.Seconds / MostEventLines;
        var merged = new List<(double At, string Kind, int Count)>();
        var happened = run.Events.Select(one => (At: axis.At(one.AtMilliseconds), Kind: one.Kind == RunEvent.Phase ? one.Text : one.Kind))
            .Concat(axis.Pauses.Select(static pause => (pause.At, Kind: "pause of " + PauseText(pause.Pause))));
        foreach ((double at, string kind) in happened.OrderBy(static one => one.At))
        {
            int same = merged.FindLastIndex(one => one.Kind == kind && at - one.At < nearest);
            if (same >= 0)
                merged[same] = merged[same] with { Count = merged[same].Count + 1 };
            else
                merged.Add((at, kind, 1));
        }

        return PlacedMark.Place(
            merged.Select(static one => (one.At, one.Count == 1 ? one.Kind : $"{one.Kind} ×{one.Count}")), Math.Max(axis.Seconds, 1), PlotShare, 3);
    }

    private static string PauseText(TimeSpan pause) => pause switch
    {
        { TotalHours: >= 48 } => $"{pause.TotalDays:0} d",
        { TotalMinutes: >= 120 } => $"{pause.TotalHours:0} h",
        _ => $"{Math.Max(1, pause.TotalMinutes):0} min",
    };
}
