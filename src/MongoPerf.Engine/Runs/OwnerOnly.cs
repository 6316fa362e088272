namespace MongoPerf.Engine.Runs;

/// <summary>Folders and files that nobody but their owner may read: what a run knows of a server and its users is nobody else's business.</summary>
public static class OwnerOnly
{
    private const UnixFileMode OfFiles = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>With those above it; one that is there stays as it is.</summary>
    public static void CreateFolder(string path)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(path);
        else
            Directory.CreateDirectory(path, OfFiles | UnixFileMode.UserExecute);
    }

    /// <exception cref="IOException">It is there already.</exception>
    public static void CreateFile(string path)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = OfFiles;
        new FileStream(path, options).Dispose();
    }
}
