using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Load.Growth;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>What a phase counts and times, on a clock that is known to the microsecond.</summary>
public sealed class PhaseMeasurementTests : PhaseTest
{
    [Fact]
    public void Rates_are_exact_and_leave_the_warm_up_out()
    {
        GroupResult result = Run(Queries with { Seconds = 2, WarmupSeconds = 0.5 }, _ => Scripted.Ok());
        Assert.Equal(new Accounting(2000, 2000, 0, 0), result.Accounting);
        Assert.Equal(1500, result.Operations);
        Assert.Equal(15_000, result.Parts[0].Documents);
        Assert.Equal(15_000 * 1024, result.Parts[0].Bytes);
        Assert.Equal(1.5, result.Seconds);
        Assert.Equal(0.5, result.WarmupSeconds);
        Assert.Equal(500, result.Parts[0].WarmupService.TotalCount);
        Assert.Equal(1500, result.Parts[0].Service.TotalCount);
        Assert.False(result.WasStopped);
        Assert.Null(result.GivenUp);
    }

    [Fact]
    public void Each_servers_share_is_what_it_did_of_the_measured_operations()
    {
        // The 1,500th operation breaks the connection, and the next one leads elsewhere; 500 are warm-up, and the one that
        // failed counts nowhere.
        GroupResult result = Run(
            Queries with { Seconds = 2, WarmupSeconds = 0.5 }, () => new ScriptedExecutor(Clock,
                i => i == 1499 ? Scripted.Broken() : Scripted.Ok()) { Member = connects => $"server {connects}" });
        Assert.Equal(
            [new MemberShare("server 1", 999), new MemberShare("server 2", 500)], result.Parts[0].Members);
        Assert.Equal(result.Operations, result.Parts[0].Members.Sum(share => share.Operations));
        Assert.Empty(Run(Queries with { Count = 10 }, _ => Scripted.Ok()).Parts[0].Members);
    }

    [Fact]
    public void The_busiest_server_comes_first_and_equally_busy_ones_by_their_names()
    {
        GroupResult result = Run(
            Queries with { Count = 11 }, () => new ScriptedExecutor(Clock, i => i is 2 or 5 ? Scripted.Broken() : Scripted.Ok())
            {
                Member = connects => connects switch { 1 => "b", 2 => "a", _ => "c" },
            });
        Assert.Equal([new MemberShare("c", 5), new MemberShare("a", 2), new MemberShare("b", 2)], result.Parts[0].Members);
    }

    /// <summary>An event counts where its reply came; a gap is a gap whenever it is.</summary>
    [Fact]
    public void Events_that_a_watcher_saw_are_operations_with_their_delays()
    {
        var log = new ChangeLog();
        var watch = new WatchChanges("watch", "series", SeriesFile.Documents());
        GroupResult result = Run(
            Queries with { Operations = [new(watch, 1)], Seconds = 2, WarmupSeconds = 1, FirstThread = 1 },
            () => new ScriptedExecutor(Clock, i =>
            {
                log.Clear();
                (log.Events, log.Bytes, log.Duplicated, log.Misordered, log.Resumed) = (4, 400, 1, i == 1 ? 1 : 0, i == 8 ? 2 : 0);
                log.Add((i + 1) * 1000);
                return i == 3 ? Scripted.Refused(234, "RetryChangeStream", seconds: 0.2) : Scripted.Ok(0.2);
            })
            {
                Changes = log,
                Member = _ => "secondary",
                OnComplete = () =>
                {
                    log.Clear();
                    (log.Events, log.Missing, log.Unsettled) = (1, 3, 2);
                },
            });
        // The first five end within the warm-up; the last event came while the rest was waited for.
        OperationCount part = result.Parts[0];
        Assert.Equal((5, 5), (part.WarmupService.TotalCount, part.Service.TotalCount));
        Assert.Equal((6_000, 10_000), (part.Service.Minimum!.Value, part.Service.Maximum!.Value), Close);
        Assert.Equal((21, 21, 2000), (part.Operations, part.Documents, part.Bytes));
        Assert.Equal(new ChangeResult(Followed: 10, Others: 21, Missing: 3, Duplicated: 10, Misordered: 1, Resumed: 2, Unsettled: 2),
            part.Changes);
        Assert.Equal((42, 41, 1), (result.Accounting.Scheduled, result.Accounting.Succeeded, result.Accounting.Failed));
        Assert.Equal([new MemberShare("secondary", 41)], part.Members);
    }

