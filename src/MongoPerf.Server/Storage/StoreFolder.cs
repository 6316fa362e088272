using MongoPerf.Platforms;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Server.Storage;

/// <summary>
/// Whose folder the store is to lie in: an empty one becomes the store's and is marked so, and any other must have the mark.
/// </summary>
internal static class StoreFolder
{
    public const string MarkFile = "mongoperf-store";

    /// <summary>The prefix of files and folders that are put beside the store, maybe before the server starts.</summary>
    public const string OwnPrefix = "mongoperf-";

    /// <summary>Makes the folder, or sees to it that it is the store's.</summary>
    /// <exception cref="StorageException">It is neither empty nor the store's, or holds a link in place of something of ours.</exception>
    /// <exception cref="IOException">It can't be made.</exception>
    public static void Claim(string path)
    {
        Directory.CreateDirectory(path);
        RefuseLinks(path);
        string mark = Path.Combine(path, MarkFile);
        if (File.Exists(mark))
            return;
        string? foreign = Directory.EnumerateFileSystemEntries(path).Select(Path.GetFileName)
            .FirstOrDefault(name => name?.StartsWith(OwnPrefix, StringComparison.Ordinal) == false);
        if (foreign is not null && !IsUnmarkedStore(path))
        {
            throw new StorageException(
                $"{Path.GetFullPath(path)} contains '{foreign}' and is not the embedded server's data folder; nothing was written",
                "name an empty or new folder",
                fault: Fault.Refused);
        }

        // CreateNew: a link of that name, which leads nowhere yet, is not followed.
        using (var file = new FileStream(mark, FileMode.CreateNew, FileAccess.Write))
        {
            file.Write("MongoPerf's embedded server keeps its data here.\n"u8);
            file.Flush(flushToDisk: true);
        }

        // Without its name, or its mark, a power cut would take all that is synced in it.
        SystemCalls.SyncFolder(path);
        SystemCalls.SyncFolder(Path.GetDirectoryName(Path.GetFullPath(path)) ?? path);
    }

    /// <summary>What is put beside the store must not land elsewhere, nor be read or deleted there.</summary>
    /// <exception cref="StorageException">There is a link in place of something of ours.</exception>
    public static void RefuseLinks(string path)
    {
        var folder = new DirectoryInfo(path);
        if (folder.Exists
            && folder.EnumerateFileSystemInfos(OwnPrefix + "*").FirstOrDefault(entry => entry.LinkTarget is not null) is { } link)
            throw new StorageException($"{link.FullName} is a link, and links are not followed here; nothing was changed",
                "delete the link, or name another folder", fault: Fault.Refused);
    }

    /// <summary>One of an earlier version: RocksDB's files with column families that only this store has.</summary>
    private static bool IsUnmarkedStore(string path)
    {
        string[] columns = [.. RocksDatabase.ListColumns(path).Where(name => name != RocksDatabase.DefaultColumn)];
        return columns.Length > 0 && columns.All(ColumnNames.IsOne);
    }
}
