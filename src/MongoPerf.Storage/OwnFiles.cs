using System.Text;
using MongoPerf.Platforms;
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

    /// <summary>Why a file is not to be opened, to be read behind its name: it is a link, or no file at all, such as a pipe.</summary>
    /// <returns>Null for a file, and where there is nothing.</returns>
    public static string? FindFault(string path) => IsLink(path) ? "is a link"
        : Path.Exists(path) && !SystemCalls.IsRegularFile(path) ? "is not a regular file" : null;

    /// <summary>Reads a small file.</summary>
    /// <param name="path">The file.</param>
    /// <param name="most">The most bytes that it may have.</param>
    /// <exception cref="IOException">There is none, it is larger, or <see cref="FindFault"/> says why not.</exception>
    public static byte[] Read(string path, int most = 1 << 20)
    {
        if (FindFault(path) is { } fault)
            throw new IOException($"{path} {fault}");
        return new FileInfo(path).Length <= most ? File.ReadAllBytes(path)
            : throw new IOException($"{path} is larger than {most:N0} bytes");
    }

    /// <summary>Makes a folder, and those above it, that only its owner may read; one that is there stays as it is.</summary>
    /// <remarks>What writers that were killed have left in it is deleted.</remarks>
    /// <exception cref="RunStoreException">It is a link.</exception>
    /// <exception cref="IOException">It can't be made.</exception>
    public static void MakeFolder(string folder)
    {
        RefuseLink(folder);
        OwnerOnly.MakeFolder(folder);
        WholeFile.RemoveLeftovers(folder);
    }

    /// <summary>Makes an empty file that only its owner may read.</summary>
    /// <exception cref="IOException">It is there already.</exception>
    public static void CreateFile(string path) => OwnerOnly.CreateFile(path).Dispose();

    /// <summary>Puts a text file in place of what has the name.</summary>
    /// <inheritdoc cref="WholeFile.Replace"/>
    public static void Replace(string path, Action<TextWriter> write, bool isPrivate = false, bool isDurable = false) => WholeFile.Replace(
        path,
        file =>
        {
            using var output = new StreamWriter(file, Utf8, leaveOpen: true);
            write(output);
        },
        isPrivate,
        isDurable);

    /// <inheritdoc cref="Replace(string, Action{TextWriter}, bool, bool)"/>
    public static void Replace(string path, byte[] content) => WholeFile.Replace(path, file => file.Write(content));

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
