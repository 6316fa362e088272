using MongoPerf.Measurement;

namespace MongoPerf.Tests.Support;

/// <summary>
/// The time of many threads at once, in no real time: it moves on when all of them sleep, to when the first of them is to wake. A
/// tick is a microsecond.
/// </summary>
/// <param name="threads">Those that sleep by it; each says when it has ended.</param>
internal sealed class CrowdClock(int threads) : IClock
{
    [ThreadStatic]
    private static Sleeper? _own;

    private readonly Lock _lock = new();
    private readonly PriorityQueue<Sleeper, long> _asleep = new();
    private int _awake = threads;
    private long _now;
    private (long Due, Func<long>? Tick) _alarm = (long.MaxValue, null);

    public long Now => Volatile.Read(ref _now);

    public long TicksPerSecond => 1_000_000;

    public DateTimeOffset UtcNow => DateTimeOffset.UnixEpoch.AddMicroseconds(Now);

    public void SleepUntil(long ticks)
    {
        Sleeper own = _own ??= new Sleeper();
        lock (_lock)
        {
            if (ticks <= _now)
                return;
            FallAsleep(own, ticks);
        }

        own.Woken.Wait();
    }

    public IParker CreateParker() => new Parker(this);

    private void FallAsleep(Sleeper sleeper, long ticks)
    {
        sleeper.Woken.Reset();
        sleeper.IsAsleep = true;
        if (ticks != long.MaxValue)
            _asleep.Enqueue(sleeper, ticks);
        End();
    }

    private void Wake(Sleeper sleeper)
    {
        sleeper.IsAsleep = false;
        _awake++;
        sleeper.Woken.Set();
    }

    /// <summary>The calling thread sleeps by this clock no more.</summary>
    public void End()
    {
        lock (_lock)
        {
            _awake--;
            while (_awake == 0 && _asleep.TryPeek(out _, out long next))
            {
                if (_alarm.Due < next)
                {
                    _now = Math.Max(_now, _alarm.Due);
                    _alarm.Due = _alarm.Tick!();
                    continue;
                }

                _now = next;
                while (_asleep.TryPeek(out Sleeper? first, out long due) && due <= next)
                {
                    _asleep.Dequeue();
                    Wake(first);
                }
            }
        }
    }

    /// <summary>One at a time is enough for a group.</summary>
    public IDisposable Schedule(long firstDue, Func<long> tick)
    {
        lock (_lock)
            _alarm = (firstDue, tick);
        return new Scheduled(this);
    }

    private sealed class Sleeper
    {
        public ManualResetEventSlim Woken { get; } = new(false, spinCount: 0);

        public bool IsAsleep { get; set; }
    }

    private sealed class Parker(CrowdClock clock) : IParker
    {
        private readonly Sleeper _sleeper = new();
        private bool _isEnded;

        public void ParkUntil(long ticks)
        {
            lock (clock._lock)
            {
                if (_isEnded || ticks <= clock._now)
                {
                    _isEnded = false;
                    return;
                }

                clock.FallAsleep(_sleeper, ticks);
            }

            _sleeper.Woken.Wait();
        }

        public void Unpark()
        {
            lock (clock._lock)
            {
                _isEnded = !_sleeper.IsAsleep;
                if (_isEnded)
                    return;
                clock._asleep.Remove(_sleeper, out _, out _);
                clock.Wake(_sleeper);
            }
        }
    }

    private sealed class Scheduled(CrowdClock clock) : IDisposable
    {
        public void Dispose()
        {
            lock (clock._lock)
                clock._alarm = (long.MaxValue, null);
        }
    }
}
