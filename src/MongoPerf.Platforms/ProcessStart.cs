using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;

namespace MongoPerf.Platforms;

/// <summary>
/// When a process started, and since which start of the machine: with its number that names it for good, since the system
/// gives numbers out again.
/// </summary>
public static class ProcessStart
{
    // Behind the name in brackets come state (field 3) and the rest; the start time is field 22.
    private const int StartField = 22 - 3;
    private const int ThreadCountField = 20 - 3;

    /// <summary>.NET reckons it from the present time on some systems, and clocks are set. No number comes again that soon.</summary>
    private static readonly TimeSpan Tolerance = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Hundredths of a second since the machine came up (/proc/PID/stat, field 22); elsewhere than on Linux 100 ns of the calendar.
    /// </summary>
    /// <param name="processId">Its number.</param>
    /// <param name="root">Another folder than /proc in tests.</param>
    /// <returns>
    /// Null when no such process lives. One that has ended and is only waited for (a zombie) does not; one whose first thread has ended
    /// while others still do lives: it holds its port and its lock files until the last of them is gone.
    /// </returns>
    public static long? ReadTicks(int processId, string root = "/proc")
    {
        if (!Platform.IsLinux)
            return AskDotNet(processId);
        string stat = SystemFile.ReadText(Path.Combine(root, $"{processId}/stat"));
        // The name may hold blanks and brackets: everything up to the last bracket is it.
        int nameEnd = stat.LastIndexOf(')');
        if (processId <= 0 || nameEnd < 0 || nameEnd + 2 >= stat.Length)
            return null;
        string[] fields = stat[(nameEnd + 2)..].Split(' ');
        if (fields.Length <= StartField || !long.TryParse(fields[StartField], CultureInfo.InvariantCulture, out long start))
            return null;
        bool hasEnded = fields[0] == "X" || (fields[0] == "Z"
            && !(int.TryParse(fields[ThreadCountField], CultureInfo.InvariantCulture, out int threads) && threads > 1));
        return hasEnded ? null : start;
    }

    /// <summary>Whether two readings of one process number are of one process.</summary>
    public static bool IsSame(long one, long other) => Platform.IsLinux ? one == other : Math.Abs(one - other) < Tolerance.Ticks;

    /// <summary>Another text after each start of the machine; empty where there is none: then the calendar tells starts apart.</summary>
    public static string ReadBoot(string root = "/proc") => SystemFile.ReadText(Path.Combine(root, "sys/kernel/random/boot_id")).Trim();

    /// <summary>Its name as .NET has it; empty when there is none.</summary>
    public static string NameOf(int processId)
    {
        try
        {
            using var process = Process.GetProcessById(processId);
            return process.ProcessName;
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException or Win32Exception)
        {
            return "";
        }
    }

    /// <summary>Does the same as <see cref="ReadTicks"/> on a system that is not Linux.</summary>
    internal static long? AskDotNet(int processId)
    {
        try
        {
            using var process = Process.GetProcessById(processId);
            return process.HasExited ? null : process.StartTime.ToUniversalTime().Ticks;
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException or Win32Exception)
        {
            // None of this number, or another user's.
            return null;
        }
    }
}
