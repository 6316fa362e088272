using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Phases;

/// <summary>Spreads a total rate evenly over the workers and over time (open loop: a late operation does not move the next).</summary>
internal sealed class Pacer(IClock clock, double rate, int threads, int index)
{
    private readonly double _interval = clock.TicksPerSecond * threads / rate;
    private double _next;

    public void Start(long start) => _next = start + (_interval * index / threads);

    /// <summary>Arrivals that have not been waited for and are due before this time, ticks.</summary>
    public long LeftBefore(long end)
    {
        // Sums of fractions are not exact: what is due in the last half tick is due at the end.
        double left = end - 0.5 - _next;
        return end == long.MaxValue || left <= 0 ? 0 : (long)Math.Ceiling(left / _interval);
    }

    /// <param name="control">Of the phase.</param>
    /// <param name="intended">When the operation is meant to start, ticks.</param>
    /// <returns>False when the phase ends before that.</returns>
    public bool WaitForNext(GroupControl control, out long intended)
    {
        intended = (long)_next;
        _next += _interval;
        long until = Math.Min(intended, control.EndAt);
        // In short steps, so that Ctrl+C is not kept waiting by a low rate.
        while (clock.Now < until && !control.IsStopped)
            clock.SleepUntil(Math.Min(until, clock.Now + (clock.TicksPerSecond / 20)));
        return intended < control.EndAt && !control.IsStopped;
    }
}
