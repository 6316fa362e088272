using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>What charts over time have in common.</summary>
internal static class OverTime
{
    /// <summary>Panels above each other.</summary>
    public const string Template = "figure.gp";

    /// <summary>Height of a panel among several.</summary>
    public const int PanelPixels = 205;

    private const double PlotShare = 0.755;
    private const int MostEventLines = 60;

    /// <summary>Everything but the panels, for a chart of the whole run.</summary>
    /// <param name="run">Its events, migrations and other programs are marked.</param>
    /// <param name="axis">Of time.</param>
    /// <param name="name">Of the chart's files.</param>
    /// <param name="title">Of the picture.</param>
    public static GnuplotSettings Head(StoredRun run, TimeAxis axis, string name, string title)
    {
        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        return GnuplotSettings.Of(name, title, ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", Words.Of($"time since the start ({unit}{(axis.Pauses.Any() ? Words.Of("; pauses are cut out") : "")})"))
            .Set("panel_pixels", PanelPixels)
            .Set("documents_tics", DocumentTics(run, axis.At, axis.Seconds))
            .SetMarks(Marks(run, axis))
            .SetBands([.. MigrationBands.Of(run, axis.At, axis.Seconds), .. OtherLoadBands.Of(run, axis)]);
    }

    /// <summary>A column for each of these lines: documents per second of inserts, operations per second of anything else.</summary>
    /// <param name="seconds">Of the run.</param>
    /// <param name="file">Name of the data file.</param>
    /// <param name="lines">Places in <see cref="OperationSeconds.Lines"/>; the others are left out.</param>
    /// <param name="at">Unix milliseconds to seconds on the axis.</param>
    /// <param name="length">Seconds of the axis.</param>
    public static ChartTable Rates(OperationSeconds seconds, string file, IReadOnlyList<int> lines, Func<long, double> at, double length) =>
        Bucketed(seconds.Counted, seconds.Lines, file, lines, length, (buckets, column, second) => buckets.Add(at(second.AtMilliseconds), column, second.Count, second.Seconds));

    /// <summary>The 99th percentile of each second in milliseconds, a column for each of these lines.</summary>
    /// <inheritdoc cref="Rates"/>
    public static ChartTable Latencies(OperationSeconds seconds, string file, IReadOnlyList<int> lines, Func<long, double> at, double length) =>
        Bucketed(seconds.All, seconds.Lines, file, lines, length, (buckets, column, second) => buckets.Add(at(second.AtMilliseconds), column, second.P99 / 1000, 1));

    private static ChartTable Bucketed(
        IEnumerable<OperationSecond> seconds, IReadOnlyList<OperationLine> all, string file, IReadOnlyList<int> lines, double length, Action<TimeBuckets, int, OperationSecond> add)
    {
        var table = new ChartTable(file, ["seconds", .. lines.Select(line => all[line].Title)]);
        var buckets = new TimeBuckets(lines.Count, length, TimelineChart.MostRows / 2);
        int[] columns = [.. Enumerable.Range(0, all.Count).Select(line => lines.ToList().IndexOf(line))];
        foreach (OperationSecond second in seconds)
        {
            if (columns[second.Line] >= 0)
                add(buckets, columns[second.Line], second);
        }

        foreach (double[] row in buckets.Rows())
            table.Add(row);
        return table;
    }

    /// <summary>Ticks on the top: the collection's size at the end of each step, as many as there is room for.</summary>
    public static string DocumentTics(StoredRun run, Func<long, double> at, double seconds)
    {
        double nearest = seconds / 14;
        double last = double.NegativeInfinity;
        var tics = new List<string>();
        foreach (var checkpoint in run.Checkpoints.Where(static checkpoint => checkpoint.Documents > 0))
        {
            double place = at(checkpoint.AtMilliseconds);
            if (place - last < nearest)
                continue;
            last = place;
            tics.Add($"{GnuplotSettings.Quote(AxisScale.AboutText(checkpoint.Documents, 3))} {AxisScale.Number(place)}");
        }

        return tics.Count == 0 ? "" : $"({string.Join(", ", tics)})";
    }

    /// <summary>For the reader of a chart with <see cref="DocumentTics"/>; empty for one that has none.</summary>
    public static string DocumentTicsHint(StoredRun run) =>
        run.Checkpoints.Any(static checkpoint => checkpoint.Documents > 0) ? Words.Of(" The numbers along the top are documents in the collection at the end of each step.") : "";

    /// <summary>Events and pauses; those that would lie on one another are counted together.</summary>
    public static IReadOnlyList<PlacedMark> Marks(StoredRun run, TimeAxis axis)
    {
        double nearest = axis.Seconds / MostEventLines;
        var merged = new List<(double At, string Kind, int Count)>();
        var happened = run.Events.Select(one => (At: axis.At(one.AtMilliseconds), Kind: one.Kind == RunEvent.Phase ? one.Text : one.Kind))
            .Concat(axis.Pauses.Select(static pause => (pause.At, Kind: Words.Of($"pause of {PauseText(pause.Pause)}"))));
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
        _ => Words.Of($"{Math.Max(1, pause.TotalMinutes):0} min"),
    };
}
