using System.Runtime.InteropServices;

namespace MongoPerf.Engine.Measurement;

/// <summary>Sleeps for less than a millisecond: Thread.Sleep counts in whole ones.</summary>
internal static partial class ShortSleep
{
    public static void Sleep(long microseconds)
    {
        if (!OperatingSystem.IsLinux())
        {
            Thread.Sleep(0);
            return;
        }

        var time = new TimeSpecification { Nanoseconds = (nint)(microseconds * 1000) };
        _ = NanoSleep(in time, 0);
    }

    [LibraryImport("libc", EntryPoint = "nanosleep")]
    private static partial int NanoSleep(in TimeSpecification time, nint remaining);

    /// <summary>struct timespec of 64-bit Linux.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpecification
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
