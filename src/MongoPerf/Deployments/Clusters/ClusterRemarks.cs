using MongoPerf.Deployments.Processes;

namespace MongoPerf.Deployments.Clusters;

/// <summary>What a reader of a local cluster's figures must know.</summary>
internal static class ClusterRemarks
{
    /// <param name="plan">Of the cluster.</param>
    /// <param name="memoryProblem">Why a limit of memory that was asked for is not there; null when it is.</param>
    /// <param name="cpuProblem">Why its members are not confined to the CPUs that were asked for; null when they are.</param>
    public static IReadOnlyList<string> Of(ClusterPlan plan, string? memoryProblem, string? cpuProblem)
    {
        var remarks = new List<string>
        {
            plan.IsReplicaSet
                ? $"replica set of {plan.ShapeText} on one machine: every write goes into the oplog too{(plan.Members > 1 ? ", and each secondary does it again with the same CPUs and disk" : "")}"
                : $"sharded cluster on one machine: {plan.ShapeText}, router: {plan.RouterText}",
        };
        if (plan.Auth || plan.Tls)
            remarks.Add($"connections: {(plan.Tls ? "TLS" : "plain text")}, {(plan.Auth ? "authenticated by SCRAM" : "no authentication")}, also between the servers");
        string member = plan.IsReplicaSet ? "member" : "shard member";
        if (memoryProblem is not null)
            remarks.Add($"the members' memory is not limited: {memoryProblem}");
        else if (plan.MemoryLimitBytes is { } bytes)
            remarks.Add($"each {member}: {ServerLimits.LimitedText(bytes, MemoryGroupPlace.Find())}");
        if (plan.Cpus is { } cpus)
            remarks.Add(cpuProblem is null ? $"each {member} runs on {ServerLimits.CpuText([.. CpuAffinity.Own.Take(cpus)])}" : $"the members are not limited to {cpus} {(cpus == 1 ? "CPU" : "CPUs")}: {cpuProblem}");
        return remarks;
    }
}
