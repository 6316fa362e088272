using System.Collections.Concurrent;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Clusters;

/// <summary>The processes of one cluster by their members: how each is started, and those that are held.</summary>
/// <remarks>Different members may be started by different threads at once.</remarks>
public sealed class ClusterProcesses(string folder, ClusterPlan plan, ProcessTable table, CancellationToken interrupt = default)
{
    /// <summary>
    /// The oplog of each member, in bytes. All members lie on one disk, of which mongod's own default would be a twentieth each; this is
    /// the least that mongod takes by itself.
    /// </summary>
    public const long OplogBytes = 990L << 20;

    // From 5.0 on a member that is told to end waits for clients to leave, 15 seconds by default: these are told by us,
    // after their clients.
    private static readonly Version FirstThatWaits = new(5, 0);

    private readonly ConcurrentDictionary<string, ServerProcess> _held = new(StringComparer.Ordinal);
    private readonly SecurityFiles? _security = plan.Security(folder);
    private readonly MemoryGroupPlace _place = plan.MemoryLimitBytes is null ? new(null, "", null) : MemoryGroupPlace.Find();

    /// <summary>Why the memory of a member is not limited as requested; null when it is, or no limit was requested.</summary>
    public string? MemoryProblem =>
        ExplainMemory(plan.Processes.Where(IsRunning).All(member => !member.HoldsData || _held[member.Name].IsMemoryLimited));

    /// <summary>Why a member is not confined to the requested CPUs; null when it is, or none were requested.</summary>
    public string? CpuProblem =>
        ExplainCpus(plan.Processes.Where(IsRunning).All(member => !member.HoldsData || _held[member.Name].IsConfined));

    /// <summary>Whether some would end with this program.</summary>
    public bool HoldsAny => !_held.IsEmpty;

    /// <param name="areLimited">Whether all members that hold data are in their groups.</param>
    public string? ExplainMemory(bool areLimited) =>
        plan.MemoryLimitBytes is null || areLimited ? null : _place.Problem ?? "the system did not let them join their control groups";

    /// <param name="areConfined">Whether all members that hold data are confined to the requested CPUs.</param>
    public string? ExplainCpus(bool areConfined) => plan.Cpus is null || areConfined ? null : "the system lets them use other CPUs";

    public static ServerAddress AddressOf(ClusterMember member) => new("127.0.0.1", member.Port);

    /// <summary>Takes a member's process over, or starts it and waits until it answers.</summary>
    /// <returns>False when it was there.</returns>
    /// <exception cref="DeploymentException">As <see cref="ServerProcess.Start"/>.</exception>
    public bool Ensure(ClusterMember member)
    {
        if (_held.TryGetValue(member.Name, out ServerProcess? held))
            return held.EnsureRunning();
        _held[member.Name] = ServerProcess.Start(OptionsOf(member), table);
        return true;
    }

    public bool IsRunning(ClusterMember member) => _held.TryGetValue(member.Name, out ServerProcess? held) && held.IsRunning;

    /// <param name="member">The member that <see cref="Ensure"/> has started.</param>
    /// <exception cref="DeploymentException">It has ended; with its last log lines.</exception>
    /// <exception cref="OperationCanceledException">Who waits for it was interrupted.</exception>
    public void RequireRunning(ClusterMember member)
    {
        interrupt.ThrowIfCancellationRequested();
        _held[member.Name].RequireRunning();
    }

    public int? ProcessIdOf(ClusterMember member) => _held.TryGetValue(member.Name, out ServerProcess? held) ? held.ProcessId : null;

    /// <inheritdoc cref="ServerProcess.ExitText"/>
    public string ExitTextOf(ClusterMember member) =>
        _held.TryGetValue(member.Name, out ServerProcess? held) ? held.ExitText : MemoryGroup.ExitText(null);

    /// <summary>A member's process, whoever started it.</summary>
    public ServerProcess? Find(ClusterMember member) =>
        _held.GetValueOrDefault(member.Name) ?? ServerProcess.FindLeftOver(OptionsOf(member), table);

