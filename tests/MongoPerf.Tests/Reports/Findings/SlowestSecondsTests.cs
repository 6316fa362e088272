using MongoPerf.Reports;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>The worst seconds of a run, and what was recorded beside them.</summary>
public sealed class SlowestSecondsTests : IDisposable
{
    private readonly ScriptedRun _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public void The_worst_second_comes_first_with_what_happened_in_it()
    {
        _run.Phase("q4", Rates(40, (20, 100), (30, 400)), noise: false);
        _run.Store.AddEvent(new RunEvent(ScriptedRun.At(20.9), "reconnect", "127.0.0.1:27017: connection reset by peer", 0.4));
        // A look at the data that found nothing wrong explains nothing.
        _run.Store.AddEvent(new RunEvent(ScriptedRun.At(30.5), RunEvent.Checked, "orders: no violations"));
        _run.Server(0, 40, second => [("uptime", second), ("checkpoint_running", second is 30 or 31 ? 1 : 0)]);
        using StoredRun run = _run.End();
        IReadOnlyList<SlowSecond> seconds = SlowestSeconds.Of(run).Seconds;
        Assert.Equal([20, 30], seconds.Select(one => one.Range.ToSeconds!.Value - 0.0));
        Assert.Equal((100, 1000), (seconds[0].PerSecond, seconds[0].UsualPerSecond));
        Assert.Contains("127.0.0.1:27017: connection reset by peer", seconds[0].Why, StringComparison.Ordinal);
        Assert.Equal("a checkpoint was running", seconds[1].Why);
    }

    [Fact]
    public void Where_nothing_was_recorded_beside_it_that_is_said()
    {
        _run.Phase("q4", Rates(40, (20, 100)), noise: false);
        using StoredRun run = _run.End();
        Assert.Equal("nothing recorded coincides", Assert.Single(SlowestSeconds.Of(run).Seconds).Why);
    }

    [Fact]
    public void A_phase_too_short_for_a_usual_second_is_held_against_the_same_operation_at_other_sizes()
    {
        _run.Size(1, "q4", [100, 100]);
        _run.Size(2, "q4", [100, 100]);
        // Writing fills no cache; what a query of the next size reads is not more than it usually is.
        _run.Size(3, "safe", [.. Enumerable.Repeat(1000.0, 40)]);
        _run.Server(0, _run.Now, second => [("uptime", second), ("cache_read", Math.Min(second, 8) * 50e6)]);
        using StoredRun run = _run.End();
        Assert.All(SlowestSeconds.Of(run).Operations.Where(one => one.Operation == "q4"),
            one => Assert.Equal("nothing recorded coincides", one.Why));
    }

    [Fact]
    public void What_nothing_can_be_held_against_is_told_without_an_otherwise()
    {
        _run.Size(1, "q4", [100]);
        _run.Server(0, _run.Now, second => [("uptime", second), ("cache_read", second * 50e6)]);
        using StoredRun run = _run.End();
        Assert.Equal("the cache was filled at 50 MB/s", Assert.Single(SlowestSeconds.Of(run).Operations).Why);
    }

    /// <summary>Found in a run of TPC-C: the worst second of all was one without an operation that came three times a second.</summary>
    [Theory]
    [InlineData(3, 0)]
    [InlineData(15, 0)]
    [InlineData(100, 62)]
    public void A_rate_that_chance_explains_is_no_slow_second(double usual, double slow)
    {
        double[] rates = [.. Enumerable.Repeat(usual, 40)];
        rates[6] = slow;
        _run.Phase("order status", rates, noise: false);
        using StoredRun run = _run.End();
        Assert.Empty(SlowestSeconds.Of(run).Seconds);
    }

    [Theory]
    [InlineData(20, 0)]
    [InlineData(100, 55)]
    public void A_rate_that_chance_does_not_explain_is_a_slow_second(double usual, double slow)
    {
        double[] rates = [.. Enumerable.Repeat(usual, 40)];
        rates[6] = slow;
        _run.Phase("order status", rates, noise: false);
        using StoredRun run = _run.End();
        Assert.Equal(slow, Assert.Single(SlowestSeconds.Of(run).Seconds).PerSecond);
    }

    [Theory]
    [InlineData(0.9, 0.9, "nothing recorded coincides")]
    [InlineData(0.9, 3.1, "other programs used 3.1 of 8 cores (0.9 otherwise)")]
    public void Other_programs_coincide_where_they_used_more_than_otherwise(double usual, double during, string why)
    {
        _run.Phase("q4", Rates(40, (20, 100)), noise: false);
        double busy = 0;
        _run.Host(0, 40, second =>
        {
            busy += second == 20 ? during : usual;
            return [("cpu_user", busy * 1e6), ("cpu_idle", ((8 * second) - busy) * 1e6), ("client_cpu_user", 1e3 * second)];
        });
        using StoredRun run = _run.End();
        Assert.Equal(why, Assert.Single(SlowestSeconds.Of(run).Seconds).Why);
    }

    [Fact]
    public void A_run_whose_seconds_are_alike_has_no_worst_one()
    {
        _run.Phase("q4", Rates(40));
        using StoredRun run = _run.End();
        Assert.Empty(SlowestSeconds.Of(run).Seconds);
    }

    [Fact]
    public void A_client_whose_own_samples_stopped_stood_still_itself()
    {
        _run.Phase("q4", Rates(40, (20, 10)), noise: false);
        _run.Host(0, 18, second => [("cpu_idle", second * 4e6), ("cpu_user", second * 4e6)]);
        _run.Host(21, 40, second => [("cpu_idle", second * 4e6), ("cpu_user", second * 4e6)]);
        using StoredRun run = _run.End();
        Assert.StartsWith(
            "the client itself stood still for 3 s", Assert.Single(SlowestSeconds.Of(run).Seconds).Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Reports_list_them_and_a_page_leads_to_where_they_are()
    {
        _run.Phase("q4", Rates(40, (20, 100)), noise: false);
        using StoredRun run = _run.End();
        ReportTable table = SlowestSeconds.Of(run).Tables().First();
        Assert.Equal("0:19", table.Rows[0][0]);
        Assert.Equal("#explore&from=9.0&to=30.0", table.Links[0]);
        using var markdown = new StringWriter();
        MarkdownReport.Write(RunReport.Of(run), markdown);
        Assert.Contains("## Slowest seconds", markdown.ToString(), StringComparison.Ordinal);
        Assert.Contains("nothing recorded coincides", markdown.ToString(), StringComparison.Ordinal);
    }

    private static double[] Rates(int seconds, params (int Second, double Rate)[] slow)
    {
        double[] rates = [.. Enumerable.Repeat(1000.0, seconds)];
        foreach ((int second, double rate) in slow)
            rates[second - 1] = rate;
        return rates;
    }
}
