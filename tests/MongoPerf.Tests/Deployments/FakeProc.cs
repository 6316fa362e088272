using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

/// <summary>A folder that looks like /proc.</summary>
internal static class FakeProc
{
    public const string BootId = "36a06b8b-962f-438c-a633-574ef59156b4";

    /// <param name="folder">Gets a folder "proc".</param>
    /// <param name="mount">The third to fifth field of the root's line in mountinfo: major:minor, root, mount point.</param>
    /// <param name="source">What is mounted.</param>
    public static string Write(TemporaryFolder folder, string mount, string source)
    {
        string proc = folder.At("proc");
        WriteFile(Path.Combine(proc, "stat"), "cpu  100 20 30 400 50 6 7 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
        WriteFile(Path.Combine(proc, "meminfo"), "MemTotal: 8000000 kB\nMemAvailable:    2000000 kB\nCached:   500000 kB\nDirty:  12 kB\n");
        WriteFile(Path.Combine(proc, "vmstat"), "nr_free_pages 5\npswpin 11\npswpout 12\n");
        WriteFile(
            Path.Combine(proc, "diskstats"),
            "   8       0 sda 1 0 5000 2 3 0 6000 4 0 99 100\n   8       1 sda1 10 0 1000 20 30 0 2000 40 0 77 88\n" +
            " 259       0 nvme0n1 1 0 90 2 3 0 10 4 0 5 6\n 259       1 nvme0n1p1 1 0 80 2 3 0 10 4 0 5 6\n"
                + " 253       0 dm-0 1 0 7 2 3 0 8 4 0 9 10\n");
        WriteFile(
            Path.Combine(proc, "net/dev"),
            "Inter-|   Receive |  Transmit\n face |bytes packets\n    lo: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n"
            + "  eth0:111 1 0 0 0 0 0 0 222 1 0 0 0 0 0 0\n");
        WriteFile(Path.Combine(proc, "self/statm"), "1000 300 20 1 0 50 0\n");
        WriteFile(Path.Combine(proc, "self/mountinfo"), "22 1 0:21 / /proc rw - proc proc rw\n"
            + $"27 1 {mount} rw,relatime shared:1 - {(source == "overlay" ? "overlay" : "ext4")} {source} rw\n");
        return proc;
    }

    /// <summary>A process in the fake table.</summary>
    public static void WriteProcess(string proc, int processId, string name, long startTicks, string state, params string[] arguments)
    {
        // 19 fields lie between the state (field 3) and the start time (field 22).
        string between = string.Join(' ', Enumerable.Repeat("0", 18));
        WriteFile(Path.Combine(proc, $"{processId}/stat"), $"{processId} ({name}) {state} {between} {startTicks} 0 0");
        WriteFile(Path.Combine(proc, $"{processId}/comm"), name + "\n");
        WriteFile(Path.Combine(proc, $"{processId}/cmdline"), string.Join('\0', arguments) + "\0");
        WriteFile(Path.Combine(proc, "sys/kernel/random/boot_id"), BootId + "\n");
    }

    public static void WriteFile(string path, string text)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
    }
}
