using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;
using MongoPerf.Storage;

namespace MongoPerf.Deployments;

/// <summary>Finds the server that works on a data folder, whoever started it.</summary>
public static class FolderHolder
{
    private static readonly string[] FolderOptions = ["--dbpath", "--data", "--logpath"];

    // mongod's, WiredTiger's, RocksDB's, and that of a mongoperf which runs a cluster.
    private static readonly string[] LockFiles = ["mongod.lock", "WiredTiger.lock", "LOCK", ClusterLock.FileName];

    /// <param name="folder">The folder of a server, or of a cluster with a folder for each of its processes.</param>
    /// <param name="table">Where processes are looked for.</param>
    /// <returns>Who holds it, such as "process 4711 (mongod)" or "whoever has locked …/mongod.lock"; null when nobody does.</returns>
    /// <remarks>A process that has such files open itself must not ask: it would lose its own locks.</remarks>
    public static string? Find(string folder, ProcessTable table)
    {
        string real = Path.TrimEndingDirectorySeparator(Path.GetFullPath(folder));
        foreach (int processId in table.All().Where(id => id != Environment.ProcessId))
        {
            if (FolderOptions.Any(option => table.IsBelow(processId, option, real)))
                return $"process {processId} ({table.NameOf(processId)})";
        }

        return new[] { real }.Concat(Subfolders(real))
            .SelectMany(one => LockFiles.Select(name => Path.Combine(one, name)))
            .Where(IsLocked).Select(file => $"the process that holds the lock on {file}").FirstOrDefault();
    }

    private static IEnumerable<string> Subfolders(string folder) =>
        Directory.EnumerateDirectories(folder).Where(sub => !OwnFiles.IsLink(sub));

    /// <summary>
    /// Looks for both kinds of lock: .NET takes flock as it opens a file for itself alone, and fcntl's when it is asked to.
    /// </summary>
    private static bool IsLocked(string file)
    {
        if (!File.Exists(file) || OwnFiles.FindFault(file) is not null)
            return false;
        try
        {
            using var stream = new FileStream(file, FileMode.Open, FileAccess.ReadWrite, FileShare.None);
            if (!OperatingSystem.IsMacOS())
                stream.Lock(0, long.MaxValue);
            return false;
        }
        catch (FileNotFoundException)
        {
            return false;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Another user's file is not ours to delete either.
            return true;
        }
    }
}
