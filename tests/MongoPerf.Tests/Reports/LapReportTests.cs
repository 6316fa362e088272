using System.Text.Json;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports;

/// <summary>Laps as tables, files and chart have them.</summary>
public sealed class LapReportTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>Two tasks: one needs 1, 2 and 3 seconds, the other 2, 2 and 4.</summary>
    [Fact]
    public void Table_has_the_tasks_median_and_the_slowest_of_all()
    {
        using StoredRun run = Write([[10, 1], [20, 3], [30, 6]], [[10, 2], [20, 4], [30, 8]]);
        ReportTable table = Assert.Single(LapTables.Of(run));
        Assert.Equal("Laps of write: time per 10 documents and task (first and last: median of the tasks)", table.Title);
        Assert.Equal(["tasks", "laps", "first", "median", "last", "slowest", "first task done", "last task done", "spread"], table.Columns);
        Assert.Equal(["2", "6", "1.5 s", "2 s", "3.5 s", "4 s", "6 s", "8 s", "25 %"], table.Rows.Single());
        Assert.Contains(table.Title, PhaseTables.Of(run).Select(t => t.Title));
    }

    [Fact]
    public void Length_of_a_lap_is_told_in_the_reports_language()
    {
        using StoredRun run = Write([[10, 1]]);
        using IDisposable chinese = Words.In(Language.Chinese);
        Assert.Equal("10 个文档", LapFigures.Of(run).Single().LengthText);
    }

    [Fact]
    public void Chart_has_the_median_of_each_lap_in_a_band_from_the_fastest_to_the_slowest()
    {
        using StoredRun run = Write([[10, 1], [20, 3]], [[10, 2], [20, 4], [30, 8]], [[10, 6], [20, 9]]);
        Chart chart = Assert.Single(ChartCatalogue.Build(run), c => c.Name.StartsWith("laps-", StringComparison.Ordinal));
        Assert.Equal([[1, 2e6, 1e6, 6e6], [2, 2e6, 2e6, 3e6], [3, 4e6, 4e6, 4e6]], chart.Tables.Single().Rows);
    }

    [Fact]
    public void A_batch_over_several_laps_gives_the_time_of_one()
    {
        using StoredRun run = Write([[25, 5], [50, 15]]);
        Assert.Equal([(2, 2.0), (5, 4.0)], LapFigures.Of(run).Single().All.Select(lap => (lap.Number, lap.Seconds)));
    }

    [Fact]
    public void Files_have_every_lap()
    {
        using StoredRun run = Write([[10, 1], [20, 3]], [[10, 2]]);
        IReadOnlyList<string> files = ReportWriter.WriteTextFiles(run, _folder.At("report"));
        string[] rows = File.ReadAllLines(Assert.Single(files, file => Path.GetFileName(file) == "laps.csv"));
        Assert.Equal(
            [
                "number,phase,parameters,lap_length,task,lap,done,seconds,end_seconds,not_mongodb",
                "1,write,,10,1,1,10,1,1,",
                "1,write,,10,1,2,20,2,3,",
                "1,write,,10,2,1,10,2,2,",
            ], rows);
        using var json = JsonDocument.Parse(File.ReadAllText(_folder.At("report/result.json")));
        JsonElement laps = json.RootElement.GetProperty("phases")[0].GetProperty("laps");
        Assert.Equal((10, "documents", 2.0),
            (laps.GetProperty("length").GetInt64(), laps.GetProperty("of").GetString(), laps.GetProperty("slowestSeconds").GetDouble()));
        Assert.Equal([2, 1], laps.GetProperty("tasks").EnumerateArray().Select(task => task.GetArrayLength()));
    }

    [Fact]
    public void Laps_without_end_make_a_chart_that_can_be_read()
    {
        double[][] task = [.. Enumerable.Range(1, 50_000).Select(i => (double[])[10 * i, i / 100.0])];
        using StoredRun run = Write(task);
        ChartTable table = ChartCatalogue.Build(run).Single(c => c.Name.StartsWith("laps-", StringComparison.Ordinal)).Tables.Single();
        Assert.InRange(table.Rows.Count, 1500, 1900);
        Assert.Equal(50_000, table.Rows[^1][0]);
    }

    [Fact]
    public void Chart_is_drawn()
    {
        using StoredRun run = Write([[10, 1], [20, 3]], [[10, 2], [20, 4], [30, 8]]);
        RenderedCharts charts = ChartRenderer.Render(run, _folder.At("charts"));
        Assert.Empty(charts.Warnings);
        Assert.True(new FileInfo(_folder.At("charts/laps-1.png")).Length > 1000);
    }

    /// <param name="tasks">Of each task what it had done, and the seconds by then.</param>
    private StoredRun Write(params double[][][] tasks)
    {
        string folder = _folder.At("run");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
        {
            var phase = new PhaseRecord { Number = 1, Phase = "write", Kind = PhaseKind.Load, Lap = 10 };
            store.BeginPhase(phase, continues: false);
            store.AddLaps(1, [.. tasks.Select(task => (IReadOnlyList<LapMark>)[.. task.Select(lap => new LapMark((long)lap[0], lap[1]))])]);
            store.EndPhase(phase with { Documents = 60, IsComplete = true, Operations = [RunParts.Result("load", tasks.Length)] });
        }

        return StoredRun.Open(folder);
    }
}
