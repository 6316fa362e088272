using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace MongoPerf.Platforms;

/// <summary>
/// CPU time of the calling thread: clock_gettime(2), CLOCK_THREAD_CPUTIME_ID. What other threads use meanwhile does not count.
/// </summary>
public static partial class ThreadCpuTime
{
    private const int ThreadClock = 3;

    /// <summary>Elsewhere than on Linux that of the process.</summary>
    public static TimeSpan Now =>
        Platform.IsLinux && ClockGetTime(ThreadClock, out TimeSpecification time) == 0
            ? TimeSpan.FromSeconds(time.Seconds) + TimeSpan.FromTicks(time.Nanoseconds / TimeSpan.NanosecondsPerTick)
            : Environment.CpuUsage.TotalTime;

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int ClockGetTime(int clock, out TimeSpecification time);
}
