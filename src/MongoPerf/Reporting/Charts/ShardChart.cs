using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>What each shard holds and does over time, with the migrations shaded.</summary>
internal static class ShardChart
{
    public const string Name = "shards";

    private const string Title = "Shards over time";
    private const int Ticks = 4;

    /// <summary>Null unless several shards were looked at.</summary>
    /// <param name="run">Finished or not.</param>
    /// <param name="name">Of its files, where charts of several runs lie in one folder.</param>
    public static Chart? Build(StoredRun run, string name = Name)
    {
        var axis = new TimeAxis(run.ReadSamples().Select(static sample => sample.AtMilliseconds)
            .Concat(run.ReadShardSamples().Select(static sample => sample.AtMilliseconds)));
        var table = ShardTimeline.Read(run, axis, name + ".dat");
        if (table is null)
            return null;

        List<string> tests = [.. ChartText.InsertTests.Where(run.ReadSamples().Select(static sample => sample.Test).ToHashSet().Contains)];
        var rates = OverTime.Rates(run, name + "-inserts.dat", tests, axis.At, axis.Seconds);
        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", name)
            .Set("title", Title)
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", $"time since the start ({unit}{(axis.Pauses.Any() ? "; pauses are cut out" : "")})")
            .Set("panel_pixels", OverTime.PanelPixels)
            .Set("documents_tics", OverTime.DocumentTics(run, axis.At, axis.Seconds))
            .SetMarks(OverTime.Marks(run, axis))
            .SetBands(MigrationBands.Of(run, axis.At, axis.Seconds));
        TimelinePanels.Set(settings, [.. Panels(table, rates, tests)]);
        return new Chart(
            name, Title,
            "Lines that run together are shards that are filled evenly. Shaded is the time in which a chunk was on its way from one shard to another; "
            + "orphans are documents that have moved away and are not deleted yet. The numbers on top are documents in the collection at the end of each step.",
            settings, [rates, table.Data]);
    }

    private static IEnumerable<TimelinePanels.Panel> Panels(ShardTimeline shards, ChartTable rates, List<string> tests)
    {
        if (rates.Rows.Count > 0)
        {
            yield return new TimelinePanels.Panel(
                "documents/s", AxisScale.OfCount(rates.Largest(), Ticks),
                [.. tests.Select((test, i) => new TimelinePanels.PanelLine(rates.FileName, i + 2, test, test, rates.Largest(i + 1, 1)))], rates.Rows.Count, true);
        }

        for (int i = 0; i < ShardTimeline.Figures.Count; i++)
        {
            var lines = shards.LinesOf(i);
            double largest = lines.Max(static line => line.Largest);
            if (largest > 0 || ShardTimeline.Figures[i].IsAlwaysShown)
                yield return new TimelinePanels.Panel(ShardTimeline.Figures[i].Title, ScaleOf(ShardTimeline.Figures[i], largest), lines, shards.Data.Rows.Count, false);
        }
    }

    /// <summary>A share can't be more than all.</summary>
    private static AxisScale ScaleOf(ShardTimeline.Figure figure, double largest) =>
        figure.Metric is null ? new AxisScale(100, "(\"0\" 0, \"25\" 25, \"50\" 50, \"75\" 75, \"100\" 100)") : AxisScale.OfCount(largest, Ticks);
}
