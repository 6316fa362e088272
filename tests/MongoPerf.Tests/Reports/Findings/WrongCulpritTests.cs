using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>What the plan, the client or a server that was gone explains is not blamed on anything else.</summary>
public sealed class WrongCulpritTests : IDisposable
{
    private readonly ScriptedRun _run = new();

    public void Dispose() => _run.Dispose();

    /// <summary>
    /// Found with a suspended laptop and SIGSTOP: "the server did not answer serverStatus for 17 s, so the whole process stalled".
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_client_that_stood_still_is_told_and_no_server_is_blamed(bool isJump)
    {
        const int At = 20, Long = 17;
        Store("read", Enumerable.Range(0, 40).Select(second => second == At && !isJump
            ? new Sampled(second, Long + 1, 500) : new Sampled(second < At ? second : second + Long, 1, 1000)));
        _run.Server(0, At, second => Sound(second));
        _run.Server(At + Long + 1, 58, second => Sound(second));
        Finding found = Assert.Single(_run.Findings());
        Assert.Equal(FindingIds.ClientStopped, found.Id);
        Assert.Matches("^the client itself stood still for 1[78](\\.[0-9])? s at 2[01](\\.[0-9])? s: the figures of read include that$",
            found.Text);
    }

    [Theory]
    [InlineData(1.0, 0.02, null)]
    [InlineData(1.0, 1.0, FindingIds.Stall)]
    [InlineData(0.5, 0.02, null)]
    public void What_the_plan_itself_lowers_is_no_stall(double before, double asked, string? expected)
    {
        // From the 20th second on the plan asks for a part of its rate, and for four seconds it gets two hundredths.
        CoursePiece[] course = [new(1000 * before, 1000 * before, 20), new(1000 * asked, 1000 * asked, 4), new(1000, 1000, 20)];
        Store("read", Enumerable.Range(0, 44).Select(second => new Sampled(second, 1, second is >= 20 and < 24 ? 20
            : (long)(1000 * (second < 20 ? before : 1)))), result => result with { Course = course, WarmupSeconds = 0 });
        using StoredRun run = _run.End();
        Assert.Equal(expected is null ? [] : [expected], RunFindings.Shown(run).Select(finding => finding.Id));
        Assert.All(SlowestSeconds.Of(run).Operations, second => Assert.Null(second.UsualPerSecond));
        Assert.Empty(SlowestSeconds.Of(run).Seconds);
    }

    /// <summary>The samples began half a second before the plan's clock: one of them lies across the change.</summary>
    [Fact]
    public void A_second_across_a_change_of_the_plan_is_no_stall()
    {
        CoursePiece[] course = [new(1000, 1000, 20), new(20, 20, 4), new(1000, 1000, 20)];
        Store("read", Enumerable.Range(0, 44).Select(second => new Sampled(second, 1, second is >= 19 and < 25 ? 20 : 1000)),
            result => result with { Course = course, WarmupSeconds = 0 });
        Assert.Empty(_run.Findings());
    }

    /// <summary>A sample that is a second late, as on a busy machine, takes nothing from a stall of the server.</summary>
    [Fact]
    public void A_stall_of_the_server_stays_one_beside_a_late_sample()
    {
        Store("read", Enumerable.Range(0, 40).Where(second => second != 22).Select(second => second == 21
            ? new Sampled(second, 2, 0) : new Sampled(second, 1, second is >= 20 and < 26 ? 0 : 1000)));
        Assert.Equal([FindingIds.Stall], _run.Findings().Select(finding => finding.Id));
    }

    /// <summary>Found when a primary was killed: the outage, and then that the whole process had stalled.</summary>
    [Fact]
    public void A_server_that_was_gone_has_an_outage_and_no_stall()
    {
        Store("read", Enumerable.Range(0, 40).Select(second => new Sampled(second, 1, second is >= 20 and < 26 ? 0 : 1000)
        {
            IsDown = second is >= 21 and < 25,
        }));
        _run.Store.AddEvent(new RunEvent(ScriptedRun.At(26), "reconnect", "read: the server closed the connection", 5));
        _run.Server(0, 20, second => Sound(second));
        _run.Server(27, 40, second => Sound(second));
        // The server that starts again reads its files.
        _run.Host(0, 40, second => [("disk_read", 100e6 * Math.Clamp(second - 20, 0, 7))]);
        using StoredRun run = _run.End();
        Assert.Equal([FindingIds.Outage], RunFindings.Shown(run).Select(finding => finding.Id));
        Assert.DoesNotContain("disk", SlowestSeconds.Of(run).Seconds[0].Why, StringComparison.Ordinal);
    }

    /// <summary>Found of a server that was killed: "two peaks … operations waited for a CPU".</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void No_CPU_is_blamed_for_two_peaks_while_a_server_was_away(bool wasAway)
    {
        TwoPeaked(result => result, 20);
        if (wasAway)
            _run.Store.AddEvent(new RunEvent(ScriptedRun.At(16), "reconnect", "read: the server closed the connection", 5));
        Finding found = Assert.Single(_run.Findings(), finding => finding.Id == FindingIds.TwoPeaks);
        Assert.Equal(wasAway, found.Cause is null);
    }