    private static bool Close((double Least, double Most) one, (double Least, double Most) other) =>
        Math.Abs(one.Least - other.Least) < one.Least / 100 && Math.Abs(one.Most - other.Most) < one.Most / 100;

    [Fact]
    public void A_fence_that_breaks_is_an_error_after_the_time_that_it_took()
    {
        GroupResult result = Run(Queries with { Count = 3 }, () => new ScriptedExecutor(Clock, _ => Scripted.Ok())
        {
            CompleteSeconds = 0.25, OnComplete = () => throw new ConnectionFailedException(Scripted.Server, "reset"),
        });
        ErrorCount error = Assert.Single(result.Parts[0].Errors);
        Assert.Equal(("NetworkError", 1L, (double?)250_000), (error.Name, error.Count, error.SlowestMicroseconds));
        Assert.Equal(3, result.Accounting.Succeeded);
    }

    [Fact]
    public void Arrivals_after_the_last_number_are_not_skipped()
    {
        GroupResult result = Run(Inserts("safe", 10) with { Seconds = 5, Rate = 10 }, _ => Scripted.Ok());
        Assert.Equal(new Accounting(10, 10, 0, 0), result.Accounting);
    }

    [Fact]
    public void A_window_limits_starts_and_not_ends()
    {
        GroupResult result = Run(Queries with { Seconds = 1 }, _ => Scripted.Ok(0.3));
        Assert.Equal([0, 0.3, 0.6, 0.9], Executors[0].StartTimes);
        Assert.Equal(4, result.Operations);
        Assert.Equal(1.2, result.Seconds);
    }

    [Fact]
    public void An_operation_belongs_to_the_part_in_which_it_ends()
    {
        GroupResult result = Run(Queries with { Seconds = 2, WarmupSeconds = 1 }, _ => Scripted.Ok(0.6));
        // Starts at 0, 0.6, 1.2 and 1.8.
        Assert.Equal(1, result.Parts[0].WarmupService.TotalCount);
        Assert.Equal(3, result.Operations);
        Assert.Equal(new OperationsInFlight(1, 600_000), result.Parts[0].InFlightAtStart);
        Assert.Null(result.Parts[0].InFlightAtEnd);
        Assert.Equal(2.4 - 1, result.Seconds, 9);
    }

    [Fact]
    public void Percentiles_are_those_of_the_scripted_latencies()
    {
        // 1 to 1,000 ms, not in order.
        GroupResult result = Run(Queries with { Count = 1000 }, i => Scripted.Ok(((i * 7 % 1000) + 1) * MillisecondSeconds));
        foreach (double percent in new[] { 1, 50, 90, 95, 99, 99.9, 100 })
            Assert.InRange(result.Parts[0].Service.ValueAtPercentile(percent)!.Value / (percent * 10_000), 1, 1.001);
        Assert.Equal(500_500, result.Parts[0].Service.Mean!.Value, 500.0);
    }

    [Fact]
    public void Intervals_last_a_second_and_add_up_to_the_totals()
    {
        GroupResult result = Run(
            Queries with { Seconds = 3.5, WarmupSeconds = 1.25 }, i => Scripted.Ok((1 + (i % 7)) * MillisecondSeconds));
        Assert.Equal([0.25, 1.25, 2.25, 3.25], Log.Intervals.SkipLast(1).Select(i => i.Until));
        Assert.Equal(result.Accounting.Succeeded, Log.Intervals.Sum(i => i.Operations));
        Assert.Equal(result.AllDocuments, Log.Intervals.Sum(i => i.Documents));
        Assert.Equal(result.Accounting.Succeeded, Log.Intervals.Sum(i => i.Recorded));
        Assert.Equal(result.Seconds + result.WarmupSeconds, Log.Intervals.Sum(i => i.Seconds), 9);
        // Queries make no collection larger.
        Assert.All(Log.Intervals, i => Assert.Equal(0, i.CollectionDocuments));
    }

