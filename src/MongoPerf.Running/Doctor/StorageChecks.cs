using MongoPerf.Deployments.Sampling;
using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Running.Doctor;

/// <summary>The disk under the runs folder, where servers that runs start keep their data.</summary>
/// <param name="root">Another folder than / in tests.</param>
internal sealed class StorageChecks(string root)
{
    // What a mongod takes for a million documents of 1 KB, with indexes and journal.
    private const long MillionDocuments = 1_500_000_000;
    private const long LeastFree = 500_000_000;

    /// <summary>MongoDB's recommendation: 8 to 32 sectors of 512 bytes.</summary>
    private const long LeastReadahead = 4;
    private const long MostReadahead = 16;

    private static readonly string[] Networks = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs"];

    /// <param name="folder">The runs folder, or the nearest above that is there.</param>
    /// <param name="machine">What was read for this folder.</param>
    public IReadOnlyList<Check> Run(string folder, EnvironmentInfo machine)
    {
        var mount = MountedDisk.Find(folder, Path.Combine(root, "proc"));
        return [.. new[] { Writable(folder), Free(machine, folder), FileSystem(mount), Readahead(mount) }.OfType<Check>()];
    }

    /// <summary>Tried, since what the modes say is not all that counts.</summary>
    private static Check? Writable(string folder)
    {
        try
        {
            string trial = Path.Combine(folder, $".mongoperf-trial-{Environment.ProcessId}");
            Directory.CreateDirectory(trial);
            Directory.Delete(trial);
            return null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return Check.Problem("runs folder", $"this user can't write in {folder}", "choose another with --out");
        }
    }

    private static Check Free(EnvironmentInfo machine, string folder)
    {
        string found = $"{Units.Bytes(machine.DiskFreeBytes)} free in {folder}";
        return machine.DiskTotalBytes == 0 ? Check.Warning("disk", $"the free space of {folder} is not known", null)
            : machine.DiskFreeBytes < LeastFree ? Check.Problem(
                "disk", $"{found}: no run fits", "make room, or choose another disk with --out")
            : machine.DiskFreeBytes < 2 * MillionDocuments ? Check.Warning(
                "disk", $"{found}: a million documents of 1 KB take about {Units.Bytes(MillionDocuments)}",
                "'mongoperf clean --all' deletes the server data of former runs; --out chooses another disk")
            : Check.Ok(
                "disk", $"{found}, room for about {Units.Exact(machine.DiskFreeBytes / MillionDocuments)} million documents of 1 KB");
    }

    private static Check? FileSystem(MountedDisk? mount)
    {
        if (mount is null)
            return null;
        string found = $"{mount.FileSystem} on {mount.Source}";
        string? problem = mount.FileSystem switch
        {
            "xfs" => null,
            "tmpfs" or "ramfs" => "in memory: nothing waits for a disk, and data take the memory of caches",
            "overlay" => "a container's own layer: copying on write makes it slower than a disk",
            var network when Networks.Contains(network) => "over a network, which becomes a part of what is measured",
            _ => "MongoDB recommends XFS for WiredTiger; others may stall during checkpoints",
        };
        return problem is null ? Check.Ok("file system", found)
            : Check.Warning("file system", $"{found}: {problem}", "--out chooses a folder on another disk");
    }

    private Check? Readahead(MountedDisk? mount)
    {
        if (mount is null || DiskOf(mount) is not { } disk
            || !long.TryParse(SystemFile.ReadText(Path.Combine(root, "sys/block", disk, "queue/read_ahead_kb")).Trim(), out long kilobytes))
            return null;
        string found = $"{kilobytes} KB on {disk}";
        return kilobytes is >= LeastReadahead and <= MostReadahead ? Check.Ok("readahead", found) : Check.Warning(
            "readahead", $"{found}: reads of single documents bring in more than they need; MongoDB asks for {LeastReadahead} to "
                + $"{MostReadahead} KB", $"blockdev --setra {MostReadahead * 2} /dev/{disk}");
    }

    /// <summary>The disk of a partition, which has the queue; null where no device is behind the mount.</summary>
    private string? DiskOf(MountedDisk mount)
    {
        string disks = Path.Combine(root, "sys/block");
        if (mount.Major == 0 || !Directory.Exists(disks))
            return null;
        string number = $"{mount.Major}:{mount.Minor}";
        return Directory.EnumerateDirectories(disks)
            .FirstOrDefault(disk => Has(disk) || Directory.EnumerateDirectories(disk, Path.GetFileName(disk) + "*").Any(Has)) is { } found
            ? Path.GetFileName(found)
            : null;

        bool Has(string folder) => SystemFile.ReadText(Path.Combine(folder, "dev")).Trim() == number;
    }

    /// <summary>The nearest folder above that is there.</summary>
    public static string Existing(string folder)
    {
        while (!Directory.Exists(folder))
            folder = Path.GetDirectoryName(folder)!;
        return folder;
    }
}
