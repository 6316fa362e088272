namespace MongoPerf.Deployments;

/// <summary>How much a server's data folder holds.</summary>
internal static class DataFolderSize
{
    /// <summary>Length of all files under the folder, journal included, bytes. Files that vanish meanwhile are left out.</summary>
    /// <returns>Null when the folder can't be read.</returns>
    public static long? ReadBytes(string folder)
    {
        try
        {
            long sum = 0;
            foreach (FileInfo file in new DirectoryInfo(folder).EnumerateFiles("*", new EnumerationOptions { RecurseSubdirectories = true, AttributesToSkip = 0 }))
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
