using System.Runtime.InteropServices;

namespace MongoPerf.Platforms;

/// <summary>struct timespec of 64-bit Linux.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct TimeSpecification
{
    public nint Seconds;
    public nint Nanoseconds;
}
