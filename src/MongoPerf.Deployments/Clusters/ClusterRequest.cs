using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;
using MongoPerf.Storage;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Clusters;

/// <summary>What is asked of a cluster. What is null is chosen for a new one, and as it is for one that is there.</summary>
public sealed record ClusterRequest
{
    public const int DefaultShards = 3;

    /// <summary>
    /// A new one is sharded (3 shards of 1 member) unless the topology is a replica set (3 members); a cache that is given brings a
    /// memory limit to shards.
    /// </summary>
    public required DeploymentSettings Settings { get; init; }

    /// <summary>The first of a row.</summary>
    public int? FirstPort { get; init; }

    /// <summary>Ends the wait for its parts.</summary>
    public CancellationToken Interrupt { get; init; }

    /// <summary>Reads the environment.</summary>
    public Func<string, string?> Variable { get; init; } = Environment.GetEnvironmentVariable;

    /// <summary>A new cluster. Nothing is changed yet.</summary>
    /// <param name="folder">Where it is to be.</param>
    /// <exception cref="DeploymentException">
    /// Too few or too many shards, no programs, not enough memory, ports in use, or a folder that holds something else.
    /// </exception>
    public ClusterPlan MakePlan(string folder)
    {
        bool isSet = Settings.Topology == Topology.ReplicaSet;
        int shards = isSet ? 0 : InBounds("--shards", Settings.Shards ?? DefaultShards, ClusterLimits.MostShards);
        int members = InBounds("--members", Settings.Members ?? (isSet ? ClusterLimits.UsualMembers : 1), ClusterLimits.MostMembers);
        int configServers = isSet ? 1 : InBounds("--config-servers", Settings.ConfigServers ?? 1, ClusterLimits.MostConfigServers);
        bool arbiter = Settings.Arbiter is true;
        if (arbiter && members != ClusterLimits.MembersWithArbiter)
        {
            throw DeploymentException.WrongUsage(
                $"--arbiter breaks the tie between {ClusterLimits.MembersWithArbiter} members, but --members is {members}",
                "add --members 2, or omit --arbiter");
        }

        RefuseOther(folder);
        ClusterPrograms programs = isSet
            ? ClusterPrograms.ForReplicaSet(Settings.MongodPath, Variable)
            : ClusterPrograms.Find(Settings.MongodPath, Variable);
        if (Settings.Tls is true)
            SecurityFiles.RequireTls(programs.Mongod.Version);
        int all = Math.Max(1, shards) * members;
        int helpers = ClusterPlan.CountHelpers(shards, configServers, arbiter);
        long cache = Settings.CacheBytes ?? ClusterMemory.DefaultCache(all, limitBytes: Settings.MemoryLimitBytes, helpers: helpers);
        ClusterMemory.Check(cache, all, helpers: helpers);
        return new ClusterPlan
        {
            User = Environment.UserName,
            Router = programs.Router,
            Mongod = programs.Mongod.Path,
            MongodVersion = programs.Mongod.Version,
            Mongos = programs.Mongos,
            Shards = shards,
            Members = members,
            ConfigServers = configServers,
            Arbiter = arbiter,
            FirstPort = ChoosePorts(all + helpers),
            CacheBytes = cache,
            MemoryLimitBytes = LimitFor(cache, isSet, null),
            Cpus = CpusFor(null),
            Auth = Settings.Auth ?? false,
            Tls = Settings.Tls ?? false,
        };
    }

    /// <summary>A cluster that is there, as it is to continue.</summary>
    /// <param name="there">The cluster that is there, as its file says.</param>
    /// <param name="folder">Where it is.</param>
    /// <exception cref="DeploymentException">The settings can't be changed, or its programs are gone.</exception>
    public ClusterPlan Fit(ClusterPlan there, string folder)
    {
        RefuseChange(
            folder, "--topology", Settings.Topology?.Text(), (there.IsReplicaSet ? Topology.ReplicaSet : Topology.Sharded).Text(), there);
        RefuseChange(folder, "--shards", Settings.Shards?.ToString(), $"{there.Shards}", there);
        RefuseChange(folder, "--members", Settings.Members?.ToString(), $"{there.Members}", there);
        RefuseChange(folder, "--config-servers", Settings.ConfigServers?.ToString(), $"{there.ConfigServers}", there);
        RefuseChange(folder, "--arbiter", OnOff(Settings.Arbiter), OnOff(there.Arbiter), there);
        RefuseChange(folder, "--port", FirstPort?.ToString(), $"{there.FirstPort}", there);
        RefuseChange(folder, "--auth", OnOff(Settings.Auth), OnOff(there.Auth), there);
        RefuseChange(folder, "--tls", OnOff(Settings.Tls), OnOff(there.Tls), there);
        long cache = Settings.CacheBytes ?? there.CacheBytes;
        ClusterMemory.Check(cache, there.DataSets * there.Members, helpers: there.Helpers);
        return WithPrograms(there, folder) with
        {
            CacheBytes = cache, MemoryLimitBytes = LimitFor(cache, there.IsReplicaSet, there), Cpus = CpusFor(there),
        };
    }

