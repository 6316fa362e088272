using MongoPerf.Storage;

namespace MongoPerf.Deployments;

/// <summary>How much a server's data folder holds.</summary>
public static class DataFolderSize
{
    /// <summary>mongod's, in its data folder.</summary>
    private const string Journal = "journal";

    /// <summary>Length of all files under the folder, journal included, bytes.</summary>
    /// <inheritdoc cref="Read"/>
    public static long? ReadBytes(string folder) => Read(folder)?.Bytes;

    /// <summary>Length of all files under the folder. Links are left out, and so are files that vanish meanwhile.</summary>
    /// <returns>Null when the folder can't be read.</returns>
    public static DiskUse? Read(string folder)
    {
        try
        {
            long sum = 0;
            long? journal = null;
            foreach (FileInfo file in OwnFiles.Below(new DirectoryInfo(folder)).OfType<FileInfo>().Where(file => file.LinkTarget is null))
            {
                try
                {
                    sum += file.Length;
                    if (file.Directory?.Name == Journal)
                        journal = (journal ?? 0) + file.Length;
                }
                catch (FileNotFoundException)
                {
                    // A table or journal file that mongod has just removed.
                }
            }

            return new DiskUse(sum, journal);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
