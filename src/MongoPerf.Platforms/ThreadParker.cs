using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace MongoPerf.Platforms;

/// <summary>
/// Where one thread waits until a time has passed, or until another thread ends the wait. An end that comes while it does not wait ends its
/// next wait at once.
/// </summary>
/// <remarks>
/// On Linux that is one system call (futex(2)) to wait and one to end it, to the system's precision, with neither a handle nor a lock:
/// thousands may wait. Elsewhere it is a monitor, in whole milliseconds.
/// </remarks>
public sealed unsafe partial class ThreadParker
{
    private const int Idle = 0;
    private const int Ended = 1;
    private const int Waiting = -1;
    private const int FutexWait = 0 | Private;
    private const int FutexWake = 1 | Private;
    private const int Private = 128;
    private const double LongestSeconds = 3600;

    /// <summary>syscall(2) wants the number, which differs between processors; 0 for one that is not known here.</summary>
    private static readonly int FutexNumber = !Platform.IsLinux ? 0 : RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.X64 => 202,
        Architecture.Arm64 => 98,
        _ => 0,
    };

    private readonly int[] _state = GC.AllocateArray<int>(1, pinned: true);

    /// <summary>Waits; for the one thread whose place this is. It may end too early: look at the time, and wait again.</summary>
    /// <param name="seconds">At most so long; infinity for no limit.</param>
    public void Park(double seconds)
    {
        if (Interlocked.Decrement(ref _state[0]) == Waiting)
            Wait(Math.Min(seconds, LongestSeconds));
        Interlocked.Exchange(ref _state[0], Idle);
    }

    /// <summary>Ends the wait, or the next one. For any thread.</summary>
    public void Unpark()
    {
        if (Interlocked.Exchange(ref _state[0], Ended) == Waiting)
            Wake();
    }

    private void Wait(double seconds)
    {
        if (OperatingSystem.IsLinux() && FutexNumber != 0)
        {
            (long whole, long nanoseconds) = Math.DivRem((long)(seconds * 1e9), 1_000_000_000);
            var time = new TimeSpecification { Seconds = (nint)whole, Nanoseconds = (nint)nanoseconds };
            _ = Futex(FutexNumber, ref _state[0], FutexWait, Waiting, &time, 0, 0);
            return;
        }

        lock (_state)
        {
            if (_state[0] == Waiting)
                Monitor.Wait(_state, (int)Math.Ceiling(seconds * 1000));
        }
    }

    private void Wake()
    {
        if (OperatingSystem.IsLinux() && FutexNumber != 0)
        {
            _ = Futex(FutexNumber, ref _state[0], FutexWake, 1, null, 0, 0);
            return;
        }

        lock (_state)
            Monitor.Pulse(_state);
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint Futex(
        nint number, ref int word, nint operation, nint value, TimeSpecification* time, nint unused, nint unusedToo);
}
