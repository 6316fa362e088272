using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>What becomes of a phase when operations fail, connections break, workers die and people lose patience.</summary>
public sealed class PhaseFailureTests : PhaseTest
{
    [Fact]
    public void What_an_early_stop_leaves_of_a_count_is_skipped()
    {
        using var stop = new CancellationTokenSource();
        GroupResult result = Run(Queries with { Count = 100 }, i => StopAt(stop, i, 30), stop.Token);
        // The operation under way is waited for.
        Assert.Equal(new Accounting(100, 31, 0, 69), result.Accounting);
        Assert.True(result.WasStopped);
        Assert.Null(result.GivenUp);
    }

    [Fact]
    public void A_stopped_window_skips_nothing()
    {
        using var stop = new CancellationTokenSource();
        GroupResult result = Run(Queries with { Seconds = 10 }, i => StopAt(stop, i, 30), stop.Token);
        Assert.Equal(new Accounting(31, 31, 0, 0), result.Accounting);
    }

    [Fact]
    public void A_stop_before_the_start_does_nothing()
    {
        GroupResult result = Run(Queries with { Count = 10 }, _ => Scripted.Ok(), new CancellationToken(canceled: true));
        Assert.Equal(new Accounting(10, 0, 0, 10), result.Accounting);
        Assert.True(result.WasStopped);
    }

    [Fact]
    public void A_stop_does_not_wait_for_a_low_rate()
    {
        using var stop = new CancellationTokenSource();
        var log = new PhaseLog(Clock) { Then = _ => stop.Cancel() };
        GroupResult result = new GroupRunner(Clock, (_, _) => new ScriptedExecutor(Clock, _ => Scripted.Ok()))
            .Run(Queries with { Count = 5, Rate = 0.001 }, log, stop.Token);
        Assert.Equal(new Accounting(5, 1, 0, 4), result.Accounting);
        Assert.InRange(Clock.Seconds, 1, 1.2);
    }

    [Fact]
    public void A_broken_connection_is_made_again_with_a_bounded_back_off()
    {
        GroupResult result = Run(Queries with { Count = 10 }, () =>
        {
            ScriptedExecutor? executor = null;
            executor = new ScriptedExecutor(Clock, i =>
            {
                if (i != 3)
                    return Scripted.Ok();
                executor!.ConnectFailures = 8;
                return Scripted.Broken(0.017);
            });
            return executor;
        });
        // Lost at 0.02 s; tried at once, then after 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2 and 2 s.
        double[] tries = [0.02, 0.07, 0.17, 0.37, 0.77, 1.57, 3.17, 5.17, 7.17];
        Assert.Equal(tries, Executors[0].ConnectTimes.Skip(1).Select(t => Math.Round(t, 6)));
        Assert.Equal(new Accounting(10, 9, 1, 0), result.Accounting);
        (string kind, string text, double? seconds) = Assert.Single(Log.Events);
        Assert.Equal("reconnect", kind);
        Assert.Equal("scripted:27017: connection closed by the server; connected again after 7.15 s", text);
        Assert.Equal(7.15, seconds!.Value, 9);
    }

