using System.Diagnostics;
using System.Globalization;
using MongoPerf.Platforms;

namespace MongoPerf.Running.Doctor;

/// <summary>How quiet this machine is: measured while one thread does nothing but read the clock.</summary>
/// <param name="OtherShare">The share of all CPUs that other programs took, 0 to 1; NaN where the system does not tell.</param>
/// <param name="StolenShare">The share of all CPUs that the host of this virtual machine gave to others, 0 to 1.</param>
/// <param name="Busiest">The program that took most, and its share of one CPU; null when none took a hundredth.</param>
/// <param name="LongestPauseMilliseconds">The longest time for which the thread did not run.</param>
/// <param name="ReadingNanoseconds">What reading the clock takes, pauses left out.</param>
/// <param name="StepNanoseconds">The smallest difference between two readings that differ.</param>
public sealed record MachineNoise(
    double OtherShare, double StolenShare, (string Name, double Share)? Busiest, double LongestPauseMilliseconds,
    double ReadingNanoseconds, double StepNanoseconds)
{
    private const double MuchOther = 0.05;
    private const double MuchStolen = 0.01;
    private const double LongPause = 10;
    private const double SlowReading = 500;

    /// <summary>Takes a CPU for so long.</summary>
    /// <param name="seconds">Long enough for the system's counters, which count hundredths.</param>
    /// <param name="stop">Ends it earlier.</param>
    public static MachineNoise Measure(double seconds, CancellationToken stop)
    {
        using var own = Process.GetCurrentProcess();
        TimeSpan ownBefore = own.TotalProcessorTime;
        CpuTicks before = CpuTicks.Read();
        Dictionary<int, (string Name, double Ticks)> programs = ReadPrograms();
        (long longest, long step, double reading) = Spin(seconds, stop);
        CpuTicks now = CpuTicks.Read();
        own.Refresh();
        double ownTicks = (own.TotalProcessorTime - ownBefore).TotalSeconds * 100;
        double all = now.All - before.All;
        (string Name, double Ticks)? most = ReadPrograms()
            .Where(one => one.Key != Environment.ProcessId
                && programs.TryGetValue(one.Key, out (string Name, double Ticks) former) && former.Name == one.Value.Name)
            .Select(one => ((string, double)?)(one.Value.Name, one.Value.Ticks - programs[one.Key].Ticks))
            .MaxBy(one => one?.Item2);
        double ticks = all / Environment.ProcessorCount;
        return new MachineNoise(
            all > 0 ? Math.Clamp((now.Busy - before.Busy - ownTicks) / all, 0, 1) : double.NaN,
            all > 0 ? (now.Stolen - before.Stolen) / all : 0,
            most is { } busiest && busiest.Ticks > ticks / 100 ? (busiest.Name, busiest.Ticks / ticks) : null,
            longest * 1000.0 / Stopwatch.Frequency, reading, step * 1e9 / Stopwatch.Frequency);
    }

    public IReadOnlyList<Check> Checks()
    {
        string clock = $"{ReadingNanoseconds:0} ns to read, {StepNanoseconds:0} ns resolution";
        string others = Busiest is { } one ? $"; most by {one.Name} ({Percent(one.Share)} of a CPU)" : "";
        string pause = $"{LongestPauseMilliseconds.ToString("0.0##", CultureInfo.InvariantCulture)} ms for which a busy thread did not run";
        return
        [
            ReadingNanoseconds > SlowReading
                ? Check.Warning("clock", $"{clock}: slower than usual, and a part of every latency", "see 'clock source'")
                : Check.Ok("clock", clock),
            .. double.IsNaN(OtherShare) ? (Check[])[]
                : OtherShare > MuchOther ? [Check.Warning(
                    "other programs", $"{Percent(OtherShare)} of all CPUs{others}: measurements lose that",
                    "end them, or measure when the machine is quiet")]
                : [Check.Ok("other programs", $"{Percent(OtherShare)} of all CPUs{others}")],
            .. StolenShare > MuchStolen ? [Check.Warning(
                "stolen time", $"{Percent(StolenShare)} of all CPUs went to other virtual machines of the host",
                "measure on a machine of your own, or repeat runs (--repeat) and trust their spread")] : (Check[])[],
            LongestPauseMilliseconds > LongPause
                ? Check.Warning("longest pause", $"{pause}: longer latencies may be this machine's, not the server's",
                    "use fewer threads than CPUs, or a quiet machine")
                : Check.Ok("longest pause", pause),
        ];
    }

    private static string Percent(double share) => Units.Percent(share);

    /// <summary>The pauses in ticks of the stopwatch, and the reading in nanoseconds.</summary>
    private static (long Longest, long Step, double Reading) Spin(double seconds, CancellationToken stop)
    {
        long begun = Stopwatch.GetTimestamp();
        long end = begun + (long)(seconds * Stopwatch.Frequency);
        long pause = Stopwatch.Frequency / 100_000;
        long last = begun, longest = 0, step = long.MaxValue, readings = 0, awake = 0;
        while (last < end && !stop.IsCancellationRequested)
        {
            long now = Stopwatch.GetTimestamp();
            long passed = now - last;
            longest = Math.Max(longest, passed);
            if (passed > 0)
                step = Math.Min(step, passed);
            last = now;
            if (passed > pause)
                continue;
            awake += passed;
            readings++;
        }

        return (longest, step == long.MaxValue ? 0 : step, awake * 1e9 / Stopwatch.Frequency / Math.Max(1, readings));
    }

    private static Dictionary<int, (string Name, double Ticks)> ReadPrograms()
    {
        var programs = new Dictionary<int, (string, double)>();
        if (!Directory.Exists("/proc"))
            return programs;
        foreach (string folder in Directory.EnumerateDirectories("/proc"))
        {
            if (!int.TryParse(Path.GetFileName(folder), out int process))
                continue;
            string stat = SystemFile.ReadText(Path.Combine(folder, "stat"));
            int end = stat.LastIndexOf(')');
            string[] fields = end < 0 ? [] : stat[(end + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries);
            // From the state on, which is field 3: utime and stime are 14 and 15 (proc_pid_stat(5)).
            if (fields.Length > 12 && double.TryParse(fields[11], out double user) && double.TryParse(fields[12], out double system))
                programs[process] = (stat[(stat.IndexOf('(') + 1)..end], user + system);
        }

        return programs;
    }

    /// <summary>Hundredths of a second of all CPUs since the start of the system.</summary>
    private readonly record struct CpuTicks(double All, double Busy, double Stolen)
    {
        /// <summary>cpu user nice system idle iowait irq softirq steal … (proc_stat(5)).</summary>
        public static CpuTicks Read()
        {
            string[] words = SystemFile.ReadText("/proc/stat").Split('\n')[0].Split(' ', StringSplitOptions.RemoveEmptyEntries);
            double[] times = [.. words.Skip(1).Take(8).Select(word => double.TryParse(word, out double time) ? time : 0)];
            return times.Length < 8 ? default : new CpuTicks(times.Sum(), times.Sum() - times[3] - times[4] - times[7], times[7]);
        }
    }
}
