using MongoPerf.Deployments.Processes;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Clusters;

/// <summary>How one process of a cluster stands.</summary>
/// <param name="Member">Which.</param>
/// <param name="ProcessId">Null when it does not run.</param>
/// <param name="State">"primary", "secondary", "routes", "starting", "no answer", "not running".</param>
/// <param name="IsMemoryLimited">Whether the system limits its memory.</param>
/// <param name="IsConfined">Whether it is confined to the requested CPUs.</param>
public sealed record MemberStatus(ClusterMember Member, int? ProcessId, string State, bool IsMemoryLimited, bool IsConfined);

/// <summary>How a cluster stands, read from its folder, its processes and their answers. Nothing is changed.</summary>
/// <param name="Folder">Full path.</param>
/// <param name="Plan">What it is made of.</param>
/// <param name="Members">The members in the order of the plan.</param>
/// <param name="MemoryProblem">
/// Why the memory of a running member is not limited as requested; null when it is, or no limit was requested.
/// </param>
/// <param name="CpuProblem">Why a running member is not confined to the requested CPUs; null when it is, or none were requested.</param>
public sealed record ClusterStatus(
    string Folder, ClusterPlan Plan, IReadOnlyList<MemberStatus> Members, string? MemoryProblem, string? CpuProblem)
{
    private const string Primary = "primary";

    /// <summary>A machine under load may take seconds for a TLS handshake.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    public bool IsRunning => Members.All(member => member.ProcessId is not null);

    /// <exception cref="DeploymentException">There is no cluster in the folder, or it is another user's.</exception>
    public static ClusterStatus Read(string folder)
    {
        string full = Path.GetFullPath(folder);
        ClusterPlan plan = ClusterPlan.Read(full) ?? throw NoneIn(full);
        var processes = new ClusterProcesses(full, plan, ProcessTable.System);
        ConnectionSettings quick = (plan.Security(full)?.Anonymous ?? ConnectionSettings.Default) with
        {
            ConnectTimeout = Patience, ReplyTimeout = Patience,
        };
        MemberStatus[] members = Together.Run(plan.Processes, member => Look(member, processes.Find(member), quick));
        MemberStatus[] data = [.. members.Where(member => member.ProcessId is not null && member.Member.HoldsData)];
        return new(full, plan, members, processes.ExplainMemory(data.All(member => member.IsMemoryLimited)),
            processes.ExplainCpus(data.All(member => member.IsConfined)));
    }

    /// <summary>Where clients find its parts.</summary>
    /// <exception cref="DeploymentException">A process does not run, or a replica set has no member that takes writes.</exception>
    public ShardedCluster FindParts()
    {
        RequireRunning();
        ServerAddress router = ClusterProcesses.AddressOf(Plan.Processes[0]);
        ServerAddress config = Plan.Router == RouterKind.Mongos ? router : PrimaryOf(ClusterPlan.ConfigSet);
        return new(
            Plan.Router, router, config, [.. Plan.ShardNames.Select(shard => new ShardAddress(shard, PrimaryOf(shard), Plan.Members))])
        {
            ConfigMembers = Plan.ConfigMembers,
        };
    }

    /// <summary>The member of a replica set that takes writes.</summary>
    /// <exception cref="DeploymentException">A process does not run, or no member takes writes.</exception>
    public ServerAddress FindPrimary()
    {
        RequireRunning();
        return PrimaryOf(ClusterPlan.OwnSet);
    }

    private void RequireRunning()
    {
        if (Members.FirstOrDefault(member => member.ProcessId is null) is { } missing)
            throw new DeploymentException(Fault.CannotConnect, $"{Folder}: the {Plan.Noun}'s {missing.Member.Description} is down\n"
                + $"hint:  'mongoperf cluster start --folder {Folder}' restarts it");
    }

    private ServerAddress PrimaryOf(string set) =>
        Members.FirstOrDefault(member => member.Member.ReplicaSet == set && member.State == Primary) is { } primary
            ? ClusterProcesses.AddressOf(primary.Member)
            : throw new DeploymentException(Fault.CannotConnect, $"{Folder}: replica set {set} has no primary at the moment\n"
                + $"hint:  'mongoperf cluster status --folder {Folder}' shows its members");

    public static DeploymentException NoneIn(string folder) =>
        DeploymentException.WrongUsage($"no cluster in {folder}: it has no {ClusterPlan.FileName}",
            "create one with 'mongoperf cluster start'");

    private static MemberStatus Look(ClusterMember member, ServerProcess? server, ConnectionSettings quick) =>
        server is null
            ? new(member, null, "not running", false, false)
            : new(member, server.ProcessId, Ask(member, quick), server.IsMemoryLimited, server.IsConfined);

    private static string Ask(ClusterMember member, ConnectionSettings quick)
    {
        try
        {
            using MongoConnection connection = MongoConnection.Open(ClusterProcesses.AddressOf(member), quick);
            HelloReply server = connection.Server;
            return server switch
            {
                { IsMongos: true } => "routes",
                { IsWritablePrimary: true } => member.Role == ClusterRole.Router ? "routes" : Primary,
                _ when server.Document.IsTrue("arbiterOnly") => "arbiter",
                _ => server.Document.IsTrue("secondary") ? "secondary" : "starting",
            };
        }
        catch (Exception e) when (Startup.IsPassing(e) || e is ServerTooOldException or BsonFormatException)
        {
            return "no answer";
        }
    }
}
