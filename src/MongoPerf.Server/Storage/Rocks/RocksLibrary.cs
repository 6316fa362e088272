namespace MongoPerf.Server.Storage.Rocks;

/// <summary>Under which names RocksDB's library may be found on this machine.</summary>
internal static class RocksLibrary
{
    // What the store is tested with, then what other releases of Debian and Ubuntu have.
    private static readonly string[] Known = ["librocksdb.so.7.8", "librocksdb.so.8.9", "librocksdb.so.9"];

    private static readonly EnumerationOptions AndOneLevelBelow = new() { RecurseSubdirectories = true, MaxRecursionDepth = 1, AttributesToSkip = 0 };

    /// <summary>Where systems put libraries; Debian has a folder for each kind of processor in /usr/lib.</summary>
    public static IReadOnlyList<string> Folders { get; } = ["/usr/lib64", "/usr/local/lib", "/usr/lib"];

    /// <summary>What to try to load, one after the other: the known names, then whatever lies in the folders or right below them, the newest first.</summary>
    public static IEnumerable<string> Files(IEnumerable<string> folders) => Known.Concat(folders
        .Where(Directory.Exists)
        .SelectMany(folder => Directory.GetFiles(folder, "librocksdb.so.*", AndOneLevelBelow))
        .OrderByDescending(VersionOf));

    private static Version VersionOf(string file)
    {
        string text = file[(file.LastIndexOf(".so.", StringComparison.Ordinal) + 4)..];
        return Version.TryParse(text.Contains('.', StringComparison.Ordinal) ? text : text + ".0", out Version? version) ? version : new Version(0, 0);
    }
}
