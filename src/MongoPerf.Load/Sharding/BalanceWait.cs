using MongoPerf.Measurement;

namespace MongoPerf.Load.Sharding;

/// <summary>Waits for the balancer, which works by itself and is asked now and then.</summary>
internal static class BalanceWait
{
    private const double SecondsBetween = 0.5;

    /// <param name="clock">Time.</param>
    /// <param name="seconds">The most seconds to wait.</param>
    /// <param name="isBalanced">Asks.</param>
    /// <param name="stop">Ends it early.</param>
    /// <returns>False when it was not balanced by then.</returns>
    public static bool Until(IClock clock, double seconds, Func<bool> isBalanced, CancellationToken stop)
    {
        long giveUpAt = clock.Now + clock.TicksOf(seconds);
        while (!stop.IsCancellationRequested)
        {
            if (isBalanced())
                return true;
            if (clock.Now >= giveUpAt)
                break;
            clock.SleepUntil(Math.Min(giveUpAt, clock.Now + clock.TicksOf(SecondsBetween)));
        }

        return false;
    }
}
