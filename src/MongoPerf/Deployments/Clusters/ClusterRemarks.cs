namespace MongoPerf.Deployments.Clusters;

/// <summary>What a reader of a local cluster's figures must know.</summary>
internal static class ClusterRemarks
{
    /// <param name="plan">Of the cluster.</param>
    /// <param name="memoryProblem">Why a limit of memory that was asked for is not there; null when it is.</param>
    public static IReadOnlyList<string> Of(ClusterPlan plan, string? memoryProblem)
    {
        string shape = $"sharded cluster on one machine: {plan.ShapeText}, router: {plan.RouterText}";
        return memoryProblem is null ? [shape] : [shape, $"the shards' memory is not limited by the system: {memoryProblem}"];
    }
}

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
        double oplogs = Math.Min(documents * OplogBytesPerDocument, plan.Shards * ClusterProcesses.OplogBytes);
        return plan.Members * (DiskGuard.MongodBytesPerDocument + (oplogs / documents));
    }
}
