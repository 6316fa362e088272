using MongoPerf.Measurement;

namespace MongoPerf.Load.Failures;

/// <summary>Waits longer after each failure in a row, up to a bound.</summary>
internal sealed class Backoff(IClock clock, double firstSeconds, double mostSeconds)
{
    private double _next = firstSeconds;

    public void Wait(Func<bool> stop)
    {
        // In short steps, so that Ctrl+C is not kept waiting.
        long until = clock.Now + clock.TicksOf(_next);
        while (clock.Now < until && !stop())
            clock.SleepUntil(Math.Min(until, clock.Now + clock.TicksOf(0.05)));
        _next = Math.Min(mostSeconds, _next * 2);
    }
}
