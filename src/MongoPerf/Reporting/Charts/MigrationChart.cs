using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>The insert rate second by second with the migrations shaded: averages over a whole step hide what they cost. A panel for each test, since their rates differ by orders.</summary>
internal static class MigrationChart
{
    private const string Title = "Insert rate second by second, and migrations of chunks";

    private const int PixelsOfAll = 780;

    /// <summary>Null unless shards were looked at while documents were inserted.</summary>
    public static Chart? Build(StoredRun run)
    {
        if (!run.ReadShardSamples().Any())
            return null;
        var axis = new InsertAxis(run.ReadSamples());
        List<string> tests = [.. ChartText.InsertTests.Where(run.ReadSamples().Select(static sample => sample.Test).ToHashSet().Contains)];
        if (tests.Count == 0)
            return null;

        var rates = OverTime.Rates(run, "migrations.dat", tests, axis.At, axis.Seconds);
        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "migrations")
            .Set("title", Title)
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", $"time spent inserting ({unit}; queries are cut out)")
            .Set("panel_pixels", PixelsOfAll / tests.Count)
            .Set("documents_tics", OverTime.DocumentTics(run, axis.At, axis.Seconds))
            .SetMarks([])
            .SetBands(MigrationBands.Of(run, axis.At, axis.Seconds));
        TimelinePanels.Set(settings, [.. tests.Select((test, i) => PanelOf(test, i + 1, rates))]);
        return new Chart(
            "migrations", Title,
            "Shaded is the time in which a chunk was on its way from one shard to another. Where the rate falls under a shade and rises behind it, "
            + "moving the chunks is what inserts paid for. The numbers on top are documents in the collection at the end of each step.",
            settings, [rates]);
    }

    private static TimelinePanels.Panel PanelOf(string test, int column, ChartTable rates)
    {
        double largest = rates.Largest(column, 1);
        return new TimelinePanels.Panel(
            "documents/s", AxisScale.OfCount(largest, 4), [new TimelinePanels.PanelLine(rates.FileName, column + 1, test, test, largest)], rates.Rows.Count, true);
    }
}
