using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Restarts;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>What reports make of the results, samples and events of a run whose server was ended on purpose.</summary>
public sealed class RestartReportTests : IDisposable
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
        ReportTable table = RestartReports.Table(run)!;
        Assert.Equal("Restarts: 1,000 operations/s before; times run from the server's start", table.Title);
        // Counters of the server began with it: at 4 s they are at 4 MB and 40 faults.
        Assert.Equal(["clean stop", "1.5 s", "2 s", "4 s", "100/s", "4 MB", "-", "40"], Assert.Single(table.Rows));
        Verdict said = Assert.Single(
            RunVerdicts.Of(run), verdict => verdict.Text.StartsWith("after a clean stop", StringComparison.Ordinal));
        Assert.Equal(
            (Grade.Good, "after a clean stop (1.5 s) the server answered 2 s after its start; the rate was back at 90 % of "
                + "1,000 operations/s after 4 s"),
            (said.Grade, said.Text));
    }

    [Fact]
    public void A_rate_that_did_not_come_back_is_a_note()
    {
        using StoredRun run = Restart(100, 500, 800);
        Assert.Contains(RunVerdicts.Of(run), v => v.Grade == Grade.Note && v.Text.Contains(
            "did not get back to 90 % of 1,000 operations/s: it peaked at 80 % of the rate before", StringComparison.Ordinal));
        Assert.Equal("not reached", RestartReports.Table(run)!.Rows[0][3]);
    }

    /// <summary>Found as "did not get back to 90 % …: it peaked at 130 % of the rate before".</summary>
    [Fact]
    public void A_rate_that_came_back_for_a_moment_is_not_said_to_have_stayed_away()
    {
        using StoredRun run = Restart(100, 1300, 100, 500, 100);
        Verdict said = Assert.Single(RunVerdicts.Of(run), v => v.Text.Contains("seconds, although", StringComparison.Ordinal));
        Assert.EndsWith("the rate did not stay at 90 % of 1,000 operations/s for 3 seconds, although it peaked at 130 % of the rate "
            + "before; a longer --duration may show when it does", said.Text, StringComparison.Ordinal);
        Assert.Equal("not for 3 s", RestartReports.Table(run)!.Rows[0][3]);
    }

    [Fact]
    public void Each_end_is_compared_with_the_rate_before_the_first_one()
    {
        using StoredRun run = Stored(store =>
        {
            AddPhase(store, 1, "warm", [800, 800], 1);
            AddPhase(store, 2, "before", [1000, 1000], 5);
            AddEnd(store, RunEvent.CleanStop, 10, 12);
            AddPhase(store, 3, "after-stop", [500, 500, 500], 13);
            AddPhase(store, 4, "write", [70, 70], 17, "insert");
            AddEnd(store, RunEvent.Kill, 20, 25);
            AddPhase(store, 5, "after-kill", [950, 1000, 1000], 26);
        });
        IReadOnlyList<RestartFigures> figures = RestartFigures.Of(run);
        Assert.Equal([RunEvent.CleanStop, RunEvent.Kill], figures.Select(f => f.End));
        Assert.All(figures, f => Assert.Equal(1000, f.RateBefore));
        Assert.Equal([500, 500, 500], figures[0].Rates.Select(r => r.Rate));
        Assert.Equal((null, 5.0), (figures[0].BackSeconds, figures[1].BackSeconds));
        Assert.Contains(RunVerdicts.Of(run), v => v.Text.StartsWith(
            "after kill -9 (1.5 s) the server answered 5 s after its start; the rate was at 90 % of 1,000", StringComparison.Ordinal));
    }

    [Fact]
    public void An_end_without_a_phase_like_the_one_before_tells_nothing()
    {
        using StoredRun run = Stored(store =>
        {
            AddPhase(store, 1, "before", [1000, 1000], 1);
            AddEnd(store, RunEvent.Kill, 10, 12);
            AddPhase(store, 2, "write", [70, 70], 13, "insert");
        });
        Assert.Empty(RestartFigures.Of(run));
        Assert.Null(RestartReports.Table(run));
    }

    [Fact]
    public void Restarts_get_their_chart()
    {
        using StoredRun run = Restart(100, 500, 950, 1000, 1000);
        RenderedCharts charts = ChartRenderer.Render(run, _runs.At("charts"));
        Assert.Empty(charts.Warnings);
        Assert.Equal(["restart", "timeline"], charts.Drawn.Select(c => c.Chart.Name));
    }

    /// <summary>Stopped at 10 s for 1.5 s, started at once, answered after 2 s; then a rate for each second.</summary>
    private StoredRun Restart(params int[] rates) => Stored(store =>
    {
        const int started = 12;
        AddPhase(store, 1, "before", [1000, 1000], 5);
        AddEnd(store, RunEvent.CleanStop, started, started + 2);
        AddPhase(store, 2, "after-stop", rates, started + 3);
        for (int second = 3; second <= rates.Length + 2; second++)
            store.AddServerSample(ServerSample(started + second, second));
    });

    /// <param name="store">The run's.</param>
    /// <param name="number">The phase's.</param>
    /// <param name="name">The phase's.</param>
    /// <param name="rates">Of each second.</param>
    /// <param name="at">Second at which the first of them ends.</param>
    /// <param name="operation">What it does.</param>
    private static void AddPhase(RunStore store, int number, string name, int[] rates, int at, string operation = "find")
    {
        foreach ((int i, int rate) in rates.Index())
            store.AddSample(RunParts.Sample(at + i, operation) with { Phase = number, Operations = rate });
        store.EndPhase(RunParts.Phase(number, name, RunParts.Result(operation, 8) with { OperationsPerSecond = rates.Average() }));
    }

    private static void AddEnd(RunStore store, string kind, int started, int answered)
    {
        store.AddEvent(new RunEvent(At(started), kind, "ended", 1.5));
        store.AddEvent(new RunEvent(At(answered), RunEvent.FirstAnswer, "answered", answered - started));
    }

    private StoredRun Stored(Action<RunStore> fill)
    {
        using (RunStore store = RunStore.Create(_runs.At("x"), RunParts.Run("x"), RunParts.Settings()))
        {
            store.SetDeployment(RunParts.Deployment());
            fill(store);
            store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
        }

        return StoredRun.Open(_runs.At("x"));
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

    private static long At(int second) => RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds();
}
