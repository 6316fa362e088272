using MongoPerf.Load.Phases;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>How the connections of a group's threads are opened.</summary>
public sealed class OpeningTests : PhaseTest
{
    private const int Threads = 32;

    /// <summary>Each of the four waits until all of them are connecting: one after the other would wait for a minute.</summary>
    [Fact]
    public void Many_connect_at_once_when_the_first_has_connected()
    {
        using var together = new CountdownEvent(4);
        int connected = 0;
        bool firstWasAlone = false, wereTogether = true;
        GroupResult result = Run(Queries with { Threads = Threads, Count = 100 }, () =>
        {
            int index = Executors.Count;
            return new ScriptedExecutor(Clock, _ => Scripted.Ok())
            {
                OnConnect = () =>
                {
                    if (index == 0)
                        firstWasAlone = Volatile.Read(ref connected) == 0 && Executors.Count == 1;
                    else if (!together.IsSet && together.Signal() is false)
                        wereTogether &= together.Wait(TimeSpan.FromMinutes(1));
                    Interlocked.Increment(ref connected);
                },
            };
        });
        Assert.True(firstWasAlone && wereTogether);
        Assert.Equal((Threads, 100, Threads), (connected, result.Operations, result.ThreadOperations.Count));
    }

    [Fact]
    public void One_that_fails_ends_the_openings_and_closes_what_is_open()
    {
        var failed = Assert.Throws<ConnectionFailedException>(() => Run(
            Queries with { Threads = Threads, Count = 100, ReconnectFor = TimeSpan.Zero },
            () => new ScriptedExecutor(Clock, _ => Scripted.Ok()) { ConnectFailures = Executors.Count == 20 ? 1 : 0 }));
        Assert.Contains("connection refused", failed.Message, StringComparison.Ordinal);
        Assert.All(Executors, executor => Assert.True(executor.WasDisposed));
    }
}
