using System.Text.RegularExpressions;
using MongoPerf.Platforms;

namespace MongoPerf.Wire.Files;

/// <summary>Files that are replaced whole or not at all: whoever reads one meanwhile sees the former one.</summary>
public static partial class WholeFile
{
    /// <summary>What no writer can still be busy with.</summary>
    private static readonly TimeSpan Abandoned = TimeSpan.FromHours(1);

    /// <summary>Writes a file and puts it in place of whatever has the name; a link is replaced, not followed.</summary>
    /// <remarks>Threads and processes may replace one file at once: each writes its own, and the last one's stays.</remarks>
    /// <param name="path">The file.</param>
    /// <param name="write">Writes the new one.</param>
    /// <param name="isPrivate">Only its owner may read it.</param>
    /// <param name="isDurable">It returns when the new one is on the disk; a power cut before that leaves the former one.</param>
    /// <exception cref="IOException">The folder can't be written, or a folder has the name.</exception>
    public static void Replace(string path, Action<FileStream> write, bool isPrivate = false, bool isDurable = false)
    {
        // A name of its own, not a longer one: names have 255 bytes at most.
        string unfinished = Path.Combine(Path.GetDirectoryName(path) ?? "", $"mongoperf-{Random.Shared.NextInt64():x16}.new");
        try
        {
            using (FileStream file = isPrivate ? OwnerOnly.CreateFile(unfinished)
                : new FileStream(unfinished, FileMode.CreateNew, FileAccess.Write))
            {
                write(file);
                if (isDurable)
                    file.Flush(flushToDisk: true);
            }

            File.Move(unfinished, path, overwrite: true);
            if (isDurable)
                SystemCalls.SyncFolder(Path.GetDirectoryName(Path.GetFullPath(path))!);
        }
        catch
        {
            // A full disk is not to be fuller for it.
            TryDelete(unfinished);
            throw;
        }
    }

    /// <summary>Deletes what writers that were killed have left in a folder of ours.</summary>
    /// <param name="folder">The folder.</param>
    /// <param name="all">Also what a writer may be busy with.</param>
    public static void RemoveLeftovers(string folder, bool all = false)
    {
        foreach (string file in Directory.EnumerateFiles(folder, "mongoperf-*.new").Where(IsLeftover))
        {
            if (all || DateTime.UtcNow - File.GetLastWriteTimeUtc(file) > Abandoned)
                TryDelete(file);
        }
    }

    /// <summary>Whether a file has the name of one that is being written, or was when its writer was killed.</summary>
    public static bool IsLeftover(string file) => Leftover().IsMatch(file);

    private static void TryDelete(string file)
    {
        try
        {
            File.Delete(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // It is in nobody's way.
        }
    }

    [GeneratedRegex(@"mongoperf-[0-9a-f]{16}\.new$")]
    private static partial Regex Leftover();
}
