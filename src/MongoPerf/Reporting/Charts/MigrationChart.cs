using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>The insert rate second by second with the migrations shaded: averages over a whole step hide what they cost. A panel for each way of inserting, since their rates differ by orders.</summary>
internal static class MigrationChart
{
    private static string Title => Words.Of("Insert rate second by second, and chunk migrations");

    private const int PixelsOfAll = 780;

    /// <summary>Null unless shards were looked at while documents were inserted.</summary>
    public static Chart? Build(StoredRun run, OperationSeconds seconds)
    {
        IReadOnlyList<int> inserts = [.. seconds.Inserts.Take(TimelinePanels.MostLines)];
        if (inserts.Count == 0 || !run.ReadShardSamples().Any())
            return null;

        var axis = new InsertAxis(seconds.All.Where(second => seconds.Lines[second.Line].IsInsert));
        ChartTable rates = OverTime.Rates(seconds, "migrations.dat", inserts, axis.At, axis.Seconds);
        (var time, string unit) = AxisScale.OfTime(axis.Seconds);
        var settings = new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", "migrations")
            .Set("title", Title)
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", time)
            .Set("x_label", Words.Of($"time spent inserting ({unit}; queries are cut out)"))
            .Set("panel_pixels", PixelsOfAll / inserts.Count)
            .Set("documents_tics", OverTime.DocumentTics(run, axis.At, axis.Seconds))
            .SetMarks([])
            .SetBands(MigrationBands.Of(run, axis.At, axis.Seconds));
        TimelinePanels.Set(settings, [.. inserts.Select((insert, i) => PanelOf(seconds.Lines[insert].Title, ChartText.ColorOf(insert), i + 1, rates))]);
        return new Chart(
            "migrations", Title,
            Words.Of("Shaded: a chunk is on its way from one shard to another. Where the rate drops in the shade and recovers behind it, inserts paid for the migration.")
            + OverTime.DocumentTicsHint(run),
            settings, [rates]) { SharedTemplate = OverTime.Template };
    }

    private static TimelinePanels.Panel PanelOf(string title, string color, int column, ChartTable rates)
    {
        double largest = rates.Largest(column, 1);
        return new TimelinePanels.Panel(
            Words.Of("documents/s"), AxisScale.OfCount(largest, 4), [new TimelinePanels.PanelLine(rates.FileName, column + 1, color, title, largest)], rates.Rows.Count, true);
    }
}
