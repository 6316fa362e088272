using System.Diagnostics;
using System.Globalization;
using MongoPerf.Platforms;

namespace MongoPerf.Server.Commands;

/// <summary>What the system knows of this process. Zero where a figure is not to be had.</summary>
/// <remarks>Disk bytes are what went from and towards the disk, not the page cache (/proc/self/io, read_bytes and write_bytes).</remarks>
internal sealed record ProcessFigures(
    long UserMicroseconds, long SystemMicroseconds, long MinorFaults, long MajorFaults,
    long ResidentBytes, long PeakResidentBytes, long VirtualBytes, long DiskBytesRead, long DiskBytesWritten)
{
    private const long MicrosecondsPerTick = 10_000;

    public static ProcessFigures Read() => Platform.IsLinux ? ReadLinux() : ReadPlain();

    private static ProcessFigures ReadLinux()
    {
        // /proc/self/stat, proc(5): fields from the 3rd on follow the last parenthesis.
        string[] stat = SystemFile.ReadText("/proc/self/stat").Split(')')[^1].Split(' ', StringSplitOptions.RemoveEmptyEntries);
        string[] status = SystemFile.ReadText("/proc/self/status").Split('\n');
        string[] io = SystemFile.ReadText("/proc/self/io").Split('\n');
        return new ProcessFigures(
            Field(stat, 11) * MicrosecondsPerTick, Field(stat, 12) * MicrosecondsPerTick, Field(stat, 7), Field(stat, 9),
            Named(status, "VmRSS:") << 10, Named(status, "VmHWM:") << 10, Named(status, "VmSize:") << 10,
            Named(io, "read_bytes:"), Named(io, "write_bytes:"));
    }

    private static ProcessFigures ReadPlain()
    {
        Environment.ProcessCpuUsage cpu = Environment.CpuUsage;
        using var self = Process.GetCurrentProcess();
        return new ProcessFigures((long)cpu.UserTime.TotalMicroseconds, (long)cpu.PrivilegedTime.TotalMicroseconds, 0, 0,
            self.WorkingSet64, self.PeakWorkingSet64, self.VirtualMemorySize64, 0, 0);
    }

    private static long Field(string[] fields, int index) =>
        index < fields.Length && long.TryParse(fields[index], CultureInfo.InvariantCulture, out long value) ? value : 0;

    private static long Named(string[] lines, string name)
    {
        string? line = Array.Find(lines, candidate => candidate.StartsWith(name, StringComparison.Ordinal));
        string number = line == null ? "0" : line[name.Length..].Replace("kB", "", StringComparison.Ordinal).Trim();
        return long.TryParse(number, CultureInfo.InvariantCulture, out long value) ? value : 0;
    }
}
