using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>The insert rate second by second with the migrations shaded: averages over a whole step hide what they cost.</summary>
internal static class MigrationChart
{
    private const string Title = "Insert rate second by second, and migrations of chunks";

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
        var panel = new TimelinePanels.Panel(
            "documents/s", AxisScale.OfCount(rates.Largest()),
            [.. tests.Select((test, i) => new TimelinePanels.PanelLine(rates.FileName, i + 2, test, test, rates.Largest(i + 1, 1)))], rates.Rows.Count, true);
        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "migrations")
            .Set("title", Title)
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", $"time spent inserting ({unit}; queries are cut out)")
            .Set("panel_pixels", 620)
            .Set("documents_tics", OverTime.DocumentTics(run, axis.At, axis.Seconds))
            .SetMarks([])
            .SetBands(MigrationBands.Of(run, axis.At, axis.Seconds));
        TimelinePanels.Set(settings, [panel]);
        return new Chart(
            "migrations", Title,
            "Shaded is the time in which a chunk was on its way from one shard to another. Where the rate falls under a shade and rises behind it, "
            + "moving the chunks is what inserts paid for. The numbers on top are documents in the collection at the end of each step.",
            settings, [rates]);
    }
}
