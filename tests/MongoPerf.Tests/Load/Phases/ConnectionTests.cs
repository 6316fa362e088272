using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>Connections that threads share, open for each operation, or open all at once.</summary>
public sealed class ConnectionTests : PhaseTest
{
    private static readonly ConnectionUse Pool = new("wait", ConnectionKind.Pool, 1);
    private static readonly ConnectionUse Churn = new("connect", ConnectionKind.Churn, 0);

    [Fact]
    public void Whoever_waits_longest_gets_the_next_connection()
    {
        using var executor = new ScriptedExecutor(Clock, _ => Scripted.Ok());
        using var pool = new ConnectionPool([executor]);
        using ConnectionPool.Ticket first = new(), second = new(), third = new();
        Assert.True(pool.TryTake(first));
        Assert.False(pool.TryTake(second));
        Assert.False(pool.TryTake(third));
        Assert.Equal(2, pool.Waiting);
        pool.Return(first.Taken);
        Assert.Equal((true, false), (second.Called.IsSet, third.Called.IsSet));
        Assert.Same(executor, second.Taken);
        pool.Abort();
        Assert.True(third.Called.IsSet);
        Assert.Throws<ConnectionFailedException>(() => third.Taken);
    }

    /// <summary>What a worker waits is counted; who finds a connection free does not wait.</summary>
    [Fact]
    public async Task A_wait_lasts_until_another_worker_is_done()
    {
        using var lender = new ScriptedExecutor(Clock, _ => Scripted.Ok());
        using var pool = new ConnectionPool([lender]);
        using ScriptedExecutor one = new(Clock, _ => Scripted.Ok()), other = new(Clock, _ => Scripted.Ok());
        var control = new GroupControl(Queries with { Threads = 2, Connections = Pool }, Clock, Log) { Pool = pool };
        using WorkerConnections holds = WorkerConnections.Find(control, one)!;
        using WorkerConnections waits = WorkerConnections.Find(control, other)!;
        holds.Acquire();
        Assert.Same(lender, one.Lender);
        Task acquired = Task.Factory.StartNew(
            waits.Acquire, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        Eventually.Is(() => pool.Waiting == 1);
        Clock.Advance(0.03);
        holds.Release();
        await acquired;
        Assert.Same(lender, other.Lender);
        Assert.Null(one.Lender);
        Assert.Equal(0, holds.Log.Entries.Length);
        // Who has none gives none back: else two threads would get the same one.
        holds.Release();
        using ConnectionPool.Ticket next = new();
        Assert.False(pool.TryTake(next));
        Lane lane = control.Lanes[0];
        waits.CountInto(1, lane);
        Assert.Equal((0L, 1L), (lane.Warmup[1].Operations, lane.Measured[1].Operations));
        Assert.Equal(30_000, lane.Measured[1].Service.Maximum!.Value, 100.0);
        Assert.Equal(0, waits.Log.Entries.Length);
    }

    [Fact]
    public void Threads_of_a_pool_never_have_more_connections_than_it_has()
    {
        int busy = 0;
        int most = 0;
        GroupResult result = Run(Queries with { Threads = 3, Count = 300, Connections = Pool }, _ =>
        {
            most = Math.Max(most, Interlocked.Increment(ref busy));
            Thread.Yield();
            Interlocked.Decrement(ref busy);
            return Scripted.Ok();
        });
        Assert.Equal(1, most);
        Assert.Equal((300, 300, 0, 0), (result.Accounting.Scheduled, result.Accounting.Succeeded, result.Accounting.Failed,
            result.Accounting.Skipped));
        Assert.Equal(300, result.ThreadOperations.Sum());
        Assert.Equal(300, result.Operations);
        Assert.InRange(result.Connections!.Operations, 0, 300);
        Assert.True(result.Connections.Service.Maximum is null || result.Connections.Service.Maximum <= result.Parts[0].Service.Maximum);
        Assert.Equal("wait", result.Connections.Operation.Name);
        // A worker's own executor never connects: it borrows the pool's.
        Assert.Equal(1, Executors.Count(executor => executor.ConnectTimes.Count > 0));
        Assert.All(Executors, executor => Assert.Null(executor.Lender));
        Assert.All(Executors, executor => Assert.True(executor.WasDisposed));
    }

    [Fact]
    public void A_connection_of_the_pool_that_breaks_is_opened_again_by_who_has_it()
    {
        int index = 0;
        GroupResult result = Run(Queries with { Threads = 2, Count = 50, Connections = Pool },
            _ => Interlocked.Increment(ref index) == 7 ? Scripted.Broken() : Scripted.Ok());
        Assert.Equal((49L, 1L), (result.Accounting.Succeeded, result.Accounting.Failed));
        Assert.Equal(2, Executors.Sum(executor => executor.ConnectTimes.Count));
    }

    [Fact]
    public void Each_operation_of_a_churn_includes_its_connection()
    {
        bool isOneAtATime = true;
        GroupResult result = Run(Queries with { Seconds = 2, Rate = 10, Connections = Churn },
            () => new ScriptedExecutor(Clock, _ =>
            {
                isOneAtATime &= Executors[1].WasDisposed;
                return Scripted.Ok();
            }) { ConnectSeconds = 0.005, Member = connects => $"server {connects % 2}" });
        Assert.Equal(20, result.Operations);
        Assert.True(isOneAtATime);
        // Each connection may lead to another server.
        Assert.Equal([new MemberShare("server 0", 10), new MemberShare("server 1", 10)], result.Parts[0].Members);
        Assert.Equal(20, result.Connections!.Operations);
        Assert.Equal(5_000, result.Connections.Service.ValueAtPercentile(50)!.Value, 50.0);
        Assert.Equal(6_000, result.Parts[0].Service.ValueAtPercentile(50)!.Value, 50.0);
        Assert.Equal(6_000, result.Parts[0].Response!.ValueAtPercentile(50)!.Value, 50.0);
        Assert.Null(result.Connections.Response);
        // The first is the worker's; the operation was prepared on the other's connection.
        Assert.Equal((20, 20), (Executors[0].ConnectTimes.Count, Executors[0].Disconnects));
        Assert.Equal((1, 0), (Executors[1].ConnectTimes.Count, Executors[1].Disconnects));
    }

    [Fact]
    public void A_connection_that_can_not_be_opened_fails_its_operation()
    {
        bool isFirst = true;
        GroupResult result = Run(Queries with { Seconds = 1, Rate = 10, Connections = Churn }, () =>
        {
            var executor = new ScriptedExecutor(Clock, _ => Scripted.Ok()) { ConnectFailures = isFirst ? 2 : 0 };
            isFirst = false;
            return executor;
        });
        Assert.Equal((9L, 1L), (result.Accounting.Succeeded, result.Accounting.Failed));
        Assert.Equal(2, result.Connections!.Failed);
        ErrorCount error = Assert.Single(result.Connections.Errors);
        Assert.Equal(("NetworkError", 2L), (error.Name, error.Count));
        // What an operation failed for counts once for the run.
        Assert.Equal(1, Assert.Single(result.Errors).Count);
    }

    [Fact]
    public void When_one_connection_is_lost_all_are_opened_again_at_once()
    {
        // All three are open before one breaks, and all have something left to do.
        using var open = new Barrier(3);
        GroupResult result = Run(Queries with { Threads = 3, Count = 9, Connections = new("connect", ConnectionKind.Storm, 3) }, () =>
        {
            bool breaks = Executors.Count == 0;
            return new ScriptedExecutor(Clock, index =>
            {
                if (index == 0)
                    open.SignalAndWait();
                if (index == 2)
                    Eventually.Is(() => Executors[0].ConnectTimes.Count == 2);
                return index == 1 && breaks ? Scripted.Broken() : Scripted.Ok();
            });
        });
        Assert.Equal(2, result.Storms.Count);
        Assert.All(result.Storms, storm => Assert.Equal((3, 3, true), (storm.Connections, storm.Usable, storm.Seconds is not null)));
        Assert.Equal(0, result.Storms[0].AtSeconds);
        Assert.True(result.Storms[1].AtSeconds > 0);
        Assert.Equal(6, result.Connections!.Operations);
        Assert.Equal((8L, 1L), (result.Accounting.Succeeded, result.Accounting.Failed));
        Assert.Equal(2, Log.Events.Count(one => one.Kind == "storm"));
    }

    [Fact]
    public void A_storm_that_is_not_over_when_the_phase_ends_says_how_far_it_came()
    {
        GroupResult result = Run(Queries with { Threads = 2, Seconds = 3, Connections = new("connect", ConnectionKind.Storm, 2) }, () =>
            // Behind the first worker's and the one for preparing comes the second worker's, which never connects. Each waits for the
            // other's first attempt.
            Executors.Count < 2 ? new ScriptedExecutor(Clock, _ =>
            {
                Eventually.Is(() => Executors[2].ConnectTimes.Count > 0);
                return Scripted.Ok();
            })
            : new ScriptedExecutor(Clock, _ => Scripted.Ok())
            {
                ConnectFailures = int.MaxValue, OnConnect = () => Eventually.Is(() => Executors[0].ConnectTimes.Count > 0),
            });
        StormResult storm = Assert.Single(result.Storms);
        Assert.Equal((2, 1), (storm.Connections, storm.Usable));
        Assert.Null(storm.Seconds);
        Assert.True(result.Connections!.Failed > 0);
    }

    /// <summary>Who pauses opens its connection with the others, and not when its next operation is due.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_thread_that_waits_is_there_when_all_connections_are_opened_again(bool thinks)
    {
        GroupPlan plan = Storm(2) with { Count = 2 };
        (GroupControl control, ScriptedExecutor executor, Worker worker) = OpenWorker(
            thinks ? plan with { Think = new ThinkTime(1000, 0) } : plan with { Rate = 0.001 });
        using (worker)
        {
            executor.Script = index =>
            {
                // The other thread's connection is lost, once it has one.
                if (index == 0)
                {
                    control.Storms!.Count(1);
                    Assert.Equal(2, control.Storms.Lose(1));
                }

                return Scripted.Ok();
            };
            worker.Run(0);
            double lost = executor.StartTimes[0];
            Assert.Equal(2, executor.ConnectTimes.Count);
            Assert.InRange(executor.ConnectTimes[1], lost, lost + 1);
            Assert.InRange(executor.StartTimes[1], lost + 900, lost + 1100);
        }
    }

    /// <summary>That the server takes longer to let it in than it was to pause makes the pause no longer.</summary>
    [Fact]
    public void A_connection_that_is_opened_in_a_pause_does_not_count_as_overslept()
    {
        (GroupControl control, ScriptedExecutor executor, Worker worker) = OpenWorker(
            Storm(2) with { Count = 2, Think = new ThinkTime(1, 0) },
            () => new ScriptedExecutor(Clock, _ => Scripted.Ok()) { ConnectSeconds = 5 });
        using (worker)
        {
            control.Storms!.Count(1);
            executor.Script = index =>
            {
                if (index == 0)
                    Clock.Schedule(Clock.Now + (Clock.TicksPerSecond / 2), () =>
                    {
                        control.Storms.Lose(1);
                        return long.MaxValue;
                    });
                return Scripted.Ok();
            };
            worker.Run(0);
            Assert.InRange(executor.StartTimes[1] - executor.StartTimes[0], 5.5, 5.9);
            Assert.Equal(0, worker.Overslept);
        }
    }

    [Fact]
    public void What_is_due_while_a_thread_has_no_connection_is_skipped_and_not_tried_without_one()
    {
        (GroupControl control, ScriptedExecutor executor, Worker worker) = OpenWorker(Storm(2) with { Rate = 1, Seconds = 5 });
        using (worker)
        {
            // The other thread's connection is lost while this one waits for what is due after a second.
            control.Storms!.Count(1);
            using IDisposable loss = Clock.Schedule(Clock.TicksPerSecond / 2, () =>
            {
                control.Storms.Lose(1);
                executor.ConnectFailures = int.MaxValue;
                return long.MaxValue;
            });
            worker.Run(0);
            Assert.Null(worker.GivenUp);
            Assert.Single(executor.StartTimes);
            Assert.Equal((1L, 0L, 4L), (worker.Scheduled, worker.Missed, control.Arrivals!.TakeBefore(control.DueBefore)));
        }
    }

    [Fact]
    public void A_thread_that_never_gets_a_connection_tells_how_often_it_tried()
    {
        GroupResult result = Run(Storm(1) with { Count = 5, ReconnectFor = TimeSpan.FromSeconds(5) }, () =>
            // The first is the worker's; the operation is prepared on the other's connection.
            new ScriptedExecutor(Clock, _ => Scripted.Ok()) { ConnectFailures = Executors.Count == 0 ? int.MaxValue : 0 });
        Assert.IsType<ConnectionFailedException>(result.GivenUp);
        Assert.Equal(Executors[0].ConnectTimes.Count, result.Connections!.Failed);
        Assert.Equal(result.Connections.Failed, Assert.Single(result.Connections.Errors).Count);
    }

    [Fact]
    public void An_opening_that_a_stop_breaks_off_is_no_failure()
    {
        GroupControl? control = null;
        (control, _, Worker worker) = OpenWorker(Storm(1), () => new ScriptedExecutor(Clock, _ => Scripted.Ok())
        {
            ConnectFailures = 1, OnConnect = () => control!.Stop(),
        });
        using (worker)
        {
            worker.Run(0);
            Assert.Null(worker.GivenUp);
            Assert.Equal((0L, 0), (control.Lanes[0].Measured[^1].Failed, control.Errors[^1].Counts.Count));
        }
    }

    /// <summary>Thousands of them take seconds to make.</summary>
    [Fact]
    public void A_stop_waits_for_no_threads_that_are_still_to_be_made()
    {
        using var stop = new CancellationTokenSource();
        GroupResult result = Run(Storm(2_000), () =>
        {
            if (Executors.Count == 3)
                stop.Cancel();
            return new ScriptedExecutor(Clock, _ => Scripted.Ok());
        }, stop.Token);
        Assert.True(result.WasStopped);
        Assert.Equal(4, Executors.Count);
        Assert.Equal(0, result.Accounting.Succeeded);
    }

    [Fact]
    public async Task A_wait_that_is_broken_off_is_none()
    {
        using var lender = new ScriptedExecutor(Clock, _ => Scripted.Ok());
        using var pool = new ConnectionPool([lender]);
        using var waiting = new ScriptedExecutor(Clock, _ => Scripted.Ok());
        var control = new GroupControl(Queries with { Threads = 2, Connections = Pool }, Clock, Log) { Pool = pool };
        using WorkerConnections waits = WorkerConnections.Find(control, waiting)!;
        using var held = new ConnectionPool.Ticket();
        Assert.True(pool.TryTake(held));
        Task acquired = Task.Factory.StartNew(
            waits.Acquire, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        Eventually.Is(() => pool.Waiting == 1);
        pool.Abort();
        await Assert.ThrowsAsync<ConnectionFailedException>(() => acquired);
        Assert.Equal(0, waits.Log.Entries.Length);
    }

    [Fact]
    public void A_server_that_does_not_take_the_whole_pool_says_so_of_the_pool()
    {
        var e = Assert.Throws<ConnectionLimitException>(() => Run(
            Queries with { Count = 10, Threads = 9, Connections = Pool with { Count = 5 } },
            // The first is a worker's, which borrows.
            () => new ScriptedExecutor(Clock, _ => Scripted.Ok())
            {
                ConnectFailures = Executors.Count < 4 ? 0 : int.MaxValue, ConnectFailure = "connection closed by the server",
            }));
        Assert.Equal(
            $"{Scripted.Server}: connection closed by the server, while 3 of the pool's 5 connections are open", e.Message);
        Assert.Contains("use a smaller pool", e.Hint!, StringComparison.Ordinal);
    }

    /// <summary>Of connections that are opened at once the first clients may open one more.</summary>
    [Theory]
    [InlineData(3, 2)]
    [InlineData(2, 2)]
    public void Threads_of_several_clients_draw_from_different_streams(int first, int second)
    {
        GroupPlan[] plans =
        [
            .. ((int[])[first, second]).Select((threads, i) =>
                Storm(first + second) with { Threads = threads, Share = new PlanShare(i, 2) }),
        ];
        Assert.Equal(
            Enumerable.Range(0, first + second), plans.SelectMany(plan => Enumerable.Range(0, plan.Threads).Select(plan.StreamOf)));
    }

    private static GroupPlan Storm(int connections) =>
        Queries with { Threads = connections, Connections = new("connect", ConnectionKind.Storm, connections) };

    /// <summary>One thread of a group, which the test runs by itself.</summary>
    private (GroupControl Control, ScriptedExecutor Executor, Worker Worker) OpenWorker(
        GroupPlan plan, Func<ScriptedExecutor>? open = null)
    {
        var control = new GroupControl(plan, Clock, Log);
        ScriptedExecutor executor = open?.Invoke() ?? new ScriptedExecutor(Clock, _ => Scripted.Ok());
        var worker = new Worker(control, executor, 0);
        control.Begin(0);
        return (control, executor, worker);
    }
}
