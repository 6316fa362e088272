using System.Text;
using MongoPerf.Wire.Files;

namespace MongoPerf.Storage;

/// <summary>
/// Files inside a run's folder. The folder may come from somebody else, so no link in it is followed: neither to write nor to delete.
/// </summary>
/// <remarks>
/// Folders and run.db are readable by their owner only: what a run knows of a server and its users is nobody else's business.
/// </remarks>
public static class OwnFiles
{
    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false);

    /// <summary>Whether the name itself is a symbolic link, also one that leads nowhere.</summary>
    public static bool IsLink(string path) => new FileInfo(path).LinkTarget is not null;

    /// <exception cref="RunStoreException">It is a link.</exception>
    public static void RefuseLink(string path)
    {
        if (new FileInfo(path).LinkTarget is { } target)
            throw new RunStoreException($"{path} is a link to {target}; inside a run MongoPerf follows no links\n"
                + "hint:  to use the run, remove the link");
    }

    /// <summary>Makes a folder, and those above it, that only its owner may read; one that is there stays as it is.</summary>
    /// <exception cref="RunStoreException">It is a link.</exception>
    /// <exception cref="IOException">It can't be made.</exception>
    public static void MakeFolder(string folder)
    {
        RefuseLink(folder);
        OwnerOnly.MakeFolder(folder);
    }

    /// <summary>Makes an empty file that only its owner may read.</summary>
    /// <exception cref="IOException">It is there already.</exception>
    public static void CreateFile(string path) => OwnerOnly.CreateFile(path).Dispose();

    /// <summary>A new, empty text file in place of what has the name; a link of that name is removed, not followed.</summary>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static StreamWriter Replace(string path)
    {
        File.Delete(path);
        // CreateNew never opens what somebody put there meanwhile.
        return new StreamWriter(new FileStream(path, FileMode.CreateNew, FileAccess.Write, FileShare.Read), Utf8);
    }

    /// <summary>Does the same as <see cref="Replace(string)"/> with the whole text.</summary>
    public static void Replace(string path, string text)
    {
        using StreamWriter output = Replace(path);
        output.Write(text);
    }

    /// <summary>Does the same as <see cref="Replace(string, string)"/>; only the owner can read the file.</summary>
    public static void ReplacePrivate(string path, string text)
    {
        File.Delete(path);
        using var output = new StreamWriter(OwnerOnly.CreateFile(path), Utf8);
        output.Write(text);
    }

    /// <summary>All that is below a folder, a folder before what is in it. Links are named and not followed.</summary>
    public static IEnumerable<FileSystemInfo> Below(DirectoryInfo folder)
    {
        foreach (FileSystemInfo entry in folder.EnumerateFileSystemInfos())
        {
            yield return entry;
            if (entry is not DirectoryInfo sub || sub.LinkTarget is not null)
                continue;
            foreach (FileSystemInfo deeper in Below(sub))
                yield return deeper;
        }
    }
}
