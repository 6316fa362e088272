using MongoPerf.Deployments.Limits;
using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Deployments.Processes;

/// <summary>A control group (version 1 or 2) that limits the memory of one process, the page cache of its files included.</summary>
/// <remarks>Source: the kernel's admin-guide, cgroup-v1/memory and cgroup-v2. One thread at a time.</remarks>
/// <param name="name">The name of the group; always the same for a server, so that a group left behind is found.</param>
/// <param name="bytes">The limit.</param>
/// <param name="place">Where groups can be made.</param>
public sealed class MemoryGroup(string name, long bytes, MemoryGroupPlace place)
{
    private const string NamePrefix = "mongoperf-";
    private const int RemoveAttempts = 50;
    private long? _kills;

    public long Bytes { get; } = bytes;

    /// <summary>A name that no other folder's server has.</summary>
    /// <param name="folder">Full path.</param>
    public static string NameFor(string folder) =>
        $"{NamePrefix}{Sha256.Hex(folder)[..12]}";

    /// <summary>Whether a folder has the name of a group that was made for a server.</summary>
    public static bool IsOurs(string folder) => Path.GetFileName(folder).StartsWith(NamePrefix, StringComparison.Ordinal);

    /// <summary>Where it is, or would be made now; null where none can be.</summary>
    public string? Folder => place.Folder is { } parent ? Path.Combine(parent, name) : null;

    /// <summary>Makes the group, or sets the limit of the one that is there.</summary>
    /// <returns>The file that a process writes its number into to join; null when the system does not allow it.</returns>
    public string? Make()
    {
        if (Folder is not { } folder)
            return null;
        try
        {
            Directory.CreateDirectory(folder);
            File.WriteAllText(Path.Combine(folder, place.LimitFile), $"{Bytes}");
            return Path.Combine(folder, "cgroup.procs");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Remove(folder);
            return null;
        }
    }

    /// <summary>Whether the process is in it: joining may have failed.</summary>
    public bool Holds(int processId, ProcessTable table) =>
        table.GroupsOf(processId).Any(path => path.EndsWith("/" + name, StringComparison.Ordinal));

    /// <summary>
    /// How a server's process has ended, to follow the server's name. Asked whenever one is about to be started: a kill before the last
    /// call, or before the first, counts no more.
    /// </summary>
    /// <param name="group">The group that the process was in; null for none.</param>
    public static string ExitText(MemoryGroup? group) =>
        group?.HasKilled() == true ? $"had been killed at its memory limit of {CacheSize.Text(group.Bytes)}" : "had exited";

    private bool HasKilled()
    {
        long kills = Folder is { } folder ? MemoryGroupPlace.ReadKills(folder, place.KillsFile) : 0;
        bool hasKilled = kills > (_kills ?? kills);
        _kills = kills;
        return hasKilled;
    }

    /// <summary>
    /// Takes a group away whose process has ended. It may lie elsewhere than where this program would make one. Never throws.
    /// </summary>
    public static void Remove(string folder)
    {
        for (int attempt = 1; attempt <= RemoveAttempts && Directory.Exists(folder); attempt++)
        {
            try
            {
                // Not what is in it: the files of a group go with it.
                Directory.Delete(folder, recursive: false);
            }
            catch (IOException)
            {
                // A process that has just ended is counted for a moment still.
                Thread.Sleep(5);
            }
            catch (UnauthorizedAccessException)
            {
                return;
            }
        }
    }
}

/// <summary>
/// Where this process may make control groups for memory: below its own group, so that what limits it limits its servers too.
/// </summary>
/// <param name="Folder">Null when it may nowhere.</param>
/// <param name="LimitFile">The file of a group that has its limit in bytes.</param>
/// <param name="Problem">Why not, in that case; null otherwise.</param>
public sealed record MemoryGroupPlace(string? Folder, string LimitFile, string? Problem)
{
    private const string Top = "sys/fs/cgroup";
    private const string LimitOfVersion1 = "memory.limit_in_bytes";
    private const string LimitOfVersion2 = "memory.max";

    /// <summary>The version of control groups: 1 or 2.</summary>
    public int Version => LimitFile == LimitOfVersion2 ? 2 : 1;

    /// <summary>The file in which a group counts the processes that the system has killed.</summary>
    public string KillsFile => Version == 2 ? "memory.events" : "memory.oom_control";

    /// <param name="root">Another folder than / in tests.</param>
    public static MemoryGroupPlace Find(string root = "/")
    {
        foreach (string line in SystemFile.ReadText(Path.Combine(root, "proc/self/cgroup")).Split('\n'))
        {
            // number:controllers:path, version 2 without controllers
            string[] parts = line.Split(':', 3);
            if (parts.Length == 3 && parts[1].Split(',').Contains("memory"))
                return FindVersion1(Path.Combine(root, Top, "memory"), parts[2].Trim('/'));
            if (parts.Length == 3 && parts[1].Length == 0
                && SystemFile.ReadText(Path.Combine(root, Top, "cgroup.controllers")).Contains("memory", StringComparison.Ordinal))
                return FindVersion2(Path.Combine(root, Top), parts[2].Trim('/'));
        }

        return None("this system has no memory control groups");
    }

    // In a container the path may be the host's and not be there: the container's own group is then at the top.
    private static MemoryGroupPlace FindVersion1(string top, string own)
    {
        string folder = Directory.Exists(Path.Combine(top, own)) ? Path.Combine(top, own) : top;
        return MayMakeGroups(folder) ? new(folder, LimitOfVersion1, null) : None($"this user can't create a group in {folder}");
    }

    // A group that holds processes can't hand memory on to groups below it, so the nearest one above that does is looked for, but not
    // beyond a limit: that would lift it.
    private static MemoryGroupPlace FindVersion2(string top, string own)
    {
        for (string at = own; ; at = Path.GetDirectoryName(at) ?? "")
        {
            string folder = Path.Combine(top, at);
            if (SystemFile.ReadText(Path.Combine(folder, "cgroup.subtree_control")).Contains("memory", StringComparison.Ordinal)
                && MayMakeGroups(folder))
                return new(folder, LimitOfVersion2, null);
            if (at.Length == 0 || SystemFile.ReadText(Path.Combine(folder, LimitOfVersion2)).Trim() is not ("max" or ""))
                return None($"no group above {Path.Combine(top, own)} delegates memory to groups this user can create (with systemd: "
                    + "'systemd-run --scope -p Delegate=yes')");
        }
    }

    // Tried, since what the modes say is not all that counts: the file system may be read-only.
    private static bool MayMakeGroups(string folder)
    {
        string trial = Path.Combine(folder, $"mongoperf-trial-{Environment.ProcessId}");
        try
        {
            Directory.CreateDirectory(trial);
            Directory.Delete(trial, recursive: false);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    /// <summary>
    /// How many processes of a group the system has killed because it needed more memory than its limit; 0 where the system does not say.
    /// </summary>
    public static long ReadKills(string group, string file)
    {
        const string name = "oom_kill ";
        string? line = SystemFile.ReadText(Path.Combine(group, file))
            .Split('\n').FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal));
        return line is not null && long.TryParse(line[name.Length..], out long kills) ? kills : 0;
    }

    private static MemoryGroupPlace None(string problem) => new(null, "", problem);
}
