using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace MongoPerf.Platforms;

/// <summary>Sleeps in one wait for any time, to some microseconds: Thread.Sleep counts in whole milliseconds.</summary>
/// <remarks>
/// A thread wakes later than it asked for: Linux adds up to 50 µs to save power (the timer slack, which is set to nothing here: prctl(2),
/// PR_SET_TIMERSLACK), and waking up takes its time, 5 µs on one machine and 40 µs on another. How much that is a thread learns by itself,
/// so that it is asleep for as long as it can be and seldom wakes too late. Elsewhere a thread sleeps in whole milliseconds and stays awake
/// for as long as a sleep may last too long: 16 ms on Windows, whose clock ticks that seldom, 1 ms on macOS.
/// </remarks>
public static partial class ShortSleep
{
    private const int SetTimerSlack = 29;
    private const double LeastLead = 10;

    /// <summary>Beyond it a thread was late because it had no core, which being awake earlier does not mend.</summary>
    private const double MostLead = 60;
    private const double ShortestNap = 10;

    private static readonly double PlainLead = OperatingSystem.IsWindows() ? 16_000 : 1_000;

    [ThreadStatic]
    private static double _lead;

    /// <summary>Sleeps until shortly before a time; a signal may end it earlier.</summary>
    /// <param name="microseconds">The microseconds until that time.</param>
    /// <returns>False when that is too near to sleep.</returns>
    public static bool TrySleep(double microseconds)
    {
        if (!Platform.IsLinux)
        {
            int milliseconds = (int)((microseconds - PlainLead) / 1000);
            if (milliseconds > 0)
                Thread.Sleep(milliseconds);
            return milliseconds > 0;
        }

        if (_lead == 0)
        {
            _lead = MostLead;
            _ = Prctl(SetTimerSlack, 1, 0, 0, 0);
        }

        double nap = microseconds - _lead;
        if (nap < ShortestNap)
            return false;
        long start = Stopwatch.GetTimestamp();
        (long seconds, long nanoseconds) = Math.DivRem((long)(nap * 1000), 1_000_000_000);
        var time = new TimeSpecification { Seconds = (nint)seconds, Nanoseconds = (nint)nanoseconds };
        _ = NanoSleep(in time, 0);
        Learn(Stopwatch.GetElapsedTime(start).TotalMicroseconds - nap);
        return true;
    }

    /// <summary>
    /// Follows the 98th percentile of what naps last too long: up by 49 parts when one lasted longer, down by 1 when not.
    /// </summary>
    /// <remarks>Q. Ma, S. Muthukrishnan, M. Sandler, "Frugal streaming for estimating quantiles", 2013.</remarks>
    private static void Learn(double late) => _lead = Math.Clamp(_lead + (late > _lead ? 4.9 : -0.1), LeastLead, MostLead);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "nanosleep")]
    private static partial int NanoSleep(in TimeSpecification time, nint remaining);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "prctl")]
    private static partial int Prctl(int option, nuint value, nuint unused3, nuint unused4, nuint unused5);
}
