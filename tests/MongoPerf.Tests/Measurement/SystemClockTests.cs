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

        public IParker CreateParker() => throw new NotSupportedException();
    }

    /// <param name="widths">The ticks that pass while both times are read, one reading after the other; 100 are short enough.</param>
    /// <param name="readings">How often the time of day is read.</param>
    /// <param name="expected">The ticks, from the start of the first reading.</param>
    [Theory]
    [InlineData(new long[] { 100 }, 1, 50)]
    [InlineData(new long[] { 101, 60 }, 2, 101 + 30)]
    [InlineData(new long[] { 5000, 3000, 3000, 4000 }, 20, 5000 + 1500)]
    public void Both_times_are_those_of_the_shortest_reading(long[] widths, int readings, long expected)
    {
        var clock = new SlowReadings(widths);
        (long ticks, DateTimeOffset utc) = clock.ReadBoth();
        Assert.Equal(expected, ticks);
        Assert.Equal(readings, clock.Readings);
        Assert.Equal(ticks, utc.Ticks);
    }

    /// <summary>Reading the time of day takes as long as it is told, half of it before the time is taken.</summary>
    private sealed class SlowReadings(long[] widths) : IClock
    {
        public int Readings { get; private set; }

        public long Now { get; private set; }

        public long TicksPerSecond => TimeSpan.TicksPerSecond;

        public DateTimeOffset UtcNow
        {
            get
            {
                long width = widths[Math.Min(Readings++, widths.Length - 1)];
                var utc = new DateTimeOffset(Now + (width / 2), TimeSpan.Zero);
                Now += width;
                return utc;
            }
        }

        public void SleepUntil(long ticks) => throw new NotSupportedException();

        public IDisposable Schedule(long firstDue, Func<long> tick) => throw new NotSupportedException();

        public IParker CreateParker() => throw new NotSupportedException();
    }

    [Fact]
    public void It_tells_the_time_of_day()
    {
        DateTimeOffset before = DateTimeOffset.UtcNow;
        DateTimeOffset now = SystemClock.Instance.UtcNow;
        Assert.InRange(now, before, DateTimeOffset.UtcNow);
    }

    [Fact]
    public void A_sleep_never_ends_early()
    {
        SystemClock clock = SystemClock.Instance;
        for (int i = 0; i < 50; i++)
        {
            long due = clock.Now + clock.TicksOf(200e-6);
            clock.SleepUntil(due);
            Assert.True(clock.Now >= due);
        }
    }

    [Fact]
    public void A_timer_ticks_when_it_is_due_and_ends_when_it_says_so()
    {
        using var ended = new ManualResetEventSlim(false);
        SystemClock clock = SystemClock.Instance;
        var times = new List<long>();
        bool keepsTheProcessAlive = true;
        // Long enough that the timer waits for it, however late its thread begins.
        long first = clock.Now + clock.TicksOf(0.1);
        using (clock.Schedule(first, () =>
        {
            times.Add(clock.Now);
            keepsTheProcessAlive = !Thread.CurrentThread.IsBackground;
            if (times.Count < 3)
                return first + (times.Count * clock.TicksOf(0.01));
            ended.Set();
            return long.MaxValue;
        }))
        {
            Assert.True(ended.Wait(TimeSpan.FromSeconds(20)));
        }

        Assert.False(keepsTheProcessAlive);
        Assert.Equal(3, times.Count);
        Assert.All(times.Select((time, i) => time - first - (i * clock.TicksOf(0.01))), late => Assert.True(late >= 0));
    }
}
