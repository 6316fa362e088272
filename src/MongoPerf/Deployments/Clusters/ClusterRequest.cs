using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;

namespace MongoPerf.Deployments.Clusters;

/// <summary>What is asked of a cluster. What is null is chosen for a new one, and as it is for one that is there.</summary>
internal sealed record ClusterRequest
{
    private const int DefaultShards = 3;

    public int? Shards { get; init; }

    /// <summary>Of each shard.</summary>
    public int? Members { get; init; }

    /// <summary>Of each member of a shard.</summary>
    public long? CacheBytes { get; init; }

    /// <summary>Of each member of a shard; 0 for none. When it is null, a cache that is given brings one.</summary>
    public long? MemoryLimitBytes { get; init; }

    /// <summary>How many CPUs each member of a shard may use; when it is null, all for a new one.</summary>
    public int? Cpus { get; init; }

    /// <summary>The first of a row.</summary>
    public int? FirstPort { get; init; }

    /// <summary>The value of <c>--mongod</c>.</summary>
    public string? Mongod { get; init; }

    /// <summary>Reads the environment.</summary>
    public Func<string, string?> Variable { get; init; } = Environment.GetEnvironmentVariable;

    /// <summary>A new cluster. Nothing is changed yet.</summary>
    /// <param name="folder">Where it is to be.</param>
    /// <exception cref="DeploymentException">Too few or too many shards, no programs, not enough memory, ports in use, or a folder that holds something else.</exception>
    public ClusterPlan MakePlan(string folder)
    {
        int shards = InBounds("--shards", Shards ?? DefaultShards, ClusterLimits.MostShards);
        int members = InBounds("--members", Members ?? 1, ClusterLimits.MostMembers);
        RefuseOther(folder);
        var programs = ClusterPrograms.Find(Mongod, Variable);
        long cache = CacheBytes ?? ClusterMemory.DefaultCache(shards * members, limitBytes: MemoryLimitBytes);
        ClusterMemory.Check(cache, shards * members);
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
            MemoryLimitBytes = LimitFor(cache, null),
            Cpus = CpusFor(null),
        };
    }

    /// <summary>A cluster that is there, as it is to go on.</summary>
    /// <param name="there">As its file says.</param>
    /// <param name="folder">Where it is.</param>
    /// <exception cref="DeploymentException">What was asked for can't be changed, or its programs are gone.</exception>
    public ClusterPlan Fit(ClusterPlan there, string folder)
    {
        RefuseChange(folder, "--shards", Shards, there.Shards);
        RefuseChange(folder, "--members", Members, there.Members);
        RefuseChange(folder, "--port", FirstPort, there.FirstPort);
        long cache = CacheBytes ?? there.CacheBytes;
        ClusterMemory.Check(cache, there.Shards * there.Members);
        return WithPrograms(there, folder) with { CacheBytes = cache, MemoryLimitBytes = LimitFor(cache, there), Cpus = CpusFor(there) };
    }

    private static int InBounds(string option, int value, int most) => value >= 1 && value <= most
        ? value
        : throw new DeploymentException(DeploymentFault.WrongUsage, $"{option} is {value}; allowed: 1 to {most}");

    private static void RefuseOther(string folder)
    {
        if (File.Exists(folder))
            throw new DeploymentException(DeploymentFault.WrongUsage, $"{folder} is a file; expected a folder for the cluster");
        string? other = Directory.Exists(folder)
            ? Directory.EnumerateFileSystemEntries(folder).Select(Path.GetFileName).FirstOrDefault(name => name != ClusterLock.FileName && name?.StartsWith(ClusterPlan.FileName, StringComparison.Ordinal) == false)
            : null;
        if (other is not null)
            throw new DeploymentException(DeploymentFault.Refused, $"{folder} contains '{other}', which is not part of a cluster\nhint:  name an empty or new folder");
    }

    private static void RefuseChange(string folder, string option, int? asked, int there)
    {
        if (asked is { } value && value != there)
        {
            throw new DeploymentException(
                DeploymentFault.WrongUsage,
                $"{option} is {value}, but the cluster in {folder} was created with {there}\nhint:  use another folder, or delete this cluster: 'mongoperf cluster stop --folder {folder} --remove'");
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

        var programs = ClusterPrograms.Find(Mongod, Variable);
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

    private long? LimitFor(long cache, ClusterPlan? there)
    {
        long? limit = MemoryLimitBytes switch
        {
            0 => null,
            { } asked => asked,
            // Without either, the shards share the whole machine, as a single mongod has it.
            null => CacheBytes is null ? there?.MemoryLimitBytes : MemoryLimit.For(cache),
        };
        if (limit is { } bytes)
            MemoryLimit.Check(bytes, cache);
        return limit;
    }
}
