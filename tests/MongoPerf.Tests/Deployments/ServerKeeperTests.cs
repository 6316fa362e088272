using MongoPerf.Deployments;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Deployments;

public sealed class ServerKeeperTests
{
    [Fact]
    public void A_server_that_ended_is_started_once_however_many_threads_ask()
    {
        const int count = 16;
        int asking = 0;
        Thread[] threads = [];
        // It takes until all others wait for it to end.
        using var server = new FakeDeployment
        {
            Starting = () => Eventually.Is(() => Volatile.Read(ref asking) == count
                && threads.All(static thread => thread == Thread.CurrentThread || thread.ThreadState.HasFlag(ThreadState.WaitSleepJoin))),
        };
        var keeper = new ServerKeeper(server);
        int told = 0;
        int running = 0;
        keeper.StartedAgain += () => Interlocked.Increment(ref told);
        using var together = new Barrier(count);
        threads = [.. Enumerable.Range(0, count).Select(_ => new Thread(() =>
        {
            together.SignalAndWait();
            Interlocked.Increment(ref asking);
            keeper.BeforeReconnect();
            if (server.IsRunning)
                Interlocked.Increment(ref running);
        }))];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Assert.Equal((1, 1), (server.Starts, told));
        Assert.Equal((count, 1), (running, server.MostAtOnce));
        keeper.BeforeReconnect();
        Assert.Equal((1, 1), (server.Starts, told));
        server.IsRunning = false;
        server.Starting = static () => { };
        keeper.BeforeReconnect();
        Assert.Equal((2, 2), (server.Starts, told));
    }

    [Fact]
    public void A_server_that_does_not_start_is_a_connection_that_failed_and_is_tried_again_at_the_next_attempt()
    {
        using var server = new FakeDeployment { Failures = 1 };
        var keeper = new ServerKeeper(server);
        var e = Assert.Throws<ConnectionFailedException>(keeper.BeforeReconnect);
        Assert.Equal("127.0.0.1:5: it does not start; its last words: the disk is on fire", e.Message);
        keeper.BeforeReconnect();
        Assert.True(server.IsRunning);
    }

    [Fact]
    public void A_start_that_was_stopped_ends_no_watch_and_is_a_connection_that_failed()
    {
        using var server = new FakeDeployment { IsStopped = true };
        var keeper = new ServerKeeper(server);
        keeper.KeepUp();
        Assert.Throws<ConnectionFailedException>(keeper.BeforeReconnect);
    }

    [Fact]
    public void What_no_connection_tells_of_is_kept_up_and_a_failure_waits_for_the_next_look()
    {
        using var server = new FakeDeployment { IsRunning = true };
        var keeper = new ServerKeeper(server);
        int told = 0;
        keeper.StartedAgain += () => told++;
        keeper.KeepUp();
        Assert.Equal((0, 0), (server.Starts, told));
        server.IsRunning = false;
        server.Failures = 1;
        keeper.KeepUp();
        Assert.Equal((0, 0), (server.Starts, told));
        keeper.KeepUp();
        Assert.Equal((1, 1), (server.Starts, told));
    }

    private sealed class FakeDeployment : IDeployment
    {
        private int _inside;

        public int Failures { get; set; }

        /// <summary>Ctrl+C has ended the wait for its start.</summary>
        public bool IsStopped { get; set; }

        /// <summary>What happens while it starts.</summary>
        public Action Starting { get; set; } = static () => { };

        public int Starts { get; private set; }

        public int MostAtOnce { get; private set; }

        public DeploymentKind Kind => DeploymentKind.Mongod;

        public ServerAddress Address { get; } = new("127.0.0.1", 5);

        public string? DataFolder => null;

        public int? ProcessId => null;

        public bool IsRunning { get; set; }

        public IReadOnlyList<string> Remarks => [];

        public bool EnsureRunning()
        {
            MostAtOnce = Math.Max(MostAtOnce, Interlocked.Increment(ref _inside));
            try
            {
                if (IsRunning)
                    return false;
                Starting();
                if (IsStopped)
                    throw new OperationCanceledException();
                if (Failures-- > 0)
                    throw new DeploymentException(Fault.CannotConnect, "it does not start; its last words:\n  the disk is on fire");
                Starts++;
                return IsRunning = true;
            }
            finally
            {
                Interlocked.Decrement(ref _inside);
            }
        }

        public void Stop()
        {
        }

        public void Dispose()
        {
        }
    }
}
