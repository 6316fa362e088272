namespace MongoPerf.Deployments.Clusters;

/// <summary>What documents take on the disk of a cluster.</summary>
internal static class ClusterDisk
{
    // A document is in the oplog too, as it is, until that is full.
    private const double OplogBytesPerDocument = 1100;

    /// <summary>Estimate for all members together.</summary>
    /// <param name="plan">Of the cluster.</param>
    /// <param name="documents">To be inserted, more than none.</param>
    public static double BytesPerDocument(ClusterPlan plan, long documents)
    {
        double oplogs = Math.Min(documents * OplogBytesPerDocument, plan.DataSets * ClusterProcesses.OplogBytes);
        return plan.Members * (DiskGuard.MongodBytesPerDocument + (oplogs / documents));
    }
}
