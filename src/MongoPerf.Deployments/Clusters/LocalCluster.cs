using System.Collections.Concurrent;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Clusters;

/// <summary>
/// Real programs on this machine, in one folder: a sharded cluster (config servers, shards as replica sets, a router), or one replica set.
/// </summary>
/// <remarks>
/// It may be killed at any moment of its life, and started again from its folder: each step looks at what is there before it does
/// anything. One thread, but <see cref="IsRunning"/> and <see cref="Parts"/> may be read by any. Held by one program at a time.
/// </remarks>
public sealed class LocalCluster : IDeployment
{
    private static readonly TimeSpan RouterLimit = TimeSpan.FromMinutes(1);

    private readonly IDisposable _lock;
    private readonly ClusterProcesses _processes;
    private readonly SecurityFiles? _security;
    private readonly ConcurrentDictionary<string, bool> _setsWithUser = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, bool> _started = new(StringComparer.Ordinal);
    private volatile ShardedCluster? _parts;
    private volatile ServerAddress? _primary;

    private LocalCluster(string folder, ClusterPlan plan, IDisposable held, CancellationToken interrupt = default)
    {
        Folder = folder;
        Plan = plan;
        _lock = held;
        _processes = new ClusterProcesses(folder, plan, ProcessTable.System, interrupt);
        _security = plan.Security(folder);
    }

    /// <summary>Full path.</summary>
    public string Folder { get; }

    public ClusterPlan Plan { get; }

    public DeploymentKind Kind => Plan.IsReplicaSet ? DeploymentKind.ReplicaSet : DeploymentKind.Sharded;

    public string? Program => Plan.Mongod;

    public string? DataFolder => Folder;

    /// <summary>Null until it runs, and of a replica set.</summary>
    public ShardedCluster? Parts => _parts;

    ShardedCluster? IDeployment.Cluster => _parts;

    public IReadOnlyList<ServerAddress> Members => Plan.MemberAddresses;

    public ConnectionSettings Connections => _security?.User ?? ConnectionSettings.Default;

    /// <summary>Where clients connect: the router, or the replica set's primary as it was found last.</summary>
    public ServerAddress Address => _primary ?? ClusterProcesses.AddressOf(First);

    /// <summary>Whether every process lives that this object has started or taken over.</summary>
    public bool IsRunning => Plan.Processes.All(_processes.IsRunning);

    /// <summary>The process at <see cref="Address"/>.</summary>
    public int? ProcessId =>
        _processes.ProcessIdOf(Plan.Processes.FirstOrDefault(member => ClusterProcesses.AddressOf(member) == Address) ?? First);

    public IReadOnlyList<int> ProcessIds => [.. Plan.Processes.Select(_processes.ProcessIdOf).OfType<int>()];

    /// <summary>What the last <see cref="EnsureRunning"/> that started something started or took over, such as "shard s0".</summary>
    public IReadOnlyList<string> LastStarted { get; private set; } = [];

    /// <summary>Why the memory of its members is not limited as requested; null when it is, or no limit was requested.</summary>
    public string? MemoryProblem => _processes.MemoryProblem;

    /// <summary>Why its members are not confined to the requested CPUs; null when they are, or none were requested.</summary>
    public string? CpuProblem => _processes.CpuProblem;

    public string RestartText =>
        $"{string.Join(", ", LastStarted)} of the {Plan.Noun} {ExitText} and {(LastStarted.Count > 1 ? "were" : "was")} restarted";

    public string ExitText { get; private set; } = MemoryGroup.ExitText(null);

    public long? MemoryLimitBytes => MemoryProblem is null ? Plan.MemoryLimitBytes : null;

    public IReadOnlyList<string> Remarks => ClusterRemarks.Of(Plan, MemoryProblem, CpuProblem);

    /// <summary>The router, or the first member.</summary>
    private ClusterMember First => Plan.Processes[0];

