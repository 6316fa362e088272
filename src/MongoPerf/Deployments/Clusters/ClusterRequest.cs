using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;

namespace MongoPerf.Deployments.Clusters;

/// <summary>What is asked of a cluster. What is null is chosen for a new one, and as it is for one that is there.</summary>
internal sealed record ClusterRequest
{
    private const int DefaultShards = 3;

    /// <summary>A replica set that stands by itself, in place of shards; null: as it is for one that is there, else shards.</summary>
    public bool? IsReplicaSet { get; init; }

    public int? Shards { get; init; }

    /// <summary>Of each shard, 1 for a new one; or of the replica set, 3 for a new one.</summary>
    public int? Members { get; init; }

    /// <summary>Clients log in.</summary>
    public bool? Auth { get; init; }

    /// <summary>Every process takes TLS connections only.</summary>
    public bool? Tls { get; init; }

    /// <summary>Of each member that holds data.</summary>
    public long? CacheBytes { get; init; }

    /// <summary>Of each member that holds data; 0 for none. When it is null, a cache that is given brings one to shards.</summary>
    public long? MemoryLimitBytes { get; init; }

    /// <summary>How many CPUs each member that holds data may use; when it is null, all for a new one.</summary>
    public int? Cpus { get; init; }

    /// <summary>The first of a row.</summary>
    public int? FirstPort { get; init; }

    /// <summary>The value of <c>--mongod</c>.</summary>
    public string? Mongod { get; init; }

    /// <summary>Ends the wait for its parts.</summary>
    public CancellationToken Interrupt { get; init; }

    /// <summary>Reads the environment.</summary>
    public Func<string, string?> Variable { get; init; } = Environment.GetEnvironmentVariable;

    /// <summary>A new cluster. Nothing is changed yet.</summary>
    /// <param name="folder">Where it is to be.</param>
    /// <exception cref="DeploymentException">Too few or too many shards, no programs, not enough memory, ports in use, or a folder that holds something else.</exception>
    public ClusterPlan MakePlan(string folder)
    {
        bool isSet = IsReplicaSet ?? false;
        int shards = isSet ? 0 : InBounds("--shards", Shards ?? DefaultShards, ClusterLimits.MostShards);
        int members = InBounds("--members", Members ?? (isSet ? ClusterLimits.UsualMembers : 1), ClusterLimits.MostMembers);
        RefuseOther(folder);
        ClusterPrograms programs = isSet ? ClusterPrograms.ForReplicaSet(Mongod, Variable) : ClusterPrograms.Find(Mongod, Variable);
        if (Tls is true)
            SecurityFiles.RequireTls(programs.Mongod.Version);
        int all = Math.Max(1, shards) * members;
        long cache = CacheBytes ?? ClusterMemory.DefaultCache(all, limitBytes: MemoryLimitBytes, helpers: HelpersOf(shards));
        ClusterMemory.Check(cache, all, helpers: HelpersOf(shards));
        return new ClusterPlan
        {
            User = Environment.UserName,
            Router = programs.Router,
            Mongod = programs.Mongod.Path,
            MongodVersion = programs.Mongod.Version,
            Mongos = programs.Mongos,
            Shards = shards,
            Members = members,
            FirstPort = ChoosePorts(ClusterPlan.CountProcesses(shards, members)),
            CacheBytes = cache,
            MemoryLimitBytes = LimitFor(cache, isSet, null),
            Cpus = CpusFor(null),
            Auth = Auth ?? false,
            Tls = Tls ?? false,
        };
    }

    /// <summary>A cluster that is there, as it is to continue.</summary>
    /// <param name="there">As its file says.</param>
    /// <param name="folder">Where it is.</param>
    /// <exception cref="DeploymentException">What was asked for can't be changed, or its programs are gone.</exception>
    public ClusterPlan Fit(ClusterPlan there, string folder)
    {
        RefuseChange(folder, "--topology", TopologyText(IsReplicaSet), TopologyText(there.IsReplicaSet), there);
        RefuseChange(folder, "--shards", Shards?.ToString(), $"{there.Shards}", there);
        RefuseChange(folder, "--members", Members?.ToString(), $"{there.Members}", there);
        RefuseChange(folder, "--port", FirstPort?.ToString(), $"{there.FirstPort}", there);
        RefuseChange(folder, "--auth", OnOff(Auth), OnOff(there.Auth), there);
        RefuseChange(folder, "--tls", OnOff(Tls), OnOff(there.Tls), there);
        long cache = CacheBytes ?? there.CacheBytes;
        ClusterMemory.Check(cache, there.DataSets * there.Members, helpers: HelpersOf(there.Shards));
        return WithPrograms(there, folder) with { CacheBytes = cache, MemoryLimitBytes = LimitFor(cache, there.IsReplicaSet, there), Cpus = CpusFor(there) };
    }