    /// <summary>Ends a member's process, also one that an earlier run of the program left. Never throws.</summary>
    /// <returns>False when none ran.</returns>
    public bool Stop(ClusterMember member)
    {
        ServerProcess? server =
            _held.TryRemove(member.Name, out ServerProcess? held) ? held : ServerProcess.FindLeftOver(OptionsOf(member), table);
        server?.Stop();
        // What one that was killed has left; a state whose process would not end is kept.
        if (server is null)
            ServerProcess.Forget(FolderOf(member));
        return server is not null;
    }

    /// <summary>Leaves all running when this program ends.</summary>
    public void Leave()
    {
        foreach (ServerProcess server in _held.Values)
            server.Leave();
        _held.Clear();
    }

    public string FolderOf(ClusterMember member) => Path.Combine(folder, member.Name);

    internal ServerProcessOptions OptionsOf(ClusterMember member)
    {
        ServerProcessOptions options = member.ReplicaSet is null ? MongosOptions(member) : MongodOptions(member);
        return options with
        {
            Role = member.Description,
            Port = member.Port,
            Memory = MemoryOf(member),
            Cpus = CpusOf(member),
            Interrupt = interrupt,
            Connections = _security?.Anonymous ?? ConnectionSettings.Default,
        };
    }

    private ServerProcessOptions MongodOptions(ClusterMember member)
    {
        long cache = member.HoldsData ? plan.CacheBytes : ClusterMemory.HelperCache;
        List<string> more =
        [
            .. RoleOptions(member), "--replSet", member.ReplicaSet!, "--oplogSize", $"{OplogBytes >> 20}", .. _security?.Arguments ?? [],
        ];
        if (member.HoldsData)
            more.AddRange(MemoryLimit.Arguments(plan.MemoryLimitBytes, plan.MongodVersion));
        if (plan.MongodVersion >= FirstThatWaits)
            more.AddRange(["--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"]);
        return MongodDeployment.CreateOptions(plan.Mongod, FolderOf(member), cache, more);
    }

    private IReadOnlyList<string> RoleOptions(ClusterMember member) => member.Role switch
    {
        ClusterRole.ConfigServer => ["--configsvr"],
        _ when plan.IsReplicaSet => [],
        _ => ["--shardsvr"],
    };

    private ServerProcessOptions MongosOptions(ClusterMember member)
    {
        string log = Path.Combine(FolderOf(member), "mongos.log");
        string configs = string.Join(',', plan.Processes.Where(other => other.Role == ClusterRole.ConfigServer).Select(AddressOf));
        return new ServerProcessOptions
        {
            Role = member.Description,
            Binary = plan.Mongos!,
            Folder = FolderOf(member),
            FolderOption = "--logpath",
            LogFile = log,
            Arguments = port =>
            [
                "--configdb", $"{ClusterPlan.ConfigSet}/{configs}", "--bind_ip", "127.0.0.1", "--port", $"{port}", "--nounixsocket",
                "--logpath", log, "--logappend",
                .. _security?.Arguments ?? [],
            ],
        };
    }

    // The others hold no data and are small by their nature.
    private MemoryGroup? MemoryOf(ClusterMember member)
    {
        if (plan.MemoryLimitBytes is not { } bytes || !member.HoldsData)
            return null;
        return new MemoryGroup($"{MemoryGroup.NameFor(folder)}-{member.Name}", bytes, _place);
    }

    private IReadOnlyList<int>? CpusOf(ClusterMember member) =>
        plan.Cpus is null || !member.HoldsData ? null : CpusOf(plan, member, CpuAffinity.Own);

    /// <summary>
    /// The next ones after those of the member before, from the first again when all are taken: members stand for machines, which share no
    /// CPU while there are enough.
    /// </summary>
    /// <param name="plan">Limits its members.</param>
    /// <param name="member">Holds data.</param>
    /// <param name="own">The CPUs that this program may use. A cluster that came from a larger machine gets as many as there are.</param>
    internal static IReadOnlyList<int> CpusOf(ClusterPlan plan, ClusterMember member, IReadOnlyList<int> own)
    {
        int count = Math.Min(plan.Cpus!.Value, own.Count);
        int before = plan.Processes.Where(other => other.HoldsData).TakeWhile(other => other.Name != member.Name).Count() * count;
        return [.. Enumerable.Range(before, count).Select(i => own[i % own.Count]).Order()];
    }
}