    [Fact]
    public void A_server_that_takes_no_writes_any_more_is_left_for_the_one_that_does()
    {
        GroupResult result = Run(
            Inserts("safe", 10), i => i == 3 ? Scripted.Refused(10107, "NotWritablePrimary", "not primary") : Scripted.Ok());
        Assert.Equal(2, Executors[0].ConnectTimes.Count);
        Assert.Equal(new Accounting(10, 9, 1, 0), result.Accounting);
        Assert.StartsWith("not primary; connected again after", Assert.Single(Log.Events).Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(91, "ShutdownInProgress")]
    [InlineData(189, "PrimarySteppedDown")]
    [InlineData(11602, "InterruptedDueToReplStateChange")]
    public void An_operation_that_a_server_interrupted_which_is_there_is_an_error_and_no_outage(int code, string name)
    {
        GroupResult result = Run(Inserts("safe", 10), i => i == 3 ? Scripted.Refused(code, name, "interrupted") : Scripted.Ok());
        Assert.Equal(new Accounting(10, 9, 1, 0), result.Accounting);
        Assert.Equal(code, Assert.Single(result.Parts[0].Errors).Code);
        Assert.Empty(Log.Events);
    }

    [Fact]
    public void Threads_that_lose_their_server_together_are_one_event()
    {
        var log = new PhaseLog(Clock);
        var lost = new LostThreads(Clock, log);
        lost.Lose("db1:27017: connection closed by the server");
        Clock.Advance(1);
        lost.Lose("db1:27017: connection refused");
        lost.Lose("db1:27017: connection refused");
        Clock.Advance(8);
        lost.Return(isTold: true);
        lost.Return(isTold: false);
        Assert.Empty(log.Events);
        Clock.Advance(0.25);
        lost.Return(isTold: true);
        Assert.Equal(("reconnect", "db1:27017: connection closed by the server; 2 threads connected again after 9.25 s", 9.25),
            Assert.Single(log.Events));
        lost.Lose("again");
        lost.Return(isTold: false);
        Assert.Single(log.Events);
    }

    [Theory]
    [InlineData(133, "FailedToSatisfyReadPreference")]
    [InlineData(6, "HostUnreachable")]
    public void A_shard_that_is_away_is_one_outage_from_the_first_failure_to_the_next_success(int code, string name)
    {
        GroupResult result = Run(
            Inserts("safe", 10), i => i is >= 3 and < 5 ? Scripted.Refused(code, name, "no primary of s1", seconds: 15) : Scripted.Ok());
        Assert.Equal(new Accounting(10, 8, 2, 0), result.Accounting);
        (string kind, string text, double? seconds) = Assert.Single(Log.Events);
        Assert.Equal("outage", kind);
        Assert.Equal($"no primary of s1 (code {code}); answered again after 30.00 s, 2 failed", text);
        // Two that waited, what the client paused in between, and the one that succeeded.
        Assert.InRange(seconds!.Value, 30.001, 30.01);
        // The router is asked anew each time: whoever starts a shard again does so then.
        Assert.Equal(3, Executors[0].ConnectTimes.Count);
        Assert.Contains(Log.Intervals, i => i.HasOutage);
        Assert.False(Log.Intervals[^1].HasOutage);
    }

    [Fact]
    public void An_outage_that_outlasts_the_test_is_told_all_the_same()
    {
        Run(Queries with { Seconds = 20 },
            i => i < 3 ? Scripted.Ok() : Scripted.Refused(133, "FailedToSatisfyReadPreference", "no primary of s1", seconds: 15));
        Assert.Contains("not yet over when the test ended after 30.0", Assert.Single(Log.Events).Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Seconds_without_a_connection_are_marked()
    {
        Run(Queries with { Seconds = 6 }, () =>
        {
            ScriptedExecutor? executor = null;
            executor = new ScriptedExecutor(Clock, _ =>
            {
                if (executor!.ConnectTimes.Count > 1 || Clock.Seconds < 1.5)
                    return Scripted.Ok(0.1);
                // Back after 0.05 + 0.1 + 0.2 + 0.4 + 0.8 s.
                executor.ConnectFailures = 5;
                return Scripted.Broken(0.1);
            });
            return executor;
        });
        Assert.Equal([false, true, true, false, false], Log.Intervals.Take(5).Select(i => i.HasOutage));
    }

    [Fact]
    public void A_server_that_stays_away_is_given_up_after_the_time_for_that()
    {
        GroupResult result = Run(Queries with { Count = 10, ReconnectFor = TimeSpan.FromSeconds(10) }, () =>
        {
            ScriptedExecutor? executor = null;
            executor = new ScriptedExecutor(Clock, i =>
            {
                executor!.ConnectFailures = i == 4 ? int.MaxValue : 0;
                return i == 4 ? Scripted.Broken() : Scripted.Ok();
            });
            return executor;
        });
        Assert.IsType<ConnectionFailedException>(result.GivenUp);
        Assert.Contains("connection refused", result.GivenUp.Message, StringComparison.Ordinal);
        Assert.Equal(new Accounting(10, 4, 1, 5), result.Accounting);
        Assert.InRange(Clock.Seconds, 10, 12.1);
    }

    [Theory]
    [InlineData(3, "connection closed by the server", true)]
    [InlineData(0, "connection closed by the server", false)]
    [InlineData(3, "connection refused (nothing listens there)", false)]
    public void A_server_that_takes_no_more_connections_is_told_from_one_that_is_away(int taken, string failure, bool isLimit)
    {
        int opened = 0;
        var e = Assert.ThrowsAny<ConnectionFailedException>(() => Run(
            Queries with { Count = 10, Threads = 5, ReconnectFor = TimeSpan.FromSeconds(60) },
            () => new ScriptedExecutor(Clock, _ => Scripted.Ok())
            {
                ConnectFailures = opened++ < taken ? 0 : int.MaxValue, ConnectFailure = failure,
            }));
        Assert.Equal($"{Scripted.Server}: {failure}{(isLimit ? ", while 3 of 5 threads are connected" : "")}", e.Message);
        Assert.Equal(isLimit, e.Hint!.Contains("net.maxIncomingConnections", StringComparison.Ordinal));
        Assert.InRange(Clock.Seconds, isLimit ? 10 : 60, isLimit ? 12.1 : 62.1);
    }

    [Fact]
    public void A_stop_ends_reconnecting()
    {
        using var stop = new CancellationTokenSource();
        var log = new PhaseLog(Clock) { Then = interval => Stop(stop, interval.HasOutage) };
        ScriptedExecutor? gone = null;
        gone = new ScriptedExecutor(Clock, _ =>
        {
            gone!.ConnectFailures = int.MaxValue;
            return Scripted.Broken();
        });
        GroupResult result = new GroupRunner(Clock, (_, _) => gone).Run(Queries with { Count = 10 }, log, stop.Token);
        Assert.Null(result.GivenUp);
        Assert.Equal(new Accounting(10, 0, 1, 9), result.Accounting);
        Assert.InRange(Clock.Seconds, 1, 1.2);
    }

    [Fact]
    public void Errors_are_counted_by_code_and_name_with_the_first_message()
    {
        GroupResult result = Run(Queries with { Count = 12 }, i => (i % 4) switch
        {
            0 => Scripted.Refused(11000, "DuplicateKey", $"key {i}"),
            1 => Scripted.Refused(50, "MaxTimeMSExpired", $"late {i}"),
            2 => i == 2 ? Scripted.Broken() : Scripted.Refused(11000, "DuplicateKey", $"key {i}"),
            _ => Scripted.Ok(),
        });
        Assert.Equal(
            [
                (11000, "DuplicateKey", 5L, "key 0"),
                (50, "MaxTimeMSExpired", 3L, "late 1"),
                (0, "NetworkError", 1L, "scripted:27017: connection closed by the server"),
            ],
            result.Errors.Select(e => (e.Code, e.Name, e.Count, e.FirstMessage)));
        Assert.Equal(9, result.Accounting.Failed);
    }

    [Fact]
    public void A_server_that_refuses_everything_is_not_drowned()
    {
        Run(Queries with { Seconds = 10 }, _ => Scripted.Refused(8000, "AtlasError", seconds: 0.0001));
        // From the tenth refusal in a row on there is a pause of 0.1 s before each.
        Assert.InRange(Executors[0].StartTimes.Count, 80, 120);
    }

    [Fact]
    public void A_write_that_did_nothing_is_counted_and_neither_waited_for_nor_given_up()
    {
        GroupResult result = Run(Queries with { Seconds = 10, ReconnectFor = TimeSpan.FromSeconds(1) },
            _ => Scripted.Refused(0, ErrorCount.NothingChanged, "matched 0 of 1 documents", seconds: 0.1));
        Assert.Null(result.GivenUp);
        Assert.Equal(
            (100L, ErrorCount.NothingChanged, 100L), (result.Accounting.Failed, result.Errors.Single().Name, result.Errors.Single().Count));
    }

    [Fact]
    public void A_server_that_refuses_everything_is_given_up_after_the_time_for_that()
    {
        GroupResult result = Run(
            Queries with { ReconnectFor = TimeSpan.FromSeconds(30) }, _ => Scripted.Refused(10107, "NotWritablePrimary", "not primary"));
        Exception failure = Assert.IsType<ServerRefusesException>(result.GivenUp);
        Assert.Equal(
            "the server has rejected every operation for 30 s; last error: not primary (code 10107 NotWritablePrimary)", failure.Message);
        Assert.InRange(Clock.Seconds, 30, 30.2);
        Assert.Equal(result.Accounting.Failed, Executors[0].StartTimes.Count);
        Assert.Equal(0, result.Accounting.Skipped);
    }

    [Theory]
    [InlineData(13, "Unauthorized")]
    [InlineData(59, "CommandNotFound")]
    [InlineData(0, "")]
    public void What_no_waiting_mends_ends_a_group_in_which_nothing_succeeded_at_once(int code, string name)
    {
        GroupResult result = Run(Queries with { Seconds = 100 }, _ => Scripted.Refused(code, name, "not for you"));
        Exception failure = Assert.IsType<ServerRefusesException>(result.GivenUp);
        Assert.StartsWith("the server rejects every operation: not for you (code", failure.Message, StringComparison.Ordinal);
        Assert.Single(Executors[0].StartTimes);
    }

    [Theory]
    [InlineData(null, 10)]
    [InlineData(2L, 6)]
    public void A_group_that_fills_a_collection_ends_with_more_duplicate_keys_than_may_be(long? allowed, int operations)
    {
        GroupResult result = Run(Queries with { Count = 10, MaxRefused = allowed },
            i => i % 2 == 0 ? Scripted.Ok() : Scripted.Refused(11000, "DuplicateKey", "E11000 … index: u_1"));
        Assert.Equal(operations, Executors[0].StartTimes.Count);
        if (allowed is null)
            Assert.Null(result.GivenUp);
        else
            Assert.EndsWith(": 3 documents can't be stored: E11000 … index: u_1",
                Assert.IsType<RefusedDocumentsException>(result.GivenUp).Message, StringComparison.Ordinal);
    }

    /// <summary>Found by a review: three of a batch were counted as one.</summary>
    [Theory]
    [InlineData(11000)]
    [InlineData(121)]
    public void Documents_count_and_not_commands(int code)
    {
        var refused = new ServerError(code, "any", "E11000 … index: u_1", []) { Documents = 3 };
        GroupResult result = Run(Queries with { Count = 10, MaxRefused = 5 }, _ => new Scripted(0.001, refused));
        Assert.Equal(2, Executors[0].StartTimes.Count);
        Assert.EndsWith(": 6 documents can't be stored: E11000 … index: u_1",
            Assert.IsType<RefusedDocumentsException>(result.GivenUp).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Behind_a_success_it_is_a_failure_like_any_other()
    {
        GroupResult result = Run(Queries with { Count = 5 }, i => i == 0 ? Scripted.Ok() : Scripted.Refused(13, "Unauthorized"));
        Assert.Null(result.GivenUp);
        Assert.Equal(new Accounting(5, 1, 4, 0), result.Accounting);
    }

    [Fact]
    public void One_success_among_refusals_keeps_a_worker_going()
    {
        GroupResult result = Run(Queries with { Seconds = 100, ReconnectFor = TimeSpan.FromSeconds(5) },
            i => i % 20 == 0 ? Scripted.Ok() : Scripted.Refused(1, "InternalError"));
        Assert.Null(result.GivenUp);
        Assert.InRange(Clock.Seconds, 100, 100.2);
    }

    [Fact]
    public void The_time_that_a_server_was_away_is_not_time_in_which_it_refused()
    {
        GroupResult result = Run(Queries with { Count = 30, ReconnectFor = TimeSpan.FromSeconds(5) }, () =>
        {
            ScriptedExecutor? executor = null;
            executor = new ScriptedExecutor(Clock, i =>
            {
                if (i != 5)
                    return Scripted.Refused(10107, "NotWritablePrimary");
                // Back after 0.05 + 0.1 + 0.2 + 0.4 + 0.8 + 1.6 s.
                executor!.ConnectFailures = 6;
                return Scripted.Broken();
            });
            return executor;
        });
        Assert.Null(result.GivenUp);
        Assert.Equal(new Accounting(30, 0, 30, 0), result.Accounting);
        Assert.InRange(Clock.Seconds, 5, 8.1);
    }

    [Fact]
    public void Intervals_that_nobody_takes_end_the_phase_with_their_cause()
    {
        var log = new PhaseLog(Clock) { Then = _ => throw new IOException("disk full") };
        var failure = Assert.Throws<MongoPerfException>(() =>
            new GroupRunner(Clock, (_, _) => new ScriptedExecutor(Clock, _ => Scripted.Ok()))
                .Run(Queries with { Seconds = 1000 }, log, default));
        Assert.Equal((Fault.Refused, "run store: disk full"), (failure.Fault, failure.Message));
        Assert.IsType<IOException>(failure.InnerException);
        Assert.Single(log.Intervals);
        Assert.InRange(Clock.Seconds, 1, 1.1);
    }

    [Fact]
    public void A_last_interval_that_nobody_takes_fails_the_phase_too()
    {
        var log = new PhaseLog(Clock) { Then = _ => throw new IOException("disk full") };
        Assert.Throws<MongoPerfException>(() =>
            new GroupRunner(Clock, (_, _) => new ScriptedExecutor(Clock, _ => Scripted.Ok()))
                .Run(Queries with { Count = 3 }, log, default));
    }

    [Fact]
    public void Threads_that_hang_are_aborted_together()
    {
        using var stop = new CancellationTokenSource();
        using var woken = new ManualResetEventSlim(false);
        int hanging = 0;
        int aborted = 0;
        Scripted Hang(int index)
        {
            if (Interlocked.Increment(ref hanging) == 20)
                stop.Cancel();
            Assert.True(woken.Wait(TimeSpan.FromSeconds(60)));
            return Scripted.Broken();
        }

        // None of them ends before all are aborted: who waited for one after aborting it would wait for long.
        void Abort()
        {
            if (Interlocked.Increment(ref aborted) == 20)
                woken.Set();
        }

        var runner = new GroupRunner(Clock, (_, _) =>
        {
            Executors.Add(new ScriptedExecutor(Clock, Hang) { OnAbort = Abort });
            return Executors[^1];
        })
        { StopGrace = TimeSpan.FromSeconds(0.3) };
        long begun = Environment.TickCount64;
        GroupResult result = runner.Run(Queries with { Threads = 20, Seconds = 1000 }, Log, stop.Token);
        Assert.True(Environment.TickCount64 - begun >= 300, "they were given no time");
        Assert.All(Executors, e => Assert.True(e.WasAborted));
        // They neither succeeded nor failed.
        Assert.Equal(new Accounting(20, 0, 0, 20), result.Accounting);
        Assert.Equal(20, result.Parts[0].InFlightAtEnd!.Operations);
        Assert.Null(result.GivenUp);
    }

    [Fact]
    public void Who_waits_for_the_end_does_not_wait_for_operations_that_hang()
    {
        using var stop = new CancellationTokenSource();
        using var woken = new ManualResetEventSlim(false);
        Scripted Hang(int index)
        {
            stop.Cancel();
            Assert.True(woken.Wait(TimeSpan.FromSeconds(60)));
            return Scripted.Broken();
        }

        var runner = new GroupRunner(Clock, (_, _) => new ScriptedExecutor(Clock, Hang) { OnAbort = woken.Set })
        {
            Hurry = stop.Token, HurriedGrace = TimeSpan.FromSeconds(0.1), StopGrace = TimeSpan.FromSeconds(120),
        };
        GroupResult result = runner.Run(Queries with { Seconds = 1000 }, Log, stop.Token);
        Assert.Equal(new Accounting(1, 0, 0, 1), result.Accounting);
        Assert.Null(result.GivenUp);
    }

    [Fact]
    public void Who_waits_for_the_end_does_not_wait_for_a_connection()
    {
        using var hurry = new CancellationTokenSource();
        hurry.Cancel();
        var executor = new ScriptedExecutor(Clock, _ => Scripted.Ok());
        new GroupRunner(Clock, (_, _) => executor) { Hurry = hurry.Token }.Run(Queries with { Count = 1 }, Log, CancellationToken.None);
        Assert.True(executor.WasAborted);
    }

    [Fact]
    public void A_success_ends_the_pauses()
    {
        Run(Queries with { Count = 1000 }, i => i % 2 == 0 ? Scripted.Refused(1, "InternalError") : Scripted.Ok());
        Assert.Equal(1, Clock.Seconds, 9);
    }

    [Fact]
    public void A_worker_that_dies_ends_the_phase_as_failed()
    {
        int opened = 0;
        GroupResult result = Run(Queries with { Seconds = 1000, Threads = 3 }, () =>
        {
            bool dies = opened++ == 1;
            return new ScriptedExecutor(Clock, i => dies && i == 5 ? Scripted.Dies() : Scripted.Ok());
        });
        Assert.IsType<InvalidOperationException>(result.GivenUp);
        Assert.True(result.WasStopped);
        Assert.Equal(1, result.Accounting.Failed);
        Assert.Equal("InvalidOperationException", Assert.Single(result.Errors).Name);
        Assert.True(Clock.Seconds < 1000);
        Assert.All(Executors, e => Assert.True(e.WasDisposed));
    }

    [Fact]
    public void Without_a_connection_at_the_start_there_is_no_phase()
    {
        int opened = 0;
        Assert.Throws<ConnectionFailedException>(() =>
            Run(Queries with { Seconds = 1, Threads = 3, ReconnectFor = TimeSpan.FromSeconds(5) }, () =>
                new ScriptedExecutor(Clock, _ => Scripted.Ok()) { ConnectFailures = opened++ == 2 ? int.MaxValue : 0 }));
        Assert.Equal(3, Executors.Count);
        Assert.InRange(Clock.Seconds, 5, 7.1);
        Assert.All(Executors, e => Assert.True(e.WasDisposed));
        Assert.All(Executors, e => Assert.Empty(e.StartTimes));
    }

    [Fact]
    public void A_server_that_is_away_when_a_phase_begins_is_waited_for_outside_of_it()
    {
        GroupResult result = Run(
            Queries with { Count = 10 }, () => new ScriptedExecutor(Clock, _ => Scripted.Ok()) { ConnectFailures = 3 });
        Assert.Equal(new Accounting(10, 10, 0, 0), result.Accounting);
        Assert.Equal(0.01, result.Seconds, 9);
        // 0.05, 0.1 and 0.2 s.
        Assert.Equal(0.35, Assert.Single(Log.Events).Seconds!.Value, 9);
    }

    [Fact]
    public void Nothing_is_lost_from_the_accounts_whatever_happens()
    {
        for (int seed = 0; seed < 60; seed++)
        {
            var random = new Random(seed);
            var clock = new ManualClock();
            var log = new PhaseLog(clock);
            using var stop = new CancellationTokenSource();
            GroupPlan plan = RandomPlan(random);
            GroupResult result = new GroupRunner(clock, (_, _) => RandomExecutor(clock, new Random(random.Next()), stop))
                .Run(plan, log, stop.Token);
            Accounting sums = result.Accounting;
            Assert.Equal(sums.Scheduled, sums.Succeeded + sums.Failed + sums.Skipped);
            Assert.Equal(plan.Count ?? sums.Scheduled, sums.Scheduled);
            long measured = result.Parts.Sum(part => (part.Response ?? part.Service).TotalCount);
            Assert.Equal(sums.Succeeded, measured + result.Parts.Sum(p => p.WarmupService.TotalCount));
            Assert.Equal(result.Operations, measured);
            Assert.Equal(sums.Failed, result.Errors.Sum(e => e.Count));
            Assert.Equal(sums.Succeeded, log.Intervals.Sum(i => i.Operations));
            Assert.Equal(sums.Failed, log.Intervals.Sum(i => i.Failed));
            Assert.Equal(result.AllDocuments, log.Intervals.Sum(i => i.Documents));
            if (result.Parts[0].Response is { } response)
                Assert.Equal(result.Operations, response.TotalCount);
        }
    }

    private static GroupPlan RandomPlan(Random random)
    {
        bool counted = random.Next(2) == 0;
        return Queries with
        {
            Threads = random.Next(1, 4),
            Count = counted ? random.Next(1, 300) : null,
            Seconds = counted ? null : random.NextDouble() * 3,
            WarmupSeconds = random.NextDouble(),
            Rate = random.Next(3) == 0 ? random.Next(1, 500) : null,
            VerifyShare = random.NextDouble(),
            ReconnectFor = TimeSpan.FromSeconds(random.Next(1, 20)),
        };
    }

    private static ScriptedExecutor RandomExecutor(ManualClock clock, Random random, CancellationTokenSource stop)
    {
        ScriptedExecutor? executor = null;
        executor = new ScriptedExecutor(clock, _ =>
        {
            // Odd microseconds: no operation ends together with the phase's last tick.
            double seconds = (1 + (2 * random.Next(1, 20_000))) * 1e-6;
            switch (random.Next(40))
            {
                case < 3:
                    return Scripted.Refused(random.Next(3), "Random", seconds: seconds);
                case 3:
                    executor!.ConnectFailures = random.Next(6);
                    return Scripted.Broken(seconds);
                case 4 when random.Next(8) == 0:
                    stop.Cancel();
                    return Scripted.Ok(seconds);
                case 5 when random.Next(8) == 0:
                    return Scripted.Dies(seconds);
                default:
                    return Scripted.Ok(seconds);
            }
        });
        return executor;
    }

    private static Scripted StopAt(CancellationTokenSource stop, int index, int at)
    {
        Stop(stop, index == at);
        return Scripted.Ok();
    }

    private static void Stop(CancellationTokenSource stop, bool now)
    {
        if (now)
            stop.Cancel();
    }
}
