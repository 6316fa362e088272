using MongoPerf.Measurement;

namespace MongoPerf.Tests.Measurement;

public sealed class SystemClockTests
{
    /// <summary>Uncaught on the clock's thread, it would end the process.</summary>
    [Fact]
    public void What_a_timer_threw_comes_out_once_when_it_is_disposed_of()
    {
        using var ticked = new ManualResetEventSlim(false);
        int ticks = 0;
        IDisposable timer = SystemClock.Instance.Schedule(SystemClock.Instance.Now, () =>
        {
            ticks++;
            ticked.Set();
            throw new IOException("disk full");
        });
        Assert.True(ticked.Wait(TimeSpan.FromSeconds(20)));
        Assert.Equal("disk full", Assert.Throws<IOException>(timer.Dispose).Message);
        timer.Dispose();
        Assert.Equal(1, ticks);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    public void Both_times_are_of_one_moment_although_the_thread_lost_its_core_between_reading_them(int times)
    {
        (long ticks, DateTimeOffset utc) = new LostCore(times).ReadBoth();
        Assert.Equal(ticks, utc.Ticks);
    }

    /// <summary>After each of the first times that the time of day is read, 33 ms pass.</summary>
    private sealed class LostCore(int times) : IClock
    {
        private long _left = times;

        public long Now { get; private set; } = 1000;

        public long TicksPerSecond => TimeSpan.TicksPerSecond;

        public DateTimeOffset UtcNow
        {
            get
            {
                var utc = new DateTimeOffset(Now, TimeSpan.Zero);
                Now += _left-- > 0 ? TimeSpan.TicksPerSecond * 33 / 1000 : 0;
                return utc;
            }
        }

        public void SleepUntil(long ticks) => throw new NotSupportedException();

        public IDisposable Schedule(long firstDue, Func<long> tick) => throw new NotSupportedException();
    }

    [Fact]
    public void A_timer_ticks_when_it_is_due_and_ends_when_it_says_so()
    {
        using var ended = new ManualResetEventSlim(false);
        SystemClock clock = SystemClock.Instance;
        var times = new List<long>();
        long first = clock.Now + clock.TicksOf(0.01);
        using (clock.Schedule(first, () =>
        {
            times.Add(clock.Now);
            if (times.Count < 3)
                return first + (times.Count * clock.TicksOf(0.01));
            ended.Set();
            return long.MaxValue;
        }))
        {
            Assert.True(ended.Wait(TimeSpan.FromSeconds(20)));
        }

        Assert.Equal(3, times.Count);
        Assert.All(times.Select((time, i) => time - first - (i * clock.TicksOf(0.01))), late => Assert.True(late >= 0));
    }
}
