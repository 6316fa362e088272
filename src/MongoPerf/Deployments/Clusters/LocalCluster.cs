using MongoPerf.Deployments.Processes;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Clusters;

/// <summary>A sharded cluster of real programs on this machine, in one folder: a config server, shards as replica sets, a router.</summary>
/// <remarks>
/// It may be killed at any moment of its life, and started again from its folder: each step looks at what is there before it does
/// anything. One thread, but <see cref="IsRunning"/> and <see cref="Parts"/> may be read by any. Held by one program at a time.
/// </remarks>
internal sealed class LocalCluster : IDisposable
{
    private static readonly TimeSpan RouterLimit = TimeSpan.FromMinutes(1);

    private readonly ClusterLock _lock;
    private readonly ClusterProcesses _processes;
    private volatile ShardedCluster? _parts;

    private LocalCluster(string folder, ClusterPlan plan, ClusterLock held)
    {
        Folder = folder;
        Plan = plan;
        _lock = held;
        _processes = new ClusterProcesses(folder, plan, ProcessTable.System);
    }

    /// <summary>Full path.</summary>
    public string Folder { get; }

    public ClusterPlan Plan { get; }

    /// <summary>Null until it runs.</summary>
    public ShardedCluster? Parts => _parts;

    /// <summary>Whether every process lives that this object has started or taken over.</summary>
    public bool IsRunning => Plan.Processes.All(_processes.IsRunning);

    public ServerAddress RouterAddress => ClusterProcesses.AddressOf(Router);

    public int? RouterProcessId => _processes.ProcessIdOf(Router);

    /// <summary>What the last <see cref="EnsureRunning"/> that started something started or took over, such as "shard s0".</summary>
    public IReadOnlyList<string> LastStarted { get; private set; } = [];

    /// <summary>Why the memory of its shards is not limited by the system though it was asked for; null when it is, or was not asked for.</summary>
    public string? MemoryProblem => _processes.MemoryProblem;

    /// <summary>Why its shards are not confined to the CPUs that were asked for; null when they are, or none were.</summary>
    public string? CpuProblem => _processes.CpuProblem;

    private ClusterMember Router => Plan.Processes[0];

