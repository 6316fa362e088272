using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>
/// What is measured of servers whose delays are known, against what follows from them by arithmetic. See docs/conformance.md.
/// </summary>
public sealed class ConformanceTests
{
    /// <summary>
    /// Of a minute's arrivals those of one second come in the stall, and wait from 1,010 ms down to 10 ms: whatever the rate, the
    /// hundredth that waits longest waits 410 ms or more. scripts/conformance does it with 1,000 a second; a tenth of that needs a
    /// tenth of the threads.
    /// </summary>
    [Fact]
    public void One_stall_of_a_second_shows_in_response_times_as_long_as_it_lasted()
    {
        GroupResult result = Run(110, 60, 100, call => ScriptedServer.Stalled(call, 0.01, 30, 1));
        Assert.Equal((6_000, 0), (result.Operations, result.Accounting.Skipped));
        LatencyHistogram response = result.Parts[0].Response!;
        AssertNear(10_000, response.ValueAtPercentile(50));
        AssertNear(410_000, response.ValueAtPercentile(99));
        AssertNear(950_000, response.ValueAtPercentile(99.9));
        AssertNear(1_010_000, response.Maximum);
        // There were connections enough: the wait was the server's, and service time shows it too.
        Assert.Equal(0, result.Waiting!.Arrivals);
        AssertNear(410_000, result.Parts[0].Service.ValueAtPercentile(99));
    }

    /// <summary>
    /// With few connections most of those arrivals never reach the server while it stalls: they wait in the client, and service time
    /// knows nothing of it.
    /// </summary>
    [Fact]
    public void With_few_connections_service_time_hides_the_stall_and_the_wait_in_the_client_is_told()
    {
        GroupResult result = Run(8, 60, 400, call => ScriptedServer.Stalled(call, 0.001, 30, 1));
        Assert.Equal((24_000, 0), (result.Operations, result.Accounting.Skipped));
        AssertNear(1_000, result.Parts[0].Service.ValueAtPercentile(99.9));
        // 400 came in that second; 8 connections work their queue off at 8,000 a second, while 400 more come: a 19th more wait.
        AssertNear(1_001_000 - (240 * 2_375), result.Parts[0].Response!.ValueAtPercentile(99), 0.03);
        Assert.InRange(result.Waiting!.Arrivals, 392, 440);
        Assert.Equal(1.053 - (7 / 400.0), result.Waiting.Seconds, 0.02);
    }

    [Fact]
    public void A_closed_loop_hides_the_stall_but_for_one_operation_of_each_thread()
    {
        GroupResult result = Run(4, 60, null, call => ScriptedServer.Stalled(call, 0.01, 30.005, 1));
        Assert.Equal(4 * (6000 - 100), result.Operations, 8L);
        LatencyHistogram service = result.Parts[0].Service;
        AssertNear(10_000, service.ValueAtPercentile(99.9));
        Assert.Equal(4, service.Buckets().Where(bucket => bucket.Microseconds > 20_000).Sum(bucket => bucket.Count));
    }

    /// <summary>A fifth of a second in ten: a fiftieth of all arrivals, which wait for up to 210 ms.</summary>
    [Fact]
    public void Stalls_that_come_again_show_in_the_share_of_the_time_that_they_take()
    {
        GroupResult result = Run(40, 60, 100, call => ScriptedServer.Stalled(call, 0.01, Math.Floor(call.Start / 10) * 10, 0.2));
        AssertNear(10_000, result.Parts[0].Response!.ValueAtPercentile(97.5));
        AssertNear(110_000, result.Parts[0].Response!.ValueAtPercentile(99), 0.1);
        AssertNear(210_000, result.Parts[0].Response!.Maximum);
    }

    /// <summary>Those that are free wait in line, and each has its turn.</summary>
    [Fact]
    public void Thousands_of_connections_show_a_stall_as_few_do()
    {
        GroupResult result = Run(3_000, 20, 200, call => ScriptedServer.Stalled(call, 0.01, 10, 1));
        Assert.Equal((4_000, 0), (result.Operations, result.Accounting.Skipped));
        LatencyHistogram response = result.Parts[0].Response!;
        AssertNear(10_000, response.ValueAtPercentile(50));
        AssertNear(810_000, response.ValueAtPercentile(99));
        AssertNear(1_010_000, response.Maximum);
        Assert.Equal(0.1, result.Parts[0].Lateness!.Maximum);
        Assert.Equal(0, result.Waiting!.Arrivals);
        Assert.Equal((1L, 2L), (result.ThreadOperations.Min(), result.ThreadOperations.Max()));
    }

