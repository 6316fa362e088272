using System.Diagnostics;
using System.Runtime.ExceptionServices;
using MongoPerf.Platforms;

namespace MongoPerf.Measurement;

/// <summary>Time as the engine sees it; tests put a manual one in its place.</summary>
public interface IClock
{
    /// <summary>Ticks of <see cref="TicksPerSecond"/>; only differences mean anything.</summary>
    long Now { get; }

    long TicksPerSecond { get; }

    DateTimeOffset UtcNow { get; }

    /// <summary>Blocks until the clock shows <paramref name="ticks"/>; returns at once when it does already.</summary>
    void SleepUntil(long ticks);

    /// <summary>
    /// Calls <paramref name="tick"/> when <paramref name="firstDue"/> has come, then whenever the time that it returned has.
    /// </summary>
    /// <param name="firstDue">Ticks.</param>
    /// <param name="tick">Returns the next time; <see cref="long.MaxValue"/> ends it. Never called twice at once.</param>
    /// <returns>
    /// Disposing waits until no call is under way, and ends it; what a call threw (it was the last then) is thrown again there, once.
    /// </returns>
    IDisposable Schedule(long firstDue, Func<long> tick);

    /// <summary>Makes a place where a thread waits by this clock, and where others may end that.</summary>
    IParker CreateParker();
}

/// <summary>Where one thread waits by a clock until a time, unless another thread ends the wait before.</summary>
public interface IParker
{
    /// <summary>Waits; only for the thread whose place this is. It may return too early: look at the clock, and wait again.</summary>
    /// <param name="ticks">Until when; <see cref="long.MaxValue"/> for no limit.</param>
    void ParkUntil(long ticks);

    /// <summary>Ends the wait, or the next one when there is none now. For any thread.</summary>
    void Unpark();
}

public static class ClockExtensions
{
    private const int MostReadings = 20;

    public static double SecondsBetween(this IClock clock, long from, long to) => (double)(to - from) / clock.TicksPerSecond;

    /// <summary>
    /// One moment by both of its times. A thread that lost its core between reading the two, for longer than a reading takes, reads again.
    /// </summary>
    public static (long Ticks, DateTimeOffset Utc) ReadBoth(this IClock clock)
    {
        (long Ticks, DateTimeOffset Utc, long Width) best = (0, default, long.MaxValue);
        for (int i = 0; i < MostReadings && best.Width > clock.TicksPerSecond / 100_000; i++)
        {
            long before = clock.Now;
            DateTimeOffset utc = clock.UtcNow;
            long width = clock.Now - before;
            if (width < best.Width)
                best = (before + (width / 2), utc, width);
        }

        return (best.Ticks, best.Utc);
    }

    public static long TicksOf(this IClock clock, double seconds) => (long)(seconds * clock.TicksPerSecond);
}

/// <summary>The machine's monotonic clock, through Stopwatch. Safe for all threads.</summary>
public sealed class SystemClock : IClock
{
    public static SystemClock Instance { get; } = new();

    public long Now => Stopwatch.GetTimestamp();

    public long TicksPerSecond => Stopwatch.Frequency;

    public DateTimeOffset UtcNow => DateTimeOffset.UtcNow;

    public void SleepUntil(long ticks)
    {
        while (true)
        {
            double microseconds = (ticks - Now) * 1e6 / TicksPerSecond;
            if (microseconds <= 0)
                return;
            // Asleep until shortly before, so that waiting takes no CPU time from a server on the same machine; the rest awake.
            if (!ShortSleep.TrySleep(microseconds))
                Thread.SpinWait(5);
        }
    }

    public IDisposable Schedule(long firstDue, Func<long> tick) => new Timer(this, firstDue, tick);

    public IParker CreateParker() => new Parker(this);

    private sealed class Parker(SystemClock clock) : IParker
    {
        private readonly ThreadParker _place = new();

        public void ParkUntil(long ticks)
        {
            double seconds = (double)(ticks - clock.Now) / clock.TicksPerSecond;
            if (seconds > 0)
                _place.Park(seconds);
        }

        public void Unpark() => _place.Unpark();
    }

    private sealed class Timer : IDisposable
    {
        // It waits a second at a time: spinning before that was half of what sampling cost.
        private readonly ManualResetEventSlim _ended = new(false, spinCount: 0);
        private readonly Thread _thread;
        private ExceptionDispatchInfo? _failure;
        private bool _isDisposed;

        public Timer(SystemClock clock, long firstDue, Func<long> tick)
        {
            _thread = new Thread(() => RunGuarded(clock, firstDue, tick)) { IsBackground = true, Name = "clock" };
            _thread.Start();
        }

        /// <summary>An exception that escaped would end the process.</summary>
        private void RunGuarded(SystemClock clock, long due, Func<long> tick)
        {
            try
            {
                Run(clock, due, tick);
            }
            catch (Exception e)
            {
                _failure = ExceptionDispatchInfo.Capture(e);
            }
        }

        private void Run(SystemClock clock, long due, Func<long> tick)
        {
            while (due != long.MaxValue)
            {
                double wait = Math.Max(0, (due - clock.Now) * 1000.0 / clock.TicksPerSecond);
                if (_ended.Wait((int)Math.Min(int.MaxValue, Math.Ceiling(wait))))
                    return;
                // The event counts in the system's coarse ticks, and may wake a fraction of a millisecond early.
                if (clock.Now >= due)
                    due = tick();
            }
        }

        public void Dispose()
        {
            if (_isDisposed)
                return;
            _isDisposed = true;
            _ended.Set();
            _thread.Join();
            _ended.Dispose();
            _failure?.Throw();
        }
    }
}
