using MongoPerf.Deployments.Processes;

namespace MongoPerf.Deployments.Clusters;

/// <summary>What a reader of a local cluster's figures must know.</summary>
internal static class ClusterRemarks
{
    /// <param name="plan">The plan of the cluster.</param>
    /// <param name="memoryProblem">Why the requested memory limit is not in force; null when it is.</param>
    /// <param name="cpuProblem">Why its members are not confined to the requested CPUs; null when they are.</param>
    public static IReadOnlyList<string> Of(ClusterPlan plan, string? memoryProblem, string? cpuProblem)
    {
        var remarks = new List<string>
        {
            plan.IsReplicaSet
                ? $"replica set of {plan.ShapeText} on one machine: every write goes into the oplog "
                    + $"too{(plan.Members > 1 ? ", and each secondary applies it on the same CPUs and disk" : "")}"
                : $"sharded cluster on one machine: {plan.ShapeText}, router: {plan.RouterText}",
        };
        if (plan.Auth || plan.Tls)
            remarks.Add($"connections: {(plan.Tls ? "TLS" : "plain text")}, "
                + $"{(plan.Auth ? "authenticated by SCRAM" : "no authentication")}, also between the servers");
        string member = plan.IsReplicaSet ? "member" : "shard member";
        if (memoryProblem is not null)
            remarks.Add($"the members' memory is not limited: {memoryProblem}");
        else if (plan.MemoryLimitBytes is { } bytes)
            remarks.Add($"each {member}: {ServerLimits.LimitedText(bytes, MemoryGroupPlace.Find())}");
        if (plan.Cpus is { } cpus)
            remarks.Add(cpuProblem is null
                ? CpuText(plan, member)
                : $"the members are not limited to {cpus} {(cpus == 1 ? "CPU" : "CPUs")}: {cpuProblem}");
        return remarks;
    }

    /// <summary>"each shard member runs on 1 of 2 CPUs (s0-0 on number 0, s1-0 on number 1)".</summary>
    private static string CpuText(ClusterPlan plan, string member)
    {
        IReadOnlyList<int> own = CpuAffinity.Own;
        IEnumerable<string> each = plan.Processes.Where(one => one.HoldsData)
            .Select(one => $"{one.Name} on CPU {string.Join(", ", ClusterProcesses.CpusOf(plan, one, own))}");
        return $"each {member} runs on {Math.Min(plan.Cpus!.Value, own.Count)} of {own.Count} CPUs ({string.Join("; ", each)})";
    }
}
