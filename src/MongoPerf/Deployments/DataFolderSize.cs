using MongoPerf.Engine.Runs;

namespace MongoPerf.Deployments;

/// <summary>How much a server's data folder holds.</summary>
internal static class DataFolderSize
{
    /// <summary>Length of all files under the folder, journal included, bytes. Links are left out, and so are files that vanish meanwhile.</summary>
    /// <returns>Null when the folder can't be read.</returns>
    public static long? ReadBytes(string folder)
    {
        try
        {
            long sum = 0;
            foreach (FileInfo file in OwnFiles.Below(new DirectoryInfo(folder)).OfType<FileInfo>().Where(file => file.LinkTarget is null))
            {
                try
                {
                    sum += file.Length;
                }
                catch (FileNotFoundException)
                {
                    // A table or journal file that mongod has just removed.
                }
            }

            return sum;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