    [Fact]
    public void Thousands_that_think_think_as_long_as_they_are_to()
    {
        GroupResult result = Run(2_000, 10, null, _ => 0.01, new ThinkTime(1, 0));
        // At 0, 1.01, 2.02 … 9.09 s.
        Assert.Equal(2_000 * 10, result.Operations);
        Assert.Equal(0, result.OversleptSeconds);
        AssertNear(10_000, result.Parts[0].Service.Maximum);
    }

    [Fact]
    public void A_slow_tenth_is_a_tenth()
    {
        int arrived = 0;
        LatencyHistogram response = Run(40, 20, 100, _ => Interlocked.Increment(ref arrived) % 10 == 0 ? 0.1 : 0.01).Parts[0].Response!;
        AssertNear(10_000, response.ValueAtPercentile(89.9));
        AssertNear(100_000, response.ValueAtPercentile(90.1));
        AssertNear(19_000, response.Mean);
    }

    [Fact]
    public void A_delay_that_grows_has_percentiles_along_its_course()
    {
        LatencyHistogram response = Run(40, 60, 100, call => 0.001 + (0.1 * call.Start / 60)).Parts[0].Response!;
        foreach (double percent in (double[])[10, 50, 90, 99])
            AssertNear(1000 + (percent * 1000), response.ValueAtPercentile(percent), 0.01);
    }

    [Fact]
    public void Two_peaks_are_two_peaks()
    {
        LatencyHistogram response = Run(40, 20, 100, call => (call.Number + call.Connection) % 2 == 0 ? 0.002 : 0.05).Parts[0].Response!;
        AssertNear(2_000, response.ValueAtPercentile(40));
        AssertNear(50_000, response.ValueAtPercentile(60));
        Assert.Equal(2, response.Buckets().Count());
    }

    /// <summary>
    /// Its arrivals go to the other seven, where each of eight threads with arrivals of its own would have kept them waiting.
    /// </summary>
    [Fact]
    public void A_connection_that_freezes_delays_nobody_else()
    {
        GroupResult result = Run(8, 60, 100, call => call is { Connection: 3, Start: >= 10 } ? 45 : 0.01);
        Assert.Equal((6000, 0), (result.Operations, result.Accounting.Skipped));
        Assert.Equal(0, result.Waiting!.Arrivals);
        AssertNear(10_000, result.Parts[0].Response!.ValueAtPercentile(99.9));
        AssertNear(45_000_000, result.Parts[0].Response!.Maximum);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(8)]
    [InlineData(64)]
    public void Service_times_are_those_of_the_server(int threads)
    {
        // 1 to 100 ms, each as often.
        LatencyHistogram service = Run(threads, 20.2, null, call => ((call.Number * 37 % 100) + 1) * 0.001).Parts[0].Service;
        foreach (int percent in (int[])[1, 10, 50, 90, 99, 100])
            AssertNear(percent * 1000, service.ValueAtPercentile(percent), 0.01);
    }

    private static GroupResult Run(
        int threads, double seconds, double? rate, Func<ScriptedCall, double> script, ThinkTime? think = null)
    {
        var clock = new CrowdClock(threads);
        var server = new ScriptedServer(clock, script, clock.End);
        int connections = 0;
        var runner = new GroupRunner(clock, (_, _) => server.Connect(connections++));
        var plan = new GroupPlan { Name = "q4", Operations =
        [
            new(SeriesFile.Find("q4"), 1),
        ], Threads = threads, Seconds = seconds, Rate = rate is { } perSecond ? perSecond : null, Think = think, Seed = 1 };
        return runner.Run(plan, new Silent(), CancellationToken.None);
    }

    private static void AssertNear(double expected, double? microseconds, double share = 0.002) =>
        Assert.InRange(microseconds!.Value, expected * (1 - share), expected * (1 + share));

    private sealed class Silent : IGroupObserver
    {
        public void OnInterval(IReadOnlyList<MongoPerf.Storage.Sample> samples)
        {
        }

        public void OnEvent(string kind, string text, double? seconds)
        {
        }
    }
}
