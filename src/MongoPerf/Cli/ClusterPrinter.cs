using System.Text.Json;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Engine.Sharding;
using MongoPerf.Reporting;
using Spectre.Console;

namespace MongoPerf.Cli;

/// <summary>What the commands of <c>cluster</c> say about one.</summary>
internal static class ClusterPrinter
{
    /// <summary>Where its parts are and how it is used.</summary>
    /// <param name="cluster">Running.</param>
    /// <param name="folderOption">What has to be typed behind a command to name its folder; empty for the usual one.</param>
    /// <param name="folder">As typed.</param>
    /// <param name="output">Standard output.</param>
    public static void WriteUse(LocalCluster cluster, string folder, string folderOption, TextWriter output)
    {
        ClusterPlan plan = cluster.Plan;
        ShardedCluster parts = cluster.Parts!;
        output.WriteLine($"cluster of {plan.ShapeText} in {cluster.Folder}");
        WriteLine(output, "router", $"{parts.RouterAddress}, {plan.RouterText}");
        WriteLine(output, "config server", ClusterProcesses.AddressOf(plan.Processes[1]).ToString());
        foreach (ShardAddress shard in parts.Shards)
            WriteLine(output, $"shard {shard.Name}", shard.Primary.ToString());
        WriteLine(output, "memory", $"cache {Units.BinaryBytes(plan.CacheBytes)} per shard member, limit {LimitText(plan, cluster.MemoryProblem)}");
        if (plan.Cpus is { } cpus)
            WriteLine(output, "CPUs", cluster.CpuProblem is { } problem ? $"not limited to {cpus} per shard member: {problem}" : $"{cpus} per shard member");
        output.WriteLine($"use it:   mongoperf series --target 1M --cluster {folder}");
        if (plan.Router == RouterKind.Mongos)
            output.WriteLine($"    or:   mongoperf series --target 1M --uri mongodb://{parts.RouterAddress}");
        output.WriteLine($"stop it:  mongoperf cluster stop{folderOption}");
    }

    public static void WriteTable(ClusterStatus status, TextWriter output)
    {
        output.WriteLine($"cluster of {status.Plan.ShapeText} in {status.Folder}, router: {status.Plan.RouterText}");
        Table table = ListReport.NewTable("part", "address", "process", "state", "memory limit", "folder");
        foreach (MemberStatus member in status.Members)
        {
            string limit = member.IsMemoryLimited ? Units.BinaryBytes(status.Plan.MemoryLimitBytes ?? 0) : "none";
            string[] cells = [member.Member.Description, AddressOf(member), member.ProcessId?.ToString() ?? "-", member.State, limit, member.Member.Name];
            table.AddRow(cells.Select(ListReport.Text));
        }

        ListReport.Write(table, output);
        if (status.MemoryProblem is { } problem)
            output.WriteLine($"the shards' memory is not limited: {problem}");
        if (status.CpuProblem is { } wrong)
            output.WriteLine($"the shards are not limited to {Units.Counted(status.Plan.Cpus ?? 0, "CPU")}: {wrong}");
    }

    public static void WriteJson(ClusterStatus status, TextWriter output) => JsonReport.Write(output, json =>
    {
        json.WriteStartObject();
        json.WriteString("folder", status.Folder);
        json.WriteString("router", status.Plan.Router == RouterKind.Mongos ? "mongos" : "mongod");
        json.WriteString("version", status.Plan.MongodVersion.ToString());
        json.WriteNumber("shards", status.Plan.Shards);
        json.WriteNumber("members", status.Plan.Members);
        json.WriteNumber("cacheBytes", status.Plan.CacheBytes);
        json.WriteBoolean("isRunning", status.IsRunning);
        json.Objects("processes", status.Members, WriteMember);
        json.WriteEndObject();
    });

    private static void WriteMember(Utf8JsonWriter json, MemberStatus member)
    {
        json.WriteString("name", member.Member.Name);
        json.WriteString("role", member.Member.Description);
        json.WriteString("address", AddressOf(member));
        json.Integer("processId", member.ProcessId);
        json.WriteString("state", member.State);
        json.WriteBoolean("isMemoryLimited", member.IsMemoryLimited);
    }

    private static void WriteLine(TextWriter output, string what, string text) => output.WriteLine($"  {what,-13}  {text}");

    private static string AddressOf(MemberStatus member) => ClusterProcesses.AddressOf(member.Member).ToString();

    private static string LimitText(ClusterPlan plan, string? problem) => plan.MemoryLimitBytes switch
    {
        null => "none",
        { } bytes when problem is null => Units.BinaryBytes(bytes),
        { } bytes => $"none ({Units.BinaryBytes(bytes)} not applied: {problem})",
    };
}
