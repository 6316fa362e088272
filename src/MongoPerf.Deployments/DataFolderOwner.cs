using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments;

/// <summary>Whose files a server's data folder holds. No server is started among those of another kind.</summary>
public static class DataFolderOwner
{
    /// <exception cref="DeploymentException">The folder holds what the embedded server wrote.</exception>
    public static void RefuseForMongod(string folder)
    {
        // RocksDB's pointer to its newest state, and WiredTiger's mark.
        if (Has(folder, "CURRENT") && !Has(folder, "WiredTiger"))
            throw Refuse(folder, "the embedded server's data", "a mongod can't use it");
    }

    /// <exception cref="DeploymentException">The folder holds what a mongod wrote.</exception>
    public static void RefuseForEmbedded(string folder)
    {
        if (Has(folder, "WiredTiger") || Has(folder, "mongod.lock"))
            throw Refuse(folder, "a mongod's data", "the embedded server can't use it");
    }

    private static bool Has(string folder, string file) => File.Exists(Path.Combine(folder, file));

    private static DeploymentException Refuse(string folder, string holds, string so) => new(
        Fault.Refused,
        $"{Path.GetFullPath(folder)} holds {holds}: {so}\nhint:  use the server that wrote it, or name another folder");
}
