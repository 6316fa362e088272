using System.Text.RegularExpressions;
using MongoPerf.Storage;

namespace MongoPerf.Deployments;

/// <summary>What was deleted.</summary>
/// <param name="Files">Links and folders not counted.</param>
/// <param name="Bytes">Their lengths.</param>
/// <param name="Kept">
/// What neither a server nor the run made, relative to the folder, a folder with a slash behind it and without what is in it.
/// </param>
public sealed record Deleted(int Files, long Bytes, IReadOnlyList<string> Kept)
{
    /// <summary>What was kept, for people; the first ten.</summary>
    public string KeptText => string.Join(", ", Kept.Take(10)) + (Kept.Count > 10 ? $" and {Kept.Count - 10:N0} more" : "");
}

/// <summary>
/// Tells the files that servers and MongoPerf make in a data folder from those that somebody else put there, by their names.
/// </summary>
internal static partial class ServerFiles
{
    /// <summary>
    /// Deletes what servers and MongoPerf made, and the folder itself if nothing else is in it. A link is removed like a file, and
    /// what it leads to stays.
    /// </summary>
    /// <param name="folder">The folder of one server, or of a cluster with its members' folders in it.</param>
    /// <param name="mark">
    /// Goes last, so that an interrupted deletion can be resumed, and stays while something else does; null for none.
    /// </param>
    /// <exception cref="IOException">Something could not be deleted; says how much was.</exception>
    public static Deleted Delete(string folder, string? mark = null)
    {
        (int files, long bytes) = (0, 0);
        try
        {
            FileSystemInfo[] all = [.. OwnFiles.Below(new DirectoryInfo(folder)).Where(entry => entry.FullName != mark)];
            // Backwards: what is in a folder before the folder.
            foreach (FileSystemInfo entry in all.Where(entry => IsOne(Name(entry))).Reverse())
                Delete(entry);
            string[] kept = [.. all.Where(IsKept)
                .Select(entry => entry is DirectoryInfo { LinkTarget: null } ? Name(entry) + "/" : Name(entry))
                .Order(StringComparer.Ordinal)];
            if (kept.Length == 0)
            {
                if (mark is not null && File.Exists(mark))
                    Delete(new FileInfo(mark));
                Directory.Delete(folder);
            }

            return new Deleted(files, bytes, kept);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new IOException($"{folder}: {files:N0} files with {bytes:N0} bytes were deleted, then: {e.Message}");
        }

        string Name(FileSystemInfo entry) => Path.GetRelativePath(folder, entry.FullName);

        // Of a folder that is kept whole only the folder.
        bool IsKept(FileSystemInfo entry) =>
            !IsOne(Name(entry)) && (Path.GetDirectoryName(Name(entry)) is null or "" || IsOne(Path.GetDirectoryName(Name(entry))!));

        void Delete(FileSystemInfo entry)
        {
            if (entry is DirectoryInfo { LinkTarget: null })
            {
                if (!Directory.EnumerateFileSystemEntries(entry.FullName).Any())
                    Directory.Delete(entry.FullName);
                return;
            }

            bool isFile = entry is FileInfo { LinkTarget: null };
            long length = isFile ? ((FileInfo)entry).Length : 0;
            File.Delete(entry.FullName);
            (files, bytes) = (files + (isFile ? 1 : 0), bytes + length);
        }
    }

    /// <param name="name">Relative to the data folder.</param>
    public static bool IsOne(string name) => Member().IsMatch(name) || OfServer().IsMatch(InMember().Replace(name, "", 1));

    /// <summary>The folder of a cluster's member.</summary>
    [GeneratedRegex(@"^(?:router|config|r?s\d+)(?:-(?:\d+|arbiter))?$")]
    private static partial Regex Member();

    [GeneratedRegex(@"^(?:router|config|r?s\d+)(?:-(?:\d+|arbiter))?/")]
    private static partial Regex InMember();

    /// <summary>mongod and mongos; RocksDB; MongoPerf itself.</summary>
    [GeneratedRegex(
        """
        ^(?:
        WiredTiger[\w.]* | [\w.-]+\.wt(?:\.\d+)? | storage\.bson(?:\.tmp)? | mongod\.lock
        | mongo[ds]\.log(?:\.[\w.:-]+)? | output\.log | mongodb-\d+\.sock | (?:_tmp|rollback)(?:/.+)?
        | journal(?:/WiredTiger\w*[Ll]og\.\d+)? | (?:mongos\.)?diagnostic\.data(?:/metrics\.[\w.:-]+)?
        | \d{6,}\.(?:sst|log|blob|dbtmp) | MANIFEST-\d+ | OPTIONS-\d+(?:\.dbtmp)? | CURRENT | IDENTITY | LOCK | LOG(?:\.old\.\d+)? | archive(?:/\d{6,}\.log)?
        | mongoperf-[\w-]+(?:\.\w+)* | cluster\.(?:json|lock)(?:\.\w+)*
        | mongoperf-users/(?:(?:[0-9a-f]{64}\.user|nobody|decoy)(?:\.\d+\.new)?|mongoperf-\w+\.new)
        | (?:mongoperf-)?security(?:\.new)?(?:/(?:[\w-]+\.pem|keyfile|password))?
        )$
        """, RegexOptions.IgnorePatternWhitespace)]
    private static partial Regex OfServer();
}
