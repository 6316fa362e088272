using MongoPerf.Measurement;

namespace MongoPerf.Tests.Support;

/// <summary>Time that passes only when somebody advances it or sleeps; a tick is a microsecond. Safe for all threads.</summary>
/// <remarks>
/// Scheduled calls are made by whoever advances the clock beyond their due time, and see exactly that time; what ended at the due time has
/// been counted by then.
/// </remarks>
internal sealed class ManualClock : IClock
{
    private static readonly DateTimeOffset Start = new(2026, 11, 21, 12, 0, 0, TimeSpan.Zero);

    private readonly Lock _lock = new();
    private readonly List<Alarm> _alarms = [];
    private long _now;

    public long Now
    {
        get
        {
            lock (_lock)
                return _now;
        }
    }

    public double Seconds => (double)Now / TicksPerSecond;

    public long TicksPerSecond => 1_000_000;

    public DateTimeOffset UtcNow => Start.AddMicroseconds(Now);

    public void Advance(double seconds)
    {
        lock (_lock)
            SleepUntil(_now + (long)Math.Round(seconds * TicksPerSecond));
    }

    public void SleepUntil(long ticks) => SleepUntil(ticks, static () => false);

    private void SleepUntil(long ticks, Func<bool> isOver)
    {
        lock (_lock)
        {
            while (!isOver() && _alarms.Where(a => a.Due < ticks).MinBy(a => a.Due) is { } alarm)
            {
                _now = Math.Max(_now, alarm.Due);
                alarm.Due = alarm.Tick();
            }

            if (!isOver())
                _now = Math.Max(_now, ticks);
        }
    }

    public IParker CreateParker() => new Parker(this);

    public IDisposable Schedule(long firstDue, Func<long> tick)
    {
        var alarm = new Alarm(this, tick) { Due = firstDue };
        lock (_lock)
            _alarms.Add(alarm);
        return alarm;
    }

    /// <summary>A wait with an end lets the time pass; one without is for another thread to end.</summary>
    private sealed class Parker(ManualClock clock) : IParker
    {
        private readonly ManualResetEventSlim _ended = new(false, spinCount: 0);

        public void ParkUntil(long ticks)
        {
            if (ticks == long.MaxValue)
                _ended.Wait();
            else
                clock.SleepUntil(ticks, () => _ended.IsSet);
            _ended.Reset();
        }

        public void Unpark() => _ended.Set();
    }

    private sealed class Alarm(ManualClock clock, Func<long> tick) : IDisposable
    {
        public long Due { get; set; }

        public Func<long> Tick { get; } = tick;

        public void Dispose()
        {
            lock (clock._lock)
                clock._alarms.Remove(this);
        }
    }
}