    /// <summary>Found of events that came before their acknowledgement: "two peaks, 0.1 µs and 909 µs".</summary>
    [Theory]
    [InlineData(false, 0.1, true)]
    [InlineData(true, 0.1, false)]
    [InlineData(true, 20, true)]
    public void Events_before_their_acknowledgement_are_no_peak(bool isWatched, double fast, bool isFound)
    {
        TwoPeaked(result => isWatched ? result with { Changes = new ChangeResult(30_000, 0, 0, 0, 0, 0, 0) } : result, fast);
        Finding? found = _run.Findings().SingleOrDefault(finding => finding.Id == FindingIds.TwoPeaks);
        Assert.Equal(isFound, found is not null);
        Assert.Equal(isFound && !isWatched, found?.Cause is not null);
    }

    [Theory]
    [InlineData(0, 497, true)]
    [InlineData(2, 497, false)]
    [InlineData(0, 12, false)]
    public void A_cold_first_operation_is_told_with_the_rate_that_it_makes(int warmup, double milliseconds, bool isFound)
    {
        Store("read", Enumerable.Range(0, 8).Select(second => new Sampled(second, 1, second == 0 ? 5 : 10)
        {
            Max = second == 0 ? milliseconds * 1000 : 3000,
        }), result => result with
        {
            Threads = 1, WarmupSeconds = warmup, Operations = 75, Seconds = 8, OperationsPerSecond = 75 / 8.0,
            LatencyMicroseconds = new LatencySummary { P50 = 2000, P99 = milliseconds * 1000, Max = milliseconds * 1000 },
        });
        Finding? found = _run.Findings().SingleOrDefault(finding => finding.Id == FindingIds.FirstOperation);
        Assert.Equal(isFound ? "read's slowest operation, 497 ms, came in its first second: the median is 2 ms, and its rate of 9.38/s "
            + "would be 9.86/s without it" : null, found?.Text);
    }

    /// <summary>66 updates "had no effect although the server reported no error": of documents whose own insert had failed.</summary>
    [Theory]
    [InlineData(0, null, "had no effect, or a wrong one, although the server reported no error")]
    [InlineData(66, null, "found nothing to change; 66 inserts had failed before or beside them")]
    [InlineData(66, "orders", "found nothing to change; 66 inserts had failed before or beside them")]
    [InlineData(66, "log", "had no effect, or a wrong one, although the server reported no error")]
    public void Updates_of_documents_whose_insert_failed_have_no_wrong_effect(long failed, string? collection, string text)
    {
        OperationResult insert = RunParts.Result("insert") with
        {
            IsInsert = true, Collection = collection, Accounting = new Accounting(100, 100 - failed, failed, 0),
        };
        OperationResult update = RunParts.Result("update") with
        {
            Collection = "orders", Errors = [new ErrorCount(0, ErrorCount.NothingChanged, 66, "update changed nothing", [])],
        };
        PhaseRecord phase = RunParts.Phase(1, "work", insert) with { Operations = [insert, update] };
        _run.Store.BeginPhase(phase with { IsComplete = false }, continues: false);
        _run.Store.EndPhase(phase);
        Assert.Contains(RunVerdicts.Of(_run.End()), verdict => verdict.Text.Contains(text, StringComparison.Ordinal));
    }

    /// <summary>A phase of 30 s with two peaks on a machine that is busy.</summary>
    /// <param name="ofResult">Of its operation.</param>
    /// <param name="fast">The fast peak, microseconds; the slow one is at 909.</param>
    private void TwoPeaked(Func<OperationResult, OperationResult> ofResult, double fast)
    {
        _run.Phase("watch", [.. Enumerable.Repeat(1000.0, 30)], ofResult: ofResult, latencies: _ =>
        {
            var histogram = new LatencyHistogram();
            histogram.AddCount(LatencyHistogram.IndexOf((long)(fast * 1000)), 400);
            histogram.AddCount(LatencyHistogram.IndexOf(909_000), 600);
            return histogram;
        });
        double idle = 0, used = 0;
        _run.Host(0, 34, _ => [("cpu_user", used += 7.9e6), ("cpu_idle", idle += 0.1e6), ("client_cpu_user", used)]);
    }

    private static (string Metric, double Value)[] Sound(int uptime) =>
    [
        ("uptime", uptime), ("cache_max", 1e9), ("tickets_read_available", 128), ("tickets_write_available", 128),
        ("connections_available", 1000),
    ];

    private readonly record struct Sampled(double From, double Seconds, long Operations)
    {
        public bool IsDown { get; init; }

        /// <summary>Microseconds.</summary>
        public double Max { get; init; } = 2000;
    }

    private void Store(string name, IEnumerable<Sampled> samples, Func<OperationResult, OperationResult>? change = null)
    {
        Sampled[] all = [.. samples];
        OperationResult result = RunParts.Result(name, 2, all.Sum(sample => sample.Operations));
        PhaseRecord phase = RunParts.Phase(1, name, change?.Invoke(result) ?? result);
        _run.Store.BeginPhase(phase with { IsComplete = false }, continues: false);
        foreach (Sampled sample in all)
        {
            _run.Store.AddSample(RunParts.Sample(1, name) with
            {
                AtMilliseconds = ScriptedRun.At(sample.From + sample.Seconds), Phase = 1, Seconds = sample.Seconds,
                Operations = sample.Operations, Documents = sample.Operations, HasOutage = sample.IsDown, CollectionDocuments = 1000,
                LatencyMicroseconds = RunParts.Latency(1500) with { P99 = sample.Max, P999 = sample.Max, Max = sample.Max },
            });
        }

        _run.Store.EndPhase(phase);
    }
}
