using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>What charts over time have in common.</summary>
internal static class OverTime
{
    /// <summary>Rows of a data file, however long the run.</summary>
    public const int MostRows = 1900;

    /// <summary>Of operations in a panel; as many as fit beside it.</summary>
    public const int MostLines = 7;

    /// <summary>A chart of the whole run, with marks and bands for what happened.</summary>
    /// <param name="run">Whose chart it is.</param>
    /// <param name="axis">Of time.</param>
    /// <param name="name">Of the chart's files.</param>
    /// <param name="title">Of the picture.</param>
    /// <param name="howToRead">A sentence for the report.</param>
    /// <param name="panels">One at least.</param>
    public static Chart Chart(StoredRun run, TimeAxis axis, string name, string title, string howToRead, IReadOnlyList<Panel> panels)
    {
        (AxisScale time, string unit) = AxisScale.OfTime(axis.Seconds);
        time = time with { Label = Words.Of($"time since the start ({unit}{(axis.Pauses.Any() ? Words.Of("; pauses are cut out") : "")})") };
        return new Chart(name, title, howToRead + DocumentsHint(run), time, panels)
        {
            Subtitle = ChartText.Subtitle(run),
            Top = Documents(run, axis.At, axis.Seconds),
            Marks = [.. Happenings.Marks(run, axis)],
            Bands = Happenings.Bands(run, axis),
        };
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
        var buckets = new TimeBuckets(lines.Count, length, MostRows / 2);
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

    /// <summary>Along the top: the collection's size at the end of each step, as many as there is room for; null where nothing grew.</summary>
    public static AxisScale? Documents(StoredRun run, Func<long, double> at, double seconds)
    {
        double nearest = seconds / 14;
        var ticks = new List<Tick>();
        foreach (var checkpoint in run.Checkpoints.Where(static checkpoint => checkpoint.Documents > 0))
        {
            double place = at(checkpoint.AtMilliseconds);
            if (ticks.Count == 0 || place - ticks[^1].At >= nearest)
                ticks.Add(new Tick(place, AxisScale.AboutText(checkpoint.Documents, 3)));
        }

        return ticks.Count == 0 ? null : new AxisScale(seconds, ticks) { Label = Words.Of("documents") };
    }

    /// <summary>For the reader of a chart with <see cref="Documents"/>; empty for one that has none.</summary>
    public static string DocumentsHint(StoredRun run) =>
        run.Checkpoints.Any(static checkpoint => checkpoint.Documents > 0) ? Words.Of(" The numbers along the top are documents in the collection at the end of each step.") : "";
}