    [Fact]
    public void No_interval_holds_warm_up_and_measured_part()
    {
        Run(Queries with { Seconds = 4, WarmupSeconds = 1.5 }, _ => Scripted.Ok(Clock.Seconds < 1.5 ? 0.001 : 0.005));
        Assert.Equal([0.5, 1.5], Log.Intervals.Where(i => i.IsWarmup).Select(i => i.Until));
        Assert.All(Log.Intervals,
            i => Assert.InRange(i.IsWarmup ? i.Most!.Value : i.Least!.Value, i.IsWarmup ? 1000 : 4990, i.IsWarmup ? 1001 : 5000));
    }

    [Fact]
    public void Failures_are_never_in_the_latency_of_successes()
    {
        GroupResult result = Run(Queries with { Count = 90 }, i => (i % 3) switch
        {
            0 => Scripted.Ok(),
            1 => Scripted.Refused(50, "MaxTimeMSExpired", seconds: 0.5),
            _ => Scripted.Broken(0.7),
        });
        Assert.Equal(new Accounting(90, 30, 60, 0), result.Accounting);
        Assert.Equal(60, result.Failed);
        Assert.Equal(30, result.Parts[0].Service.TotalCount);
        Assert.InRange(result.Parts[0].Service.Maximum!.Value, 1000, 1001);
    }

    [Fact]
    public void A_count_includes_the_warm_up_and_all_threads()
    {
        GroupResult result = Run(Queries with { Count = 1000, Threads = 4, WarmupSeconds = 0.2 }, _ => Scripted.Ok());
        Assert.Equal(new Accounting(1000, 1000, 0, 0), result.Accounting);
        Assert.Equal(4, Executors.Count);
        Assert.Equal(1000, Executors.Sum(e => e.StartTimes.Count));
        Assert.Equal(1000, result.Operations + result.Parts[0].WarmupService.TotalCount);
        Assert.All(Executors, e => Assert.True(e.WasDisposed));
    }

    [Fact]
    public void An_insert_phase_ends_with_its_numbers()
    {
        var stored = new List<long>();
        GroupResult result = Run(Inserts("batch", 25, batch: 10), () => new ScriptedExecutor(Clock, _ => Scripted.Ok())
        {
            Store = (_, number) =>
            {
                stored.Add(number);
                return true;
            },
        });
        Assert.Equal(Enumerable.Range(0, 25).Select(n => (long)n), stored);
        Assert.Equal(new Accounting(3, 3, 0, 0), result.Accounting);
        Assert.Equal(25, result.AllDocuments);
    }

    /// <summary>Otherwise an acknowledged test would leave a hole that nobody looks for.</summary>
    [Fact]
    public void Numbers_that_were_drawn_are_always_sent()
    {
        var stored = new List<long>();
        GroupPlan plan = Inserts("safe", 100) with { Seconds = 1 };
        // The second is drawn from 0.6 s on and ready at the very end of the window.
        Run(plan, () => new ScriptedExecutor(Clock, _ => Scripted.Ok(0.2))
        {
            DrawSeconds = 0.4,
            Store = (_, number) =>
            {
                stored.Add(number);
                return true;
            },
        });
        Assert.Equal([0, 1], stored);
        Assert.Equal(2, plan.Numbers!.Next);
    }

    [Fact]
    public void Nothing_starts_after_a_verification_or_a_pause_that_outlasts_the_window()
    {
        Run(Queries with { Seconds = 1, VerifyShare = 1 },
            () => new ScriptedExecutor(Clock, _ => Scripted.Ok(0.1)) { VerifySeconds = 0.5 });
        Assert.Equal([0, 0.6], Executors[0].StartTimes);
        double windowStart = Clock.Seconds;
        Run(Queries with { Seconds = 1 }, () =>
        {
            ScriptedExecutor? executor = null;
            executor = new ScriptedExecutor(Clock, _ =>
            {
                executor!.ConnectFailures = 6;
                return Scripted.Broken(0.1);
            });
            return executor;
        });
        Assert.Equal([windowStart], Executors[1].StartTimes);
    }

    [Fact]
    public void The_fence_of_unacknowledged_inserts_is_drain_time_and_part_of_the_length()
    {
        GroupResult result = Run(Inserts("unack", 1000), () => new ScriptedExecutor(Clock, _ => Scripted.Ok()) { CompleteSeconds = 0.25 });
        Assert.Equal(0.25, result.DrainSeconds);
        Assert.Equal(1.25, result.Seconds);
    }

