using MongoPerf.Deployments.Limits;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads what a scenario runs on: <c>deployments</c>, or <c>cluster</c>, the short form for a sharded one.</summary>
/// <param name="top">The whole file.</param>
/// <param name="collections">The collections of the scenario.</param>
/// <param name="scale">
/// What <c>--scale</c> multiplies memory and caches by, so that they stay to the data as the file has them; no server gets
/// less than it runs with.
/// </param>
internal sealed class DeploymentReader(MappingReader top, IReadOnlyList<PlanCollection> collections, double scale)
{
    private const string NoLimit = "none";

    /// <returns>The deployments in the file's order; empty when it names none.</returns>
    /// <exception cref="UserException">What the scenario, or a server, can't have.</exception>
    public IReadOnlyList<ScenarioDeployment> Read()
    {
        ScenarioNode? cluster = top.Find("cluster");
        if (top.Find("deployments") is not { } node)
            return cluster is null ? [] : [Cluster(cluster)];
        if (cluster is not null)
            throw MappingReader.Wrong(cluster, "cluster and deployments are both given; cluster is the short form for one deployment",
                "make the cluster one of the deployments");
        return node is MappingNode { Entries.Count: > 0 } mapping
            ? [.. mapping.Entries.Select(entry => Named(entry.Name, entry.Value))]
            : throw MappingReader.Wrong(node, $"deployments is {node.Describe()}; expected deployments by name",
                "such as {1 shard: {shards: 1}, 2 shards: {shards: 2}}");
    }

    private ScenarioDeployment Cluster(ScenarioNode node)
    {
        var reader = new MappingReader(node, "cluster", ScenarioLanguage.Cluster);
        reader.Require("shards", "such as shards: 2");
        return new ScenarioDeployment(Sharded(reader, new DeploymentSettings { Topology = Topology.Sharded }, "cluster"));
    }

    private ScenarioDeployment Named(string name, ScenarioNode node)
    {
        string what = $"deployment '{name}'";
        var reader = new MappingReader(node, what, ScenarioLanguage.Deployment);
        string? topology = reader.OneOf("topology", ScenarioLanguage.Topologies);
        bool hasShards = reader.Find("shards") is not null;
        if (topology is "standalone" or "replicaset" && hasShards)
            throw MappingReader.Wrong(reader.Find("shards")!, $"{what}: shards is not allowed with topology: {topology}",
                "write topology: sharded, or omit topology");
        if (topology == "standalone" && reader.Find("members") is { } members)
            throw MappingReader.Wrong(members, $"{what}: members is not allowed with topology: standalone",
                "write topology: replicaset, or omit topology");
        var settings = new DeploymentSettings
        {
            Name = name,
            // Members without shards are those of a replica set.
            Topology = topology == "sharded" || hasShards ? Topology.Sharded
                : topology == "replicaset" || reader.Find("members") is not null ? Topology.ReplicaSet
                : Topology.Standalone,
            CacheBytes = Cache(reader, what),
            MemoryLimitBytes = reader.Text("memory") == NoLimit ? 0 : reader.Size("memory"),
            Cpus = (int?)reader.Count("cpus", 1, ClusterLimits.MostCpus),
            Tls = Switch(reader, "tls"),
            Auth = Switch(reader, "auth"),
        };
        RequireRoom(reader, what, settings);
        long? cache = Scaled(settings.CacheBytes, CacheSize.Least);
        settings = settings with
        {
            CacheBytes = cache,
            MemoryLimitBytes = Scaled(settings.MemoryLimitBytes, Math.Max(MemoryLimit.LeastScaled, MemoryLimit.LeastWith(cache ?? 0))),
        };
        settings = settings.Topology == Topology.Sharded ? Sharded(reader, settings, what) : WithMembers(reader, what, settings);
        return new ScenarioDeployment(settings, Set(reader, what));
    }

