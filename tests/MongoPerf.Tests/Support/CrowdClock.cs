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
    private static ManualResetEventSlim? _own;

    private readonly Lock _lock = new();
    private readonly PriorityQueue<ManualResetEventSlim, long> _asleep = new();
    private int _awake = threads;
    private long _now;
    private (long Due, Func<long>? Tick) _alarm = (long.MaxValue, null);

    public long Now => Volatile.Read(ref _now);

    public long TicksPerSecond => 1_000_000;

    public DateTimeOffset UtcNow => DateTimeOffset.UnixEpoch.AddMicroseconds(Now);

    public void SleepUntil(long ticks)
    {
        ManualResetEventSlim own = _own ??= new ManualResetEventSlim(false, 0);
        lock (_lock)
        {
            if (ticks <= _now)
                return;
            own.Reset();
            _asleep.Enqueue(own, ticks);
            End();
        }

        own.Wait();
    }

    /// <summary>The calling thread sleeps by this clock no more.</summary>
    public void End()
    {
        lock (_lock)
        {
            if (--_awake > 0 || !_asleep.TryPeek(out _, out long next))
                return;
            while (_alarm.Due < next)
            {
                _now = Math.Max(_now, _alarm.Due);
                _alarm.Due = _alarm.Tick!();
            }

            _now = next;
            while (_asleep.TryPeek(out ManualResetEventSlim? first, out long due) && due <= next)
            {
                _asleep.Dequeue();
                _awake++;
                first.Set();
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

    private sealed class Scheduled(CrowdClock clock) : IDisposable
    {
        public void Dispose()
        {
            lock (clock._lock)
                clock._alarm = (long.MaxValue, null);
        }
    }
}