    private static string? OnOff(bool? value) => value switch { null => null, true => "on", _ => "off" };

    private static int InBounds(string option, int value, int most) => value >= 1 && value <= most
        ? value
        : throw new DeploymentException(Fault.WrongUsage, $"{option} is {value}; allowed: 1 to {most}");

    private static void RefuseOther(string folder)
    {
        if (File.Exists(folder))
            throw new DeploymentException(Fault.WrongUsage, $"{folder} is a file; expected a folder for the cluster");
        string? other = Directory.Exists(folder)
            ? Directory.EnumerateFileSystemEntries(folder).Select(Path.GetFileName).FirstOrDefault(name => !IsOurs(name!))
            : null;
        if (other is not null)
            throw new DeploymentException(
                Fault.Refused, $"{folder} contains '{other}', which is not part of a cluster\nhint:  name an empty or new folder");
    }

    // What a start that was killed leaves before there is a cluster.
    private static bool IsOurs(string name) => name is ClusterLock.FileName or RunDataFolder.MarkFile
        || name.StartsWith(ClusterPlan.FileName, StringComparison.Ordinal)
        || name.StartsWith(SecurityFiles.FolderName, StringComparison.Ordinal);

    private static void RefuseChange(string folder, string option, string? asked, string? was, ClusterPlan there)
    {
        if (asked is not null && asked != was)
        {
            throw new DeploymentException(
                Fault.WrongUsage,
                $"{option} is {asked}, but the {there.Noun} in {folder} was created with {was}\n"
                + $"hint:  use another folder, or delete this {there.Noun}: 'mongoperf cluster stop --folder {folder} --remove'");
        }
    }

    private ClusterPlan WithPrograms(ClusterPlan there, string folder)
    {
        if (Settings.MongodPath is null)
        {
            string? gone = new[] { there.Mongod, there.Mongos }.FirstOrDefault(path => path is not null && !File.Exists(path));
            return gone is null ? there : throw new DeploymentException(
                Fault.WrongUsage,
                $"the cluster in {folder} uses {gone}, which no longer exists\nhint:  name a mongod that can use its data with --mongod");
        }

        ClusterPrograms programs = there.IsReplicaSet
            ? ClusterPrograms.ForReplicaSet(Settings.MongodPath, Variable)
            : ClusterPrograms.Find(Settings.MongodPath, Variable);
        return programs.Router == there.Router
            ? there with { Mongod = programs.Mongod.Path, MongodVersion = programs.Mongod.Version, Mongos = programs.Mongos }
            : throw new DeploymentException(
                Fault.WrongUsage,
                $"the router of the cluster in {folder} is a {(there.Mongos is null ? "mongod" : "mongos")}; "
                + $"with {Settings.MongodPath} it would be a {(programs.Mongos is null ? "mongod" : "mongos")}\nhint:  use another folder");
    }

    private int ChoosePorts(int count)
    {
        if (FirstPort is not { } first)
            return FreePort.Find(count);
        if (first + count - 1 > ushort.MaxValue)
            throw new DeploymentException(Fault.WrongUsage,
                $"--port is {first}, and the cluster needs {count} ports from there; allowed: up to {ushort.MaxValue - count + 1}");
        int[] taken = [.. Enumerable.Range(first, count).Where(port => !FreePort.IsFree(port))];
        return taken.Length == 0
            ? first
            : throw new DeploymentException(
                Fault.CannotConnect,
                $"--port is {first}, and the cluster needs {count} ports from there; in use on 127.0.0.1: {string.Join(", ", taken)}\n"
                + "hint:  choose another --port, or omit it to use free ports");
    }

    private int? CpusFor(ClusterPlan? there)
    {
        int? cpus = Settings.Cpus ?? there?.Cpus;
        return cpus is { } count ? CpuAffinity.First(count).Count : null;
    }

    private long? LimitFor(long cache, bool isSet, ClusterPlan? there)
    {
        long? limit = Settings.MemoryLimitBytes switch
        {
            0 => null,
            { } asked => asked,
            // Without either, the shards share the whole machine, as a single mongod has it. A replica set is compared with one server,
            // which a cache does not limit.
            null => Settings.CacheBytes is null || isSet ? there?.MemoryLimitBytes : MemoryLimit.For(cache),
        };
        if (limit is { } bytes)
            MemoryLimit.Check(bytes, cache);
        return limit;
    }
}
