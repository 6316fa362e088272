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
