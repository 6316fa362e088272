using MongoPerf.Platforms;

namespace MongoPerf.Tests.Platforms;

public sealed class ThreadParkerTests
{
    [Fact]
    public void An_end_that_comes_before_the_wait_ends_that_one_and_no_other()
    {
        var parker = new ThreadParker();
        parker.Unpark();
        parker.Unpark();
        parker.Park(double.PositiveInfinity);
        // This one ends by itself.
        parker.Park(0.001);
    }

    [Fact]
    public async Task Another_thread_ends_a_wait_without_a_limit()
    {
        var parker = new ThreadParker();
        int waits = 0;
        Task waiting = Task.Factory.StartNew(() =>
        {
            while (Volatile.Read(ref waits) < 1000)
            {
                parker.Park(double.PositiveInfinity);
                Interlocked.Increment(ref waits);
            }
        }, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        while (!waiting.IsCompleted)
            parker.Unpark();
        await waiting;
        Assert.Equal(1000, waits);
    }
}
