using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Adds up the CPU time of processes, some of which may end and be started again meanwhile.</summary>
/// <remarks>One thread. What a process used between the last reading and its end is missing.</remarks>
/// <param name="processes">Numbers of those that live now; null when they are not known, empty when there are none on this machine.</param>
/// <param name="procRoot">Another folder than /proc in tests.</param>
internal sealed class ProcessesCpu(Func<IReadOnlyList<int>?> processes, string procRoot = "/proc")
{
    // As in HostSampler: USER_HZ is 100.
    private const double MicrosecondsPerTick = 10_000;

    /// <summary>The words between the name and the CPU times: utime and stime are fields 14 and 15 of proc_pid_stat(5).</summary>
    private const int WordsBefore = 11;

    private readonly Dictionary<int, double> _last = [];
    private double _sum;

    /// <returns>Core-microseconds since the first reading, user and system; NaN when the processes are not known.</returns>
    public double Read()
    {
        if (processes() is not { } now)
            return double.NaN;
        foreach (int process in now)
        {
            if (ReadTicks(process) is not { } ticks)
                continue;
            // A number that was given out again begins anew.
            double before = _last.GetValueOrDefault(process, ticks);
            _sum += (ticks >= before ? ticks - before : ticks) * MicrosecondsPerTick;
            _last[process] = ticks;
        }

        return _sum;
    }

    private double? ReadTicks(int process)
    {
        ReadOnlySpan<byte> text = SystemFile.Read(Path.Combine(procRoot, $"{process}", "stat"));
        // The name may hold blanks and brackets: everything up to the last bracket is it.
        ReadOnlySpan<byte> fields = text[(text.LastIndexOf((byte)')') + 1)..];
        ProcText.SkipWords(ref fields, WordsBefore);
        double ticks = ProcText.TakeNumber(ref fields) + ProcText.TakeNumber(ref fields);
        return double.IsNaN(ticks) ? null : ticks;
    }
}