    /// <summary>The cluster of a folder, or a new one there; nothing is started yet.</summary>
    /// <exception cref="DeploymentException">The request can't be met, does not fit what is there, or the folder is somebody else's.</exception>
    public static LocalCluster Prepare(string folder, ClusterRequest request)
    {
        string full = Path.GetFullPath(folder);
        ClusterPlan? fresh = ClusterPlan.IsIn(full) ? null : request.MakePlan(full);
        Directory.CreateDirectory(full);
        ClusterLock held = ClusterLock.Take(full);
        try
        {
            ClusterPlan? there = ClusterPlan.Read(full);
            ClusterPlan plan = there is null ? fresh ?? request.MakePlan(full) : request.Fit(there, full);
            if (plan != there)
            {
                if (there is not null && HasProcesses(full, there))
                    throw new DeploymentException(DeploymentFault.Refused, $"{full}: the cluster is running with other settings\nhint:  stop it first with 'mongoperf cluster stop --folder {folder}'; its data stays");
                plan.Write(full);
            }

            return new LocalCluster(full, plan, held);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

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
    /// <exception cref="DeploymentException">A process does not start, or a part does not come to work together with the others.</exception>
    public bool EnsureRunning()
    {
        IReadOnlyList<string> missing = [.. Plan.Processes.Where(member => !_processes.IsRunning(member)).Select(member => member.Description).Distinct()];
        bool wasRunning = missing.Count == 0 && _parts is not null;
        // All sets at once, each as far as it can go by itself.
        IGrouping<string, ClusterMember>[] sets = [.. Plan.Processes.Where(member => member.ReplicaSet is not null).GroupBy(member => member.ReplicaSet!)];
        Dictionary<string, ServerAddress> primaries = Together.Run(sets, set => KeyValuePair.Create(set.Key, BringUp(set.Key, [.. set]))).ToDictionary();
        if (Router.ReplicaSet is null)
            _processes.Ensure(Router);
        var parts = new ShardedCluster(
            Plan.Router,
            RouterAddress,
            Plan.Router == RouterKind.Mongos ? RouterAddress : primaries[ClusterPlan.ConfigSet],
            [.. Plan.ShardNames.Select(shard => new ShardAddress(shard, primaries[shard]))]);
        if (!wasRunning)
        {
            Join(parts);
            LastStarted = missing;
        }

        _parts = parts;
        return !wasRunning;
    }

    /// <summary>Ends all its processes, those too that an earlier run of the program left. Never throws.</summary>
    /// <returns>How many there were.</returns>
    public int Stop()
    {
        _parts = null;
        // The config server last: the others tell it that they go.
        ILookup<bool, ClusterMember> byOrder = Plan.Processes.ToLookup(member => member.Role == ClusterRole.ConfigServer);
        bool[] stopped = [.. Together.Run([.. byOrder[false]], _processes.Stop), .. Together.Run([.. byOrder[true]], _processes.Stop)];
        return stopped.Count(ran => ran);
    }

    /// <summary>Lets its processes go on when this program ends.</summary>
    public void Leave() => _processes.Leave();

    /// <summary>Ends its processes, unless they were left to themselves, and frees it for other programs.</summary>
    public void Dispose()
    {
        if (_processes.HoldsAny)
            Stop();
        _lock.Dispose();
    }

    /// <summary>Takes its files away. Its processes must have ended.</summary>
    public void Remove()
    {
        foreach (ClusterMember member in Plan.Processes.Where(member => Directory.Exists(_processes.FolderOf(member))))
            Directory.Delete(_processes.FolderOf(member), recursive: true);
        File.Delete(Path.Combine(Folder, ClusterPlan.FileName));
        File.Delete(Path.Combine(Folder, ClusterLock.FileName));
        if (!Directory.EnumerateFileSystemEntries(Folder).Any())
            Directory.Delete(Folder);
    }

    private ServerAddress BringUp(string set, ClusterMember[] members)
    {
        Together.Run(members, _processes.Ensure);
        return new ReplicaSet(set, [.. members.Select(ClusterProcesses.AddressOf)], members[0].Role == ClusterRole.ConfigServer, () => Array.ForEach(members, _processes.RequireRunning)).EnsurePrimary();
    }

    private void Join(ShardedCluster parts)
    {
        var registry = new ShardRegistry(parts.Router, parts.ConfigAddress, RequireRunning);
        bool isFirst = true;
        foreach (IGrouping<string, ClusterMember> shard in Plan.Processes.Where(member => member.Role == ClusterRole.Shard).GroupBy(member => member.ReplicaSet!))
        {
            registry.Add(shard.Key, [.. shard.Select(ClusterProcesses.AddressOf)]);
            // A cluster has one shard at least, so the router can cease to be one as soon as there is another.
            if (isFirst && Router.ReplicaSet is { } set)
                registry.Introduce(set, RouterAddress);
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
        string last = "it does not know every shard yet";
        long end = Environment.TickCount64 + (long)RouterLimit.TotalMilliseconds;
        while (true)
        {
            try
            {
                using MongoConnection connection = MongoConnection.Open(parts.RouterAddress, ReplicaSet.Settings with { Dialect = parts.Dialect });
                if (connection.RunCursor("config", BsonDocument.Of(("find", "shards"))).Count() == parts.Shards.Count)
                    return;
            }
            catch (Exception e) when (ReplicaSet.IsPassing(e))
            {
                last = e.Message;
            }

            RequireRunning();
            if (Environment.TickCount64 > end)
                throw new DeploymentException(DeploymentFault.CannotConnect, $"router {parts.RouterAddress} does not route after {RouterLimit.TotalSeconds:0} s: {last}");
            Thread.Sleep(20);
        }
    }

    private static bool HasProcesses(string folder, ClusterPlan plan)
    {
        var processes = new ClusterProcesses(folder, plan, ProcessTable.System);
        return plan.Processes.Any(member => processes.Find(member) is not null);
    }
}
