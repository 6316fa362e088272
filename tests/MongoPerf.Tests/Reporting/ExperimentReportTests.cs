using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Reporting;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Experiments;
using MongoPerf.Tests.Reporting.Charts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting;

/// <summary>What reports make of an experiment's stored results, samples and events.</summary>
public sealed class ExperimentReportTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    // The mean of three seconds must be 900 or more, and the first of them too. The first answer comes after 2 s.
    [InlineData(4.0, 100, 500, 950, 1000, 1000)]
    [InlineData(2.0, 950, 1000, 1000, 1000, 1000)]
    [InlineData(5.0, 100, 950, 100, 900, 900, 900)]
    [InlineData(4.0, 100, 500, 900, 900, 900)]
    [InlineData(null, 100, 500, 800, 850, 899)]
    [InlineData(null, 100, 500, 800, 950, 950)]
    [InlineData(2.0, 950)]
    public void A_rate_is_back_when_three_seconds_reach_nine_tenths_of_it(double? seconds, params int[] rates)
    {
        using StoredRun run = Restart(rates);
        RestartFigures figures = Assert.Single(RestartFigures.Of(run));
        Assert.Equal((1000.0, 1.5, 2.0), (figures.RateBefore, figures.StopSeconds, figures.AnswerSeconds));
        Assert.Equal(seconds, figures.BackSeconds);
    }

    [Fact]
    public void Tables_and_verdicts_say_how_a_server_came_back()
    {
        using StoredRun run = Restart(100, 500, 950, 1000, 1000);
        ReportTable table = Assert.Single(ExperimentTables.Of(run));
        Assert.Equal("Restarts: 1,000 operations/s before; times run from the server's start", table.Title);
        // Counters of the server began with it: at 4 s they are at 4 MB and 40 faults.
        Assert.Equal(["clean stop", "1.5 s", "2 s", "4 s", "100/s", "4 MB", "-", "40"], Assert.Single(table.Rows));
        Assert.Contains(
            new Verdict(Grade.Good, "after a clean stop (1.5 s) the first answer came 2 s after the start; the rate was back at 90 % of 1,000 operations/s after 4 s"), Verdict.Of(run));
    }

    [Fact]
    public void A_rate_that_did_not_come_back_is_a_note()
    {
        using StoredRun run = Restart(100, 500, 800);
        Assert.Contains(Verdict.Of(run), v => v.Grade == Grade.Note && v.Text.Contains("did not get back to 90 % of 1,000 operations/s while it was watched: it reached 80 % of it", StringComparison.Ordinal));
        Assert.Equal("not reached", Assert.Single(ExperimentTables.Of(run)).Rows[0][3]);
    }

    [Theory]
    [InlineData("inserts: 1,000 documents/s by 1 thread, most of all 4,000 documents/s by 8 threads; with more threads the rate fell, by 25 % to 3,000 documents/s by 16 threads", 1000, 4000, 3000)]
    [InlineData("inserts: 1,000 documents/s by 1 thread, most of all 4,000 documents/s by 8 threads; with more threads it did not fall (3,800 documents/s by 16 threads)", 1000, 4000, 3800)]
    [InlineData("inserts: 4,000 documents/s by 1 thread, most of all; with more threads the rate fell, by 50 % to 2,000 documents/s by 16 threads", 4000, 3000, 2000)]
    public void A_rate_that_falls_with_more_threads_is_told(string text, params int[] rates)
    {
        using StoredRun run = Stored("insert-threads", store =>
        {
            for (int i = 0; i < rates.Length; i++)
                store.AddTestResult(1, 1000, Rated(ExperimentTests.Insert, ((int[])[1, 8, 16])[i], rates[i]));
        });
        Assert.Contains(Verdict.Of(run), v => v.Text == text);
        Assert.Equal(["1", "8", "16"], Assert.Single(ExperimentTables.Of(run)).Rows.Select(row => row[0]));
    }

    [Fact]
    public void Two_tests_by_threads_are_put_beside_each_other()
    {
        using StoredRun run = Pair();
        ReportTable table = Assert.Single(ExperimentTables.Of(run));
        Assert.Equal(["threads", "w1 docs/s", "w1 p50", "w1 p99", "w1-j docs/s", "w1-j p50", "w1-j p99", "ratio"], table.Columns);
        Assert.Equal(["1", "1,000", "100 us", "400 us", "250", "100 us", "400 us", "25 %"], table.Rows[0]);
        Assert.Equal("-", table.Rows[2][^1]);
        Assert.Contains(Verdict.Of(run), v => v.Text == "inserts that wait for the journal reached 25 % by 1 thread, 50 % by 2 threads of the rate");
    }

    [Fact]
    public void Several_sizes_are_no_comparison_by_threads()
    {
        using StoredRun run = Stored("q4", store =>
        {
            foreach (int step in (int[])[1, 2])
            {
                store.AddTestResult(step, step * 1000, Rated("q4", 1, 10));
                store.AddTestResult(step, step * 1000, Rated("q4", 8, 10));
            }
        });
        Assert.Null(ThreadFigures.Of(run));
    }

    [GnuplotFact]
    public void Experiments_get_their_charts()
    {
        using (StoredRun run = Restart(100, 500, 950, 1000, 1000))
            Assert.Equal(["restart"], Drawn(run));
        using (StoredRun run = Pair("pair"))
            Assert.Equal(["threads"], Drawn(run));
    }

    /// <summary>Found where deployments with long names stood side by side: the columns of texts vanished.</summary>
    [Fact]
    public void Headers_of_numbers_are_stacked_where_there_is_no_room_beside_each_other()
    {
        var table = new ReportTable("t", ["<run", "memory not limited documents", "memory 0.5 GB ops/s"], [["50x2000", "825,000", "3,202"]]);
        Assert.Equal(["<run", "memory\nnot\nlimited\ndocuments", "memory\n0.5 GB\nops/s"], table.Within(50).Columns);
        Assert.Same(table, table.Within(70));
    }

    [Fact]
    public void A_table_leaves_out_what_is_missed_least_where_there_is_no_room()
    {
        var table = new ReportTable("Test", ["documents", "ops/s", "docs/s", "p50", "p95", "<index"], [["1M", "12,345", "123,450", "1.23 ms", "2.34 ms", "a long name of an index"]]);
        Assert.Same(table, table.Within(132));
        ReportTable narrow = table.Within(50);
        Assert.Equal(["documents", "ops/s", "p50", "<index"], narrow.Columns);
        Assert.Equal(["1M", "12,345", "1.23 ms", "a long name of an index"], Assert.Single(narrow.Rows));
        Assert.Equal("Test (no room for p95, docs/s; the report has all)", narrow.Title);
    }

    private IEnumerable<string> Drawn(StoredRun run)
    {
        RenderedCharts charts = ChartRenderer.Render(run, _runs.At("charts"));
        Assert.Empty(charts.Warnings);
        return charts.Drawn.Select(c => c.Chart.Name);
    }

    private StoredRun Pair(string id = "x") => Stored("journal", store =>
    {
        store.AddTestResult(1, 1000, Rated(ExperimentTests.Written, 1, 1000));
        store.AddTestResult(1, 1000, Rated(ExperimentTests.Journaled, 1, 250));
        store.AddTestResult(1, 1000, Rated(ExperimentTests.Written, 2, 1000));
        store.AddTestResult(1, 1000, Rated(ExperimentTests.Journaled, 2, 500));
        // Interrupted before the other.
        store.AddTestResult(1, 1000, Rated(ExperimentTests.Written, 4, 1000));
    }, id);

    /// <summary>Stopped at 10 s for 1.5 s, started at once, answered after 2 s; then a rate for each second.</summary>
    private StoredRun Restart(params int[] rates) => Stored("restart", store =>
    {
        const int started = 12;
        store.AddTestResult(1, 1000, Rated(ExperimentTests.BeforeRestart, 8, 1000));
        store.AddTestResult(1, 1000, Rated(ExperimentTests.AfterStop, 8, rates.Average()));
        store.AddEvent(new RunEvent(At(started), ExperimentTests.StopEvent, "ended", 1.5));
        store.AddEvent(new RunEvent(At(started + 2), ExperimentTests.AnswerEvent, "answered", 2));
        for (int i = 0; i < rates.Length; i++)
            store.AddSample(RunParts.Sample(started + 3 + i, ExperimentTests.AfterStop) with { Operations = rates[i] });
        for (int second = 3; second <= rates.Length + 2; second++)
            store.AddServerSample(ServerSample(started + second, second));
    });

    private StoredRun Stored(string name, Action<RunStore> fill, string id = "x")
    {
        SeriesSettings settings = RunParts.Settings() with { Tests = [name] };
        using (RunStore store = RunStore.Create(_runs.At(id), RunParts.Run(id) with { Kind = "run" }, settings))
        {
            store.SetDeployment(RunParts.Deployment());
            fill(store);
            store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
        }

        return StoredRun.Open(_runs.At(id));
    }

    private static MetricSample ServerSample(int second, int sinceStart)
    {
        double[] values = new double[MetricCatalogue.Server.Count];
        Array.Fill(values, double.NaN);
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_used")] = sinceStart * 2e6;
        // What a sample shows was so up to a second before.
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_read")] = (sinceStart - 1) * 1e6;
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "page_faults")] = (sinceStart - 1) * 10;
        return new MetricSample(At(second), "127.0.0.1:27017", values);
    }

    private static TestResult Rated(string test, int threads, double rate) => RunParts.Test(test, threads) with { OperationsPerSecond = rate, DocumentsPerSecond = rate };

    private static long At(int second) => RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds();
}
