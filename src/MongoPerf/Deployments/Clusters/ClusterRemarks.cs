using MongoPerf.Deployments.Processes;

namespace MongoPerf.Deployments.Clusters;

/// <summary>What a reader of a local cluster's figures must know.</summary>
internal static class ClusterRemarks
{
    /// <param name="plan">Of the cluster.</param>
    /// <param name="memoryProblem">Why a limit of memory that was asked for is not there; null when it is.</param>
    /// <param name="cpuProblem">Why its shards are not confined to the CPUs that were asked for; null when they are.</param>
    public static IReadOnlyList<string> Of(ClusterPlan plan, string? memoryProblem, string? cpuProblem)
    {
        var remarks = new List<string> { $"sharded cluster on one machine: {plan.ShapeText}, router: {plan.RouterText}" };
        if (memoryProblem is not null)
            remarks.Add($"the shards' memory is not limited: {memoryProblem}");
        else if (plan.MemoryLimitBytes is { } bytes)
            remarks.Add($"each shard member: {ServerLimits.LimitedText(bytes, MemoryGroupPlace.Find())}");
        if (plan.Cpus is { } cpus)
            remarks.Add(cpuProblem is null ? $"each shard member runs on {ServerLimits.CpuText([.. CpuAffinity.Own.Take(cpus)])}" : $"the shards are not limited to {cpus} {(cpus == 1 ? "CPU" : "CPUs")}: {cpuProblem}");
        return remarks;
    }
}