    private static int HelpersOf(int shards) => shards == 0 ? 0 : 2;

    private static string? TopologyText(bool? isReplicaSet) => isReplicaSet switch { null => null, true => "replicaset", _ => "sharded" };

    private static string? OnOff(bool? value) => value switch { null => null, true => "on", _ => "off" };

    private static int InBounds(string option, int value, int most) => value >= 1 && value <= most
        ? value
        : throw new DeploymentException(DeploymentFault.WrongUsage, $"{option} is {value}; allowed: 1 to {most}");

    private static void RefuseOther(string folder)
    {
        if (File.Exists(folder))
            throw new DeploymentException(DeploymentFault.WrongUsage, $"{folder} is a file; expected a folder for the cluster");
        string? other = Directory.Exists(folder)
            ? Directory.EnumerateFileSystemEntries(folder).Select(Path.GetFileName).FirstOrDefault(name => !IsOurs(name!))
            : null;
        if (other is not null)
            throw new DeploymentException(DeploymentFault.Refused, $"{folder} contains '{other}', which is not part of a cluster\nhint:  name an empty or new folder");
    }

    // What a start that was killed leaves before there is a cluster.
    private static bool IsOurs(string name) => name is ClusterLock.FileName or RunDataFolder.MarkFile
        || name.StartsWith(ClusterPlan.FileName, StringComparison.Ordinal) || name.StartsWith(SecurityFiles.FolderName, StringComparison.Ordinal);

    private static void RefuseChange(string folder, string option, string? asked, string? was, ClusterPlan there)
    {
        if (asked is not null && asked != was)
        {
            throw new DeploymentException(
                DeploymentFault.WrongUsage,
                $"{option} is {asked}, but the {there.Noun} in {folder} was created with {was}\nhint:  use another folder, or delete this {there.Noun}: 'mongoperf cluster stop --folder {folder} --remove'");
        }
    }

    private ClusterPlan WithPrograms(ClusterPlan there, string folder)
    {
        if (Mongod is null)
        {
            string? gone = new[] { there.Mongod, there.Mongos }.FirstOrDefault(path => path is not null && !File.Exists(path));
            return gone is null ? there : throw new DeploymentException(
                DeploymentFault.WrongUsage, $"the cluster in {folder} uses {gone}, which no longer exists\nhint:  name a mongod that can use its data with --mongod");
        }

        ClusterPrograms programs = there.IsReplicaSet ? ClusterPrograms.ForReplicaSet(Mongod, Variable) : ClusterPrograms.Find(Mongod, Variable);
        return programs.Router == there.Router
            ? there with { Mongod = programs.Mongod.Path, MongodVersion = programs.Mongod.Version, Mongos = programs.Mongos }
            : throw new DeploymentException(
                DeploymentFault.WrongUsage,
                $"the router of the cluster in {folder} is a {(there.Mongos is null ? "mongod" : "mongos")}; with {Mongod} it would be a {(programs.Mongos is null ? "mongod" : "mongos")}\nhint:  use another folder");
    }

    private int ChoosePorts(int count)
    {
        if (FirstPort is not { } first)
            return FreePort.FindRow(count, Random.Shared);
        if (first + count - 1 > ushort.MaxValue)
            throw new DeploymentException(DeploymentFault.WrongUsage, $"--port is {first}, and the cluster needs {count} ports from there; allowed: up to {ushort.MaxValue - count + 1}");
        int[] taken = [.. Enumerable.Range(first, count).Where(port => !FreePort.IsFree(port))];
        return taken.Length == 0
            ? first
            : throw new DeploymentException(
                DeploymentFault.CannotConnect,
                $"--port is {first}, and the cluster needs {count} ports from there; in use on 127.0.0.1: {string.Join(", ", taken)}\nhint:  choose another --port, or omit it to use free ports");
    }

    private int? CpusFor(ClusterPlan? there)
    {
        int? cpus = Cpus ?? there?.Cpus;
        return cpus is { } count ? CpuAffinity.First(count).Count : null;
    }

    private long? LimitFor(long cache, bool isSet, ClusterPlan? there)
    {
        long? limit = MemoryLimitBytes switch
        {
            0 => null,
            { } asked => asked,
            // Without either, the shards share the whole machine, as a single mongod has it. A replica set is compared with one server, which a cache does not limit.
            null => CacheBytes is null || isSet ? there?.MemoryLimitBytes : MemoryLimit.For(cache),
        };
        if (limit is { } bytes)
            MemoryLimit.Check(bytes, cache);
        return limit;
    }
}
