using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Reports;

namespace MongoPerf.Commands;

/// <summary>Output of the commands of <c>cluster</c>.</summary>
internal static class ClusterPrinter
{
    /// <summary>Where its parts are and how it is used.</summary>
    /// <param name="cluster">Running.</param>
    /// <param name="folderOption">What to append to a command to name its folder; empty for the default one.</param>
    /// <param name="folder">The folder as typed.</param>
    /// <param name="output">Standard output.</param>
    public static void WriteUse(LocalCluster cluster, string folder, string folderOption, TextWriter output)
    {
        ClusterPlan plan = cluster.Plan;
        string member = plan.IsReplicaSet ? "member" : "shard member";
        output.WriteLine($"{plan.Noun} of {plan.ShapeText} in {cluster.Folder}");
        WriteParts(cluster, output);
        WriteSecurity(plan, cluster.Folder, output);
        WriteLine(
            output, "memory", $"cache {Units.BinaryBytes(plan.CacheBytes)} per {member}, limit {LimitText(plan, cluster.MemoryProblem)}");
        if (plan.Cpus is { } cpus)
            WriteLine(output, "CPUs",
                cluster.CpuProblem is { } problem ? $"not limited to {cpus} per {member}: {problem}" : $"{cpus} per {member}");
        output.WriteLine($"use it:   {CommandText.Program} series --target 1M --cluster {folder}");
        // With logins or TLS the URI would hold secrets, which don't belong on a command line.
        if ((plan.IsReplicaSet || plan.Router == RouterKind.Mongos) && !plan.Auth && !plan.Tls)
            output.WriteLine($"    or:   {CommandText.Program} series --target 1M --uri mongodb://{cluster.Address}");
        output.WriteLine($"stop it:  {CommandText.Program} cluster stop{folderOption}");
    }

    public static void WriteTable(ClusterStatus status, TextWriter output)
    {
        ClusterPlan plan = status.Plan;
        output.WriteLine($"{plan.Noun} of {plan.ShapeText} in {status.Folder}, "
            + $"{(plan.IsReplicaSet ? $"mongod {plan.MongodVersion}" : $"router: {plan.RouterText}")}{SecurityText(plan)}");
        TextColumns.Write(
        [
            ["part", "address", "process", "state", "memory limit", "folder"],
            .. status.Members.Select(member => (string[])
            [
                member.Member.Description, AddressOf(member), member.ProcessId?.ToString() ?? "-", member.State,
                member.IsMemoryLimited ? Units.BinaryBytes(status.Plan.MemoryLimitBytes ?? 0) : "none", member.Member.Name,
            ]),
        ], output);
        if (status.MemoryProblem is { } problem)
            output.WriteLine($"the members' memory is not limited: {problem}");
        if (status.CpuProblem is { } wrong)
            output.WriteLine($"the members are not limited to {Units.Counted(status.Plan.Cpus ?? 0, "CPU")}: {wrong}");
    }

    public static void WriteJson(ClusterStatus status, TextWriter output) => JsonReport.WriteValue(output, new
    {
        status.Folder,
        topology = status.Plan.IsReplicaSet ? "replicaset" : "sharded",
        router = status.Plan.IsReplicaSet ? null : status.Plan.Router == RouterKind.Mongos ? "mongos" : "mongod",
        version = status.Plan.MongodVersion.ToString(),
        status.Plan.Shards,
        status.Plan.Members,
        status.Plan.Auth,
        status.Plan.Tls,
        status.Plan.CacheBytes,
        status.IsRunning,
        processes = status.Members.Select(member => new
        {
            member.Member.Name, role = member.Member.Description, address = AddressOf(member), member.ProcessId,
            member.State, member.IsMemoryLimited,
        }),
    });

    private static void WriteParts(LocalCluster cluster, TextWriter output)
    {
        ClusterPlan plan = cluster.Plan;
        if (cluster.Parts is not { } parts)
        {
            foreach (ClusterMember member in plan.Processes)
                WriteLine(output, member.Name,
                    $"{ClusterProcesses.AddressOf(member)}{(ClusterProcesses.AddressOf(member) == cluster.Address ? ", primary" : "")}");
            return;
        }

        WriteLine(output, "router", $"{parts.RouterAddress}, {plan.RouterText}");
        WriteLine(output, "config server", ClusterProcesses.AddressOf(plan.Processes[1]).ToString());
        foreach (ShardAddress shard in parts.Shards)
            WriteLine(output, $"shard {shard.Name}", shard.Primary.ToString());
    }

    private static void WriteSecurity(ClusterPlan plan, string folder, TextWriter output)
    {
        if (plan.Security(folder) is not { } security)
            return;
        if (plan.Auth)
            WriteLine(output, "user", $"{SecurityFiles.UserName} of admin, password in {security.PasswordFile}");
        if (plan.Tls)
            WriteLine(output, "TLS", $"tlsCAFile={security.AuthorityFile}");
    }

    private static string SecurityText(ClusterPlan plan) => $"{(plan.Tls ? ", TLS" : "")}{(plan.Auth ? ", logins" : "")}";

    private static void WriteLine(TextWriter output, string what, string text) => output.WriteLine($"  {what,-13}  {text}");

    private static string AddressOf(MemberStatus member) => ClusterProcesses.AddressOf(member.Member).ToString();

    private static string LimitText(ClusterPlan plan, string? problem) => plan.MemoryLimitBytes switch
    {
        null => "none",
        { } bytes when problem is null => Units.BinaryBytes(bytes),
        { } bytes => $"none ({Units.BinaryBytes(bytes)} not applied: {problem})",
    };
}
