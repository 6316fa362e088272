using System.Formats.Tar;
using System.IO.Compression;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Installing;

/// <summary>An archive as MongoDB publishes it: a gzipped tar with one folder, in it bin/mongod, bin/mongos and texts.</summary>
internal static class ServerArchive
{
    private const UnixFileMode Text = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.OtherRead;
    private const UnixFileMode Program = Text | UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;

    /// <summary>Unpacks the files; the archive's own top folder falls away.</summary>
    /// <param name="archive">The .tgz.</param>
    /// <param name="folder">Gets bin and the rest; made when it is not there.</param>
    /// <param name="requireRoom">Called with a file's length, bytes, before it is written; throws when it does not fit.</param>
    /// <exception cref="DeploymentException">
    /// It is broken, holds no mongod, or something that has no place in it: a link, a path that leads out of it.
    /// </exception>
    public static void Unpack(string archive, string folder, Action<long> requireRoom)
    {
        try
        {
            using FileStream packed = File.OpenRead(archive);
            using var tar = new TarReader(new GZipStream(packed, CompressionMode.Decompress));
            while (tar.GetNextEntry() is { } entry)
                UnpackEntry(entry, archive, folder, requireRoom);
        }
        catch (Exception e) when (e is InvalidDataException or EndOfStreamException or FormatException)
        {
            throw Wrong(archive, $"is not a complete .tgz: {e.Message}", "download it again");
        }

        if (!File.Exists(Path.Combine(folder, "bin", "mongod")))
            throw Wrong(archive, "contains no bin/mongod", "use the server archive (mongodb-linux-….tgz), not the shell or the tools");
    }

    private static void UnpackEntry(TarEntry entry, string archive, string folder, Action<long> requireRoom)
    {
        string[] parts = entry.Name.Split('/', StringSplitOptions.RemoveEmptyEntries);
        if (entry.Name.StartsWith('/') || parts.Any(part => part is ".." || part.Contains('\0', StringComparison.Ordinal)))
            throw Wrong(archive, $"contains '{entry.Name}', which would be written outside its folder; not installed",
                "do not trust this archive");
        switch (entry.EntryType)
        {
            case TarEntryType.Directory or TarEntryType.GlobalExtendedAttributes:
                return;
            case TarEntryType.RegularFile or TarEntryType.V7RegularFile:
                break;
            default:
                throw Wrong(archive, $"contains '{entry.Name}', a {entry.EntryType}; MongoDB's archives contain only files and folders",
                    "do not trust this archive");
        }

        parts = [.. parts.Where(part => part != ".")];
        ReadOnlySpan<string> inside = parts.Length > 0 && parts[0] != "bin" ? parts.AsSpan(1) : parts;
        if (inside.Length == 0)
            return;
        requireRoom(entry.Length);
        string path = Path.Combine([folder, .. inside]);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = inside[0] == "bin" ? Program : Text;
        using var file = new FileStream(path, options);
        entry.DataStream?.CopyTo(file);
        // The folder becomes visible under its name only after this: a power cut must not leave half a program under it.
        file.Flush(flushToDisk: true);
    }

    private static DeploymentException Wrong(string archive, string found, string hint) =>
        new(Fault.WrongUsage, $"{archive} {found}\nhint:  {hint}");
}
