using System.Globalization;
using System.Runtime.InteropServices;
using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Says what the client runs on. Never throws; what the system does not tell is "unknown" or 0.</summary>
public static class EnvironmentReader
{
    private const long MostDiskBytes = 1_000_000_000_000_000;
    private const long BytesOfMegabit = 125_000;

    /// <param name="folder">Whose disk is described: the server's data folder when it is on this machine, else the run's.</param>
    /// <param name="serverOnSameMachine">Whether client and server share this machine.</param>
    /// <param name="root">Another folder than / in tests.</param>
    public static EnvironmentInfo Read(string folder, bool serverOnSameMachine, string root = "/")
    {
        (string disk, long total, long free) = ReadDisk(folder, root);
        return new EnvironmentInfo
        {
            OperatingSystem = FindValue(Path.Combine(root, "etc/os-release"), "PRETTY_NAME", '=')?.Trim('"')
                ?? RuntimeInformation.OSDescription,
            Kernel = FirstLine(Path.Combine(root, "proc/sys/kernel/osrelease")) ?? "",
            CpuModel = FindValue(Path.Combine(root, "proc/cpuinfo"), "model name", ':')
                ?? Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER") ?? RuntimeInformation.OSArchitecture.ToString(),
            CpuCount = Environment.ProcessorCount,
            MemoryBytes = MachineMemory.ReadBytes(root),
            Disk = disk,
            DiskTotalBytes = total,
            DiskFreeBytes = free,
            DotNetVersion = Environment.Version.ToString(),
            ServerOnSameMachine = serverOnSameMachine,
            Host = Environment.MachineName,
            LinkBytesPerSecond = ReadLink(Path.Combine(root, "sys/class/net")),
        };
    }

    /// <summary>Loopback and interfaces that are down tell no speed, or -1.</summary>
    private static long? ReadLink(string interfaces)
    {
        try
        {
            return Directory.EnumerateFileSystemEntries(interfaces)
                .Select(one => long.TryParse(FirstLine(Path.Combine(one, "speed")), NumberStyles.AllowLeadingSign,
                    CultureInfo.InvariantCulture, out long megabits) && megabits > 0 ? megabits * BytesOfMegabit : (long?)null)
                .Max();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static (string Disk, long Total, long Free) ReadDisk(string folder, string root)
    {
        string disk =
            MountedDisk.Find(folder, Path.Combine(root, "proc")) is { } mount ? $"{mount.FileSystem} on {mount.Source}" : "unknown";
        try
        {
            var drive = new DriveInfo(Path.GetFullPath(folder));
            if (!Platform.IsLinux)
                disk = $"{drive.DriveFormat} on {drive.Name}";
            // Network file systems claim to have exabytes.
            return (disk, Math.Min(drive.TotalSize, MostDiskBytes), Math.Min(drive.AvailableFreeSpace, MostDiskBytes));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return (disk, 0, 0);
        }
    }

    private static string? FirstLine(string path) => SystemFile.ReadText(path).Split('\n')[0].Trim() is { Length: > 0 } line ? line : null;

    private static string? FindValue(string path, string key, char separator)
    {
        foreach (string line in SystemFile.ReadText(path).Split('\n'))
        {
            int at = line.IndexOf(separator, StringComparison.Ordinal);
            if (at > 0 && line.AsSpan(0, at).Trim().SequenceEqual(key))
                return line[(at + 1)..].Trim();
        }

        return null;
    }
}
