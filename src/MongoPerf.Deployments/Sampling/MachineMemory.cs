using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Deployments.Sampling;

/// <summary>How much memory processes here may use.</summary>
internal static class MachineMemory
{
    /// <summary>Physical memory, or the limit of this process's cgroup (version 1 or 2, or of one above it) where that is lower.</summary>
    /// <param name="root">Another folder than / in tests.</param>
    /// <returns>Bytes; what .NET thinks where the system does not tell.</returns>
    public static long ReadBytes(string root = "/")
    {
        double kilobytes = ProcText.FindNumber(SystemFile.Read(Path.Combine(root, "proc/meminfo")), "MemTotal:"u8);
        long bytes = double.IsNaN(kilobytes) ? GC.GetGCMemoryInfo().TotalAvailableMemoryBytes : (long)kilobytes * 1024;
        foreach (string line in SystemFile.ReadText(Path.Combine(root, "proc/self/cgroup")).Split('\n'))
        {
            // number:controllers:path, version 2 without controllers
            string[] parts = line.Split(':', 3);
            if (parts.Length != 3)
                continue;
            if (parts[1].Length == 0)
                bytes = Math.Min(bytes, LowestLimit(Path.Combine(root, "sys/fs/cgroup"), parts[2], "memory.max"));
            else if (parts[1].Split(',').Contains("memory"))
                bytes = Math.Min(bytes, LowestLimit(Path.Combine(root, "sys/fs/cgroup/memory"), parts[2], "memory.limit_in_bytes"));
        }

        return bytes;
    }

    // In a container the path may be the host's and not be there: the container's own limit is then at the top.
    private static long LowestLimit(string top, string path, string file)
    {
        long lowest = long.MaxValue;
        for (string at = path.Trim('/'); ; at = Path.GetDirectoryName(at) ?? "")
        {
            string text = SystemFile.ReadText(Path.Combine(top, at, file)).Trim();
            if (long.TryParse(text, out long limit))
                lowest = Math.Min(lowest, limit);
            if (at.Length == 0)
                return lowest;
        }
    }
}