    [Fact]
    public void The_fence_counts_whole_where_a_rate_ends_the_window_before_it()
    {
        GroupResult result = Run(Inserts("unack", 1000) with { Rate = 100, Seconds = 2 },
            () => new ScriptedExecutor(Clock, _ => Scripted.Ok()) { CompleteSeconds = 0.25 });
        Assert.Equal(0.25, result.DrainSeconds, 6);
        Assert.Equal(2, result.Seconds, 3);
    }

    [Fact]
    public void After_the_last_of_a_count_nobody_thinks() =>
        Assert.Equal(
            20.003, Run(Queries with { Count = 3, Think = new ThinkTime(10, 0) }, _ => Scripted.Ok()).Seconds, 6);

    [Theory]
    [InlineData(0)]
    [InlineData(0.1)]
    public void How_late_thinking_threads_are_woken_is_counted_and_only_there(double late)
    {
        GroupPlan thinking = Queries with { Count = 5, Think = new ThinkTime(1, 0) };
        Assert.Equal(4 * late, RunLate(thinking).OversleptSeconds!.Value, 6);
        // Of four pauses one ends within the warm-up.
        Assert.Equal(3 * late, RunLate(thinking with { WarmupSeconds = 1.5 }).OversleptSeconds!.Value, 6);
        Assert.Null(RunLate(Queries with { Count = 5 }).OversleptSeconds);

        GroupResult RunLate(GroupPlan plan) => new GroupRunner(
            new LateClock(Clock, Clock.TicksOf(late)), (_, _) => new ScriptedExecutor(Clock, _ => Scripted.Ok())).Run(plan, Log, default);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Whoever_waits_ends_when_the_group_is_stopped(bool thinks)
    {
        using var stop = new CancellationTokenSource();
        using IDisposable alarm = Clock.Schedule(Clock.TicksPerSecond / 2, () =>
        {
            stop.Cancel();
            return long.MaxValue;
        });
        GroupPlan plan = Queries with { Threads = 3, Seconds = 3600 };
        new GroupRunner(Clock, (_, _) => new ScriptedExecutor(Clock, _ => Scripted.Ok())).Run(
            thinks ? plan with { Think = new ThinkTime(1000, 0) } : plan with { Rate = 0.001 }, Log, stop.Token);
        Assert.Equal(0.5, Clock.Seconds);
    }

    /// <summary>A machine that wakes its threads late.</summary>
    private sealed class LateClock(ManualClock clock, long late) : IClock
    {
        public long Now => clock.Now;

        public long TicksPerSecond => clock.TicksPerSecond;

        public DateTimeOffset UtcNow => clock.UtcNow;

        public void SleepUntil(long ticks) => clock.SleepUntil(ticks > clock.Now ? ticks + late : ticks);

        public IDisposable Schedule(long firstDue, Func<long> tick) => clock.Schedule(firstDue, tick);

        public IParker CreateParker() => new LateParker(clock.CreateParker(), late);

        private sealed class LateParker(IParker parker, long late) : IParker
        {
            public void ParkUntil(long ticks) => parker.ParkUntil(ticks == long.MaxValue ? ticks : ticks + late);

            public void Unpark() => parker.Unpark();
        }
    }

    [Fact]
    public void After_the_last_of_a_count_nobody_waits_for_the_next_shift() =>
        Assert.Equal(
            0.002, Run(Queries with { Count = 2, ThreadSteps = [new(0, 1), new(0.002, 0), new(60, 1)] }, _ => Scripted.Ok()).Seconds, 6);

    [Fact]
    public void What_connections_carried_adds_up_with_the_warm_up()
    {
        GroupResult result = Run(Queries with { Count = 4, Threads = 2 }, () =>
            new ScriptedExecutor(Clock, _ => Scripted.Ok()) { Traffic = new TrafficCounters(100, 50, 4000, 900), Compressor = "zstd" });
        Assert.Equal(new GroupTraffic(4 * 10 * 1024, 200, 100, 8000, 1800) { Compressor = "zstd" }, result.Traffic);
    }

    [Fact]
    public void A_client_that_counts_no_traffic_has_none() => Assert.Null(Run(Queries with { Count = 1 }, _ => Scripted.Ok()).Traffic);

    [Fact]
    public void Acknowledged_inserts_have_nothing_to_drain() =>
        Assert.Equal(0, Run(Inserts("safe", 10), _ => Scripted.Ok()).DrainSeconds);

    [Theory]
    [InlineData(0, 0, 0)]
    [InlineData(1, 500, 5000)]
    [InlineData(0.1, 30, 75)]
    public void The_share_asked_for_is_verified(double share, long leastReplies, long mostDocuments)
    {
        GroupResult result = Run(Queries with { Count = 500, VerifyShare = share },
            () => new ScriptedExecutor(Clock, _ => Scripted.Ok()) { Verification = new(10, 1) });
        Assert.InRange(result.Wrong, leastReplies, Math.Max(leastReplies, mostDocuments / 10 * (share < 1 ? 10 : 1)));
        Assert.Equal(result.Wrong * 10, result.Parts[0].Verified);
    }

    [Fact]
    public void Failed_operations_are_not_verified() =>
        Assert.Equal(0, Run(Queries with { Count = 20, VerifyShare = 1 }, _ => Scripted.Refused(1, "InternalError")).Parts[0].Verified);

    [Fact]
    public void With_a_rate_exactly_that_many_operations_start()
    {
        GroupResult result = Run(Queries with { Seconds = 2, Rate = 100 }, _ => Scripted.Ok(0.0001));
        Assert.Equal(new Accounting(200, 200, 0, 0), result.Accounting);
        Assert.All(Executors.SelectMany(e => e.StartTimes), start => Assert.True(start < 2, $"started at {start} s"));
    }

    /// <summary>A backlog from the warm-up must not leave the window without a figure.</summary>
    [Fact]
    public void What_starts_in_the_window_is_measured_though_it_was_due_in_the_warm_up()
    {
        GroupResult result = Run(Queries with { Seconds = 2, WarmupSeconds = 1, Rate = 1000 }, _ => Scripted.Ok(0.002));
        Assert.InRange(result.Parts[0].WarmupService.TotalCount, 500, 501);
        Assert.InRange(result.Parts[0].Service.TotalCount, 499, 530);
    }

    [Fact]
    public void With_a_rate_nothing_starts_before_its_time()
    {
        GroupResult result = Run(Queries with { Seconds = 1, Rate = 4 }, _ => Scripted.Ok());
        Assert.Equal([0, 0.25, 0.5, 0.75], Executors[0].StartTimes);
        Assert.Equal(4, result.Parts[0].Response!.TotalCount);
        // The last operation is followed by waiting for the window's end.
        Assert.Equal(1, result.Seconds);
    }

    [Fact]
    public void An_operation_that_was_meant_for_later_than_the_end_does_not_start()
    {
        GroupResult result = Run(Queries with { Seconds = 1, Rate = 0.5 }, _ => Scripted.Ok());
        Assert.Equal([0], Executors[0].StartTimes);
        Assert.InRange(result.Parts[0].Response!.Minimum!.Value, 999, 1000);
    }

    /// <summary>The classical example of coordinated omission: one stall of 500 ms among operations of 1 ms, 100 a second.</summary>
    [Fact]
    public void A_stall_shows_in_response_times_and_hides_in_service_times()
    {
        GroupResult result = Run(Queries with { Seconds = 2, Rate = 100 }, i => Scripted.Ok(i == 50 ? 0.5 : 0.001));
        Assert.Equal(200, result.Operations);
        // One operation in 200 was slow…
        Assert.InRange(result.Parts[0].Service.ValueAtPercentile(99)!.Value, 1000, 1001);
        // …but 55 had to wait for it, from 500 ms down in steps of 9 ms; the 20th longest is 329 ms.
        Assert.InRange(result.Parts[0].Response!.ValueAtPercentile(90.5)!.Value, 329_000, 329_400);
        Assert.InRange(result.Parts[0].Response!.Maximum!.Value, 500_000, 500_500);
    }

    [Fact]
    public void Response_time_is_never_less_than_service_time()
    {
        var random = new Random(7);
        GroupResult result = Run(Queries with { Seconds = 5, Rate = 50 }, _ => Scripted.Ok(random.NextDouble() * 0.03));
        for (double percent = 0; percent <= 100; percent += 2.5)
            Assert.True(result.Parts[0].Response!.ValueAtPercentile(percent) >= result.Parts[0].Service.ValueAtPercentile(percent),
                $"at {percent} %");
    }

    /// <summary>Else a server that is too slow for the rate looks as if less had been asked of it.</summary>
    [Fact]
    public void Arrivals_that_found_no_time_in_the_window_are_skipped()
    {
        GroupResult result = Run(Queries with { Seconds = 1, Rate = 100 }, _ => Scripted.Ok(0.02));
        // 50 ms after its end the last ones may still start, and the rate is taken over the time in which operations started.
        Assert.Equal(new Accounting(100, 53, 0, 47), result.Accounting);
        Assert.Equal(1.04, result.Seconds, 9);
        Assert.Equal(52, result.Waiting!.Arrivals);
        Assert.Equal(1.04 - 0.01, result.Waiting.Seconds, 9);
    }

    [Fact]
    public void What_was_due_and_not_started_is_skipped_also_when_a_phase_is_stopped_and_when_it_has_a_count()
    {
        using var stop = new CancellationTokenSource();
        GroupResult stopped = Run(Queries with { Seconds = 10, Rate = 100 }, i =>
        {
            if (i == 20)
                stop.Cancel();
            return Scripted.Ok(0.02);
        }, stop.Token);
        // Stopped at 0.4 s; what was due in the 50 ms before that was about to start.
        Assert.Equal(new Accounting(35, 21, 0, 14), stopped.Accounting);
        Assert.Equal(new Accounting(30, 30, 0, 0), Run(Queries with { Count = 30, Rate = 100 }, _ => Scripted.Ok(0.02)).Accounting);
        Assert.Equal(
            new Accounting(80, 53, 0, 27), Run(Queries with { Count = 80, Seconds = 1, Rate = 100 }, _ => Scripted.Ok(0.02)).Accounting);
    }

    [Fact]
    public void Replies_with_fewer_documents_than_the_limit_are_counted()
    {
        GroupResult result = Run(Queries with { Count = 100, WarmupSeconds = 0.01 }, i => (i % 10) switch
        {
            0 => Scripted.Ok() with { Found = 0 },
            1 => Scripted.Ok() with { Found = 9 },
            2 => Scripted.Refused(1, "InternalError"),
            _ => Scripted.Ok(),
        });
        // Of each ten, two; the first ten are the warm-up.
        Assert.Equal((18, 0), (result.Parts[0].ShortReplies, result.Operations - 81));
    }

    [Fact]
    public void Reads_that_find_nothing_are_counted()
    {
        GroupResult result = Run(Queries with { Count = 100, WarmupSeconds = 0.01 }, i => (i % 10) switch
        {
            0 => Scripted.Ok() with { Found = 0 },
            2 => Scripted.Refused(1, "InternalError"),
            _ => Scripted.Ok(),
        });
        // Of each ten, one; the first ten are the warm-up.
        Assert.Equal(new EffectResult(9, null, null), result.Parts[0].Effect);
        Assert.Null(Run(Inserts("batch", 25, batch: 10), _ => Scripted.Ok()).Parts[0].Effect);
    }

    [Fact]
    public void Inserts_have_no_short_replies() =>
        Assert.Equal(0, Run(Inserts("batch", 25, batch: 10), _ => Scripted.Ok()).Parts[0].ShortReplies);

    [Fact]
    public void What_ended_within_its_warm_up_has_no_rates()
    {
        using var stop = new CancellationTokenSource();
        using var run = new GrowthHarness { Text = GrowthHarness.Users
            + "phases:\n  - {name: read, duration: 10s, warmup: 2s, operations: [{find: users, key: uniform}]}\n" };
        Assert.False(run.Run(i =>
        {
            if (i == 100)
                stop.Cancel();
            return Scripted.Ok();
        }, stop.Token));
        OperationResult result = run.Records.Single(r => r.Phase == "read").Operations.Single();
        Assert.Equal((0, 0.0, 0.0, 0.0, 0.0, 0.0), (result.Operations, result.Seconds, result.OperationsPerSecond,
            result.DocumentsPerSecond, result.MegabytesPerSecond, result.ClientCpuCores));
        Assert.Equal(100, result.Accounting.Succeeded);
    }

    [Fact]
    public void A_closed_loop_has_no_response_times() => Assert.Null(Run(Queries with { Count = 3 }, _ => Scripted.Ok()).Parts[0].Response);
}