    /// <summary>Members and arbiter of each replica set.</summary>
    private static DeploymentSettings WithMembers(MappingReader reader, string what, DeploymentSettings settings)
    {
        int? members = (int?)reader.Count("members", 1, ClusterLimits.MostMembers);
        bool? arbiter = reader.Find("arbiter") is null ? null : reader.Flag("arbiter");
        if (arbiter is true && members != ClusterLimits.MembersWithArbiter)
            throw MappingReader.Wrong(reader.Find("arbiter")!,
                $"{what}: an arbiter breaks the tie between {ClusterLimits.MembersWithArbiter} members", "write members: 2 beside it");
        if (settings.Topology != Topology.Sharded && reader.Find("configServers") is { } configs)
            throw MappingReader.Wrong(configs, $"{what}: configServers belongs to a sharded cluster", "write shards beside it, or omit it");
        return settings with { Members = members, Arbiter = arbiter };
    }

    private static bool? Switch(MappingReader reader, string key) =>
        reader.OneOf(key, ScenarioLanguage.Switch) is { } value ? value == "on" : null;

    private DeploymentSettings Sharded(MappingReader reader, DeploymentSettings settings, string what)
    {
        int? shards = (int?)reader.Count("shards", 1, ClusterLimits.MostShards);
        // On one shard everything lies together anyway.
        if (shards != 1 && collections.All(c => c.ShardKey is null && c.Shard is null))
            throw MappingReader.Wrong(reader.Find("shards") ?? reader.Node,
                $"{what} is sharded, but no collection has a shardKey: all data would be on one shard", "such as shardKey: {_id: hashed}");
        return WithMembers(reader, what,
            settings with { Shards = shards, ConfigServers = (int?)reader.Count("configServers", 1, ClusterLimits.MostConfigServers) });
    }

    private static long? Cache(MappingReader reader, string what) => reader.Size("cache") switch
    {
        null => null,
        >= CacheSize.Least and { } bytes => bytes,
        { } bytes => throw MappingReader.Wrong(reader.Find("cache")!,
            $"{what}: cache is {CacheSize.Text(bytes)}; allowed: {CacheSize.Text(CacheSize.Least)} or more", Unit(reader, "cache")),
    };

    /// <summary>Whole megabytes; what is less than that already stays.</summary>
    private long? Scaled(long? bytes, long least) =>
        bytes is > 0 and { } full && scale != 1 ? Math.Max((long)(full * scale) >> 20 << 20, Math.Min(full, least)) : bytes;

    private static void RequireRoom(MappingReader reader, string what, DeploymentSettings settings)
    {
        if (settings.MemoryLimitBytes is > 0 and { } limit
            && MemoryLimit.FindProblem(limit, settings.CacheBytes ?? MemoryLimit.DefaultCache(limit)) is { } problem)
            throw MappingReader.Wrong(reader.Find("memory")!, $"{what}: memory {problem}",
                Unit(reader, "memory") ?? "the system kills a server that exceeds its limit");
    }

    /// <returns>Null when the size has a unit.</returns>
    private static string? Unit(MappingReader reader, string key) =>
        reader.Text(key) is { } text && !Quantities.HasUnit(text) ? $"a plain number is bytes: did you mean {text}GB?" : null;

    /// <summary>Each of them must be there to be set.</summary>
    private MappingNode? Set(MappingReader reader, string what)
    {
        if (reader.Find("set") is not { } node)
            return null;
        if (node is not MappingNode set)
            throw MappingReader.Wrong(node, $"{what}: set is {node.Describe()}; expected parameters with values", "such as {total: 50M}");
        string[] known = [.. ((top.Find("parameters") as MappingNode)?.Entries ?? []).Select(e => e.Name)];
        foreach (MappingEntry entry in set.Entries.Where(e => !known.Contains(e.Name)))
        {
            string allowed = known.Length == 0 ? "the file has no parameters" : $"allowed: {string.Join(", ", known)}";
            throw MappingReader.Wrong(entry.Key, $"{what}: set: no parameter '{entry.Name}'; {allowed}",
                NearestName.Hint(entry.Name, known));
        }

        return set;
    }
}