    /// <summary>The cluster of a folder, or a new one there; nothing is started yet.</summary>
    /// <exception cref="DeploymentException">
    /// The request can't be met, does not fit what is there, or the folder is somebody else's.
    /// </exception>
    public static LocalCluster Prepare(string folder, ClusterRequest request)
    {
        string full = Path.GetFullPath(folder);
        ClusterPlan? fresh = ClusterPlan.IsIn(full) ? null : request.MakePlan(full);
        Directory.CreateDirectory(full);
        IDisposable held = ClusterLock.Take(full);
        try
        {
            ClusterPlan? there = ClusterPlan.Read(full);
            ClusterPlan plan = there is null ? fresh ?? request.MakePlan(full) : request.Fit(there, full);
            plan.Security(full)?.Ensure();
            if (plan != there)
            {
                if (there is not null && HasProcesses(full, there))
                    throw new DeploymentException(Fault.Refused, $"{full}: the {plan.Noun} is running with other settings\n"
                        + $"hint:  stop it first with 'mongoperf cluster stop --folder {folder}'; its data stays");
                plan.Write(full);
            }

            return new LocalCluster(full, plan, held, request.Interrupt);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <summary>One that is started for a run in the run's own data folder, and stopped with it.</summary>
    /// <param name="request">The request of the run.</param>
    /// <param name="variable">Reads the environment.</param>
    /// <exception cref="DeploymentException">As <see cref="Prepare"/>.</exception>
    public static LocalCluster ForRun(DeploymentRequest request, Func<string, string?> variable)
    {
        RequireOwnPrograms(request, variable);
        return Prepare(request.DataFolder, RequestOf(request, variable));
    }

    /// <summary>What a run asks of its cluster.</summary>
    public static ClusterRequest RequestOf(DeploymentRequest request, Func<string, string?> variable) => new()
    {
        Settings = request.Settings with
        {
            Auth = request.Settings.Auth is true, Tls = request.Settings.Tls is true,
            // The folder knows the programs of a cluster that continues; what was typed when it began may be relative to another folder.
            MongodPath = request.ServerProgram is { } noted
                ? (ClusterPlan.IsIn(request.DataFolder) ? null : noted)
                : request.Settings.MongodPath,
        },
        Variable = variable,
        Interrupt = request.Connections.Stop,
    };

    /// <summary>The cluster that is in a folder.</summary>
    /// <exception cref="DeploymentException">There is none, it is another user's, or another program is at work on it.</exception>
    public static LocalCluster Open(string folder)
    {
        string full = Path.GetFullPath(folder);
        ClusterPlan plan = ClusterPlan.Read(full) ?? throw ClusterStatus.NoneIn(full);
        return new LocalCluster(full, plan, ClusterLock.Take(full));
    }

    /// <summary>Brings up what does not run, and what is missing of a cluster that was not finished.</summary>
    /// <returns>True when something had to be started or taken over.</returns>
    /// <exception cref="DeploymentException">
    /// A process does not start, or a part does not come to work together with the others.
    /// </exception>
    public bool EnsureRunning()
    {
        bool wasKnown = _parts is not null || _primary is not null;
        // All sets at once, each as far as it can go by itself.
        IGrouping<string, ClusterMember>[] sets = [.. Plan.Processes.Where(member => member.ReplicaSet is not null)
            .GroupBy(member => member.ReplicaSet!)];
        Dictionary<string, ServerAddress> primaries =
            Together.Run(sets, set => KeyValuePair.Create(set.Key, BringUp(set.Key, [.. set]))).ToDictionary();
        if (Plan.IsReplicaSet)
            _primary = primaries[ClusterPlan.OwnSet];
        else
            _parts = BringTogether(primaries, wasKnown);
        if (wasKnown && _started.IsEmpty)
            return false;
        ClusterMember[] started = [.. Plan.Processes.Where(member => _started.ContainsKey(member.Name))];
        LastStarted = [.. started.Select(member => member.Description).Distinct()];
        ExitText = string.Join(" or ", started.Select(_processes.ExitTextOf).Distinct());
        _started.Clear();
        return true;
    }

    /// <summary>Ends all its processes, those too that an earlier run of the program left. Never throws.</summary>
    /// <returns>How many there were.</returns>
    public int Stop()
    {
        (_parts, _primary) = (null, null);
        // The config server last: the others tell it that they go.
        ILookup<bool, ClusterMember> byOrder = Plan.Processes.ToLookup(member => member.Role == ClusterRole.ConfigServer);
        bool[] stopped = [.. Together.Run([.. byOrder[false]], _processes.Stop), .. Together.Run([.. byOrder[true]], _processes.Stop)];
        return stopped.Count(ran => ran);
    }

    void IDeployment.Stop() => Stop();

    public double BytesPerDocument(long documents) => Plan.BytesPerDocument(documents);

    /// <summary>Leaves its processes running when this program ends.</summary>
    public void Leave() => _processes.Leave();

    /// <summary>Ends its processes, unless they were left to themselves, and frees it for other programs.</summary>
    public void Dispose()
    {
        if (_processes.HoldsAny)
            Stop();
        _lock.Dispose();
    }

    /// <summary>Takes its files away, and leaves what neither it nor its servers made. Its processes must have ended.</summary>
    /// <returns>What was left, relative to the folder.</returns>
    public IReadOnlyList<string> Remove()
    {
        List<string> kept = [];
        foreach (ClusterMember member in Plan.Processes.Where(member => Directory.Exists(_processes.FolderOf(member))))
            kept.AddRange(ServerFiles.Delete(_processes.FolderOf(member)).Kept.Select(name => $"{member.Name}/{name}"));
        _security?.Remove();
        ClusterPlan.Delete(Folder);
        File.Delete(Path.Combine(Folder, ClusterLock.FileName));
        if (!Directory.EnumerateFileSystemEntries(Folder).Any())
            Directory.Delete(Folder);
        return kept;
    }

    private ServerAddress BringUp(string set, ClusterMember[] members)
    {
        Together.Run(members, Ensure);
        ServerAddress[] addresses = [.. DataOf(members)];
        ServerAddress? arbiter = members.Where(member => member.Role == ClusterRole.Arbiter)
            .Select(ClusterProcesses.AddressOf).FirstOrDefault();
        bool isConfigServer = members[0].Role == ClusterRole.ConfigServer;
        ServerAddress primary = new ReplicaSet(set, addresses, isConfigServer, () => Array.ForEach(members, _processes.RequireRunning),
            _security, arbiter).EnsurePrimary();
        // Each set has users of its own; those of a cluster are the config server's, and the shards are looked at one by one.
        if (Plan.Auth && !_setsWithUser.ContainsKey(set))
        {
            LocalUser.Ensure(primary, _security!, needsInternalCommands: !Plan.IsReplicaSet && Plan.Router == RouterKind.RoutingMongod);
            _setsWithUser[set] = true;
        }

        return primary;
    }

    private static IEnumerable<ServerAddress> DataOf(IEnumerable<ClusterMember> members) =>
        members.Where(member => member.Role != ClusterRole.Arbiter).Select(ClusterProcesses.AddressOf);

    /// <summary>Notes what had to be started: a process that was killed may still count as running a moment before.</summary>
    private bool Ensure(ClusterMember member)
    {
        bool isNew = _processes.Ensure(member);
        if (isNew)
            _started[member.Name] = true;
        return isNew;
    }

    private ShardedCluster BringTogether(Dictionary<string, ServerAddress> primaries, bool wasKnown)
    {
        if (First.ReplicaSet is null)
            Ensure(First);
        ServerAddress router = ClusterProcesses.AddressOf(First);
        var parts = new ShardedCluster(
            Plan.Router,
            router,
            Plan.Router == RouterKind.Mongos ? router : primaries[ClusterPlan.ConfigSet],
            [.. Plan.ShardNames.Select(shard => new ShardAddress(shard, primaries[shard], Plan.Members))])
        {
            ConfigMembers = Plan.ConfigMembers,
        };
        if (!wasKnown || !_started.IsEmpty)
            Join(parts);
        return parts;
    }

    private void Join(ShardedCluster parts)
    {
        var registry = new ShardRegistry(parts.Router, parts.ConfigAddress, RequireRunning, _security);
        if (Plan.Arbiter)
            registry.EnsureDefaultWriteConcern();
        bool isFirst = true;
        foreach (IGrouping<string, ClusterMember> shard in Plan.Processes.Where(member => member.Role == ClusterRole.Shard)
            .GroupBy(member => member.ReplicaSet!))
        {
            registry.Add(shard.Key, [.. DataOf(shard)]);
            // A cluster has one shard at least, so the router can cease to be one as soon as there is another.
            if (isFirst && First.ReplicaSet is { } set)
                registry.Introduce(set, parts.RouterAddress);
            isFirst = false;
        }

        WaitForRouter(parts);
    }

    private void RequireRunning()
    {
        foreach (ClusterMember member in Plan.Processes)
            _processes.RequireRunning(member);
    }

    private void WaitForRouter(ShardedCluster parts)
    {
        ConnectionSettings settings = ReplicaSet.Quick(_security, isMongos: parts.Router == RouterKind.Mongos) with
        {
            Dialect = parts.Dialect,
        };
        Startup.Await(RouterLimit, RequireRunning, () =>
        {
            using MongoConnection connection = MongoConnection.Open(parts.RouterAddress, settings);
            return connection.RunCursor("config", BsonDocument.Of(("find", "shards"))).Count() == parts.Shards.Count;
        }, last => $"router {parts.RouterAddress} does not route after {RouterLimit.TotalSeconds:0} s: "
            + $"{last ?? "it does not know every shard yet"}");
    }

    /// <summary>
    /// Requires that the programs of a resumed run are this machine's own where no mongod was named: the run's folder names them, and it
    /// may come from somebody else.
    /// </summary>
    /// <exception cref="DeploymentException">This machine would not start them by itself.</exception>
    private static void RequireOwnPrograms(DeploymentRequest request, Func<string, string?> variable)
    {
        if (request.RequiredKind is null || request.Settings.MongodPath is not null)
            return;
        ClusterPlan? there = ClusterPlan.Read(request.DataFolder);
        if ((there?.Mongod ?? request.ServerProgram) is { } mongod)
            DeploymentFactory.RequireOwnChoice(mongod, variable);
        if (there?.Mongos is { } mongos && !ClusterPrograms.Own(there.Mongod, variable).Contains(mongos))
        {
            throw new DeploymentException(
                Fault.WrongUsage,
                $"this run used {mongos}, which MongoPerf does not start on this machine unless it is named\n"
                + $"hint:  if you trust that program, name the mongod beside it with --mongod, or set {ClusterPrograms.MongosVariable}");
        }
    }

    private static bool HasProcesses(string folder, ClusterPlan plan)
    {
        var processes = new ClusterProcesses(folder, plan, ProcessTable.System);
        return plan.Processes.Any(member => processes.Find(member) is not null);
    }
}
