using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>What each shard holds and does over time, with the migrations shaded.</summary>
internal static class ShardChart
{
    public const string Name = "shards";

    private static string Title => Words.Of("Shards over time");
    private const int Ticks = 4;

    /// <summary>Null unless several shards were looked at.</summary>
    /// <param name="run">Finished or not.</param>
    /// <param name="name">Of its files, where charts of several runs lie in one folder.</param>
    public static Chart? Build(StoredRun run, string name = Name) => Build(run, OperationSeconds.Of(run), name);

    /// <inheritdoc cref="Build(StoredRun, string)"/>
    public static Chart? Build(StoredRun run, OperationSeconds seconds, string name = Name)
    {
        TimeAxis axis = seconds.Axis;
        var table = ShardTimeline.Read(run, axis, name + ".dat");
        if (table is null)
            return null;

        int[] inserts = [.. seconds.Inserts.Take(TimelinePanels.MostLines)];
        ChartTable rates = OverTime.Rates(seconds, name + "-inserts.dat", inserts, axis.At, axis.Seconds);
        TimelinePanels.PanelLine[] lines =
            [.. inserts.Select((insert, i) => new TimelinePanels.PanelLine(rates.FileName, i + 2, seconds.Lines[insert].Color, seconds.Lines[insert].Title, rates.Largest(i + 1, 1)))];
        GnuplotSettings settings = OverTime.Head(run, axis, name, Title);
        TimelinePanels.Set(settings, [.. Panels(table, rates, lines)]);
        return new Chart(
            name, Title,
            Words.Of("Lines that run together are shards that fill evenly. Shaded: a chunk is on its way from one shard to another. "
            + "Orphans are documents that have moved away and are not deleted yet.") + OverTime.DocumentTicsHint(run),
            settings, [rates, table.Data]) { SharedTemplate = OverTime.Template };
    }

    private static IEnumerable<TimelinePanels.Panel> Panels(ShardTimeline shards, ChartTable rates, TimelinePanels.PanelLine[] inserts)
    {
        if (rates.Rows.Count > 0)
            yield return new TimelinePanels.Panel(Words.Of("documents/s"), AxisScale.OfCount(rates.Largest(), Ticks), inserts, rates.Rows.Count, true);

        for (int i = 0; i < ShardTimeline.Figures.Count; i++)
        {
            var lines = shards.LinesOf(i);
            double largest = lines.Max(static line => line.Largest);
            if (largest > 0 || ShardTimeline.Figures[i].IsAlwaysShown)
                yield return new TimelinePanels.Panel(Words.Of(ShardTimeline.Figures[i].Title), ScaleOf(ShardTimeline.Figures[i], largest), lines, shards.Data.Rows.Count, false);
        }
    }

    /// <summary>A share can't be more than all.</summary>
    private static AxisScale ScaleOf(ShardTimeline.Figure figure, double largest) =>
        figure.Metric is null ? new AxisScale(100, "(\"0\" 0, \"25\" 25, \"50\" 50, \"75\" 75, \"100\" 100)") : AxisScale.OfCount(largest, Ticks);
}
