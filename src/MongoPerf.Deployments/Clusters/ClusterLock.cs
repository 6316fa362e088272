using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Clusters;

/// <summary>Held by the one program that starts or stops a cluster's processes; gone with it, however it ends.</summary>
internal static class ClusterLock
{
    public const string FileName = "cluster.lock";

    /// <param name="folder">The folder of the cluster; it exists.</param>
    /// <exception cref="DeploymentException">Another program holds it.</exception>
    public static IDisposable Take(string folder)
    {
        try
        {
            // .NET locks the file itself (flock), so the lock goes with the process.
            return new FileStream(Path.Combine(folder, FileName), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        }
        catch (IOException e) when (File.Exists(Path.Combine(folder, FileName)))
        {
            throw new DeploymentException(
                Fault.Refused,
                $"{folder}: another mongoperf is starting, stopping or running this cluster\nhint:  wait for it, or stop it", e);
        }
    }
}
