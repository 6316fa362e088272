namespace MongoPerf.Wire.Files;

/// <summary>Files and folders that nobody but their owner may read, from the moment they are there.</summary>
public static class OwnerOnly
{
    private const UnixFileMode OfFiles = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Makes a folder, and those above it; one that is there stays as it is.</summary>
    /// <exception cref="IOException">It can't be made.</exception>
    public static void MakeFolder(string folder)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(folder);
        else
            Directory.CreateDirectory(folder, OfFiles | UnixFileMode.UserExecute);
    }

    /// <summary>Makes an empty file, to be written.</summary>
    /// <exception cref="IOException">It is there already, be it a link that leads nowhere, or can't be made.</exception>
    public static FileStream CreateFile(string path)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = OfFiles;
        return new FileStream(path, options);
    }
}
