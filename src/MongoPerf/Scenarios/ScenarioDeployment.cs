using MongoPerf.Engine.Runs;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>A deployment that a scenario brings up, unless the command line names another. Immutable.</summary>
internal sealed record ScenarioDeployment
{
    /// <summary>The file's; null for the only one, under "cluster".</summary>
    public string? Name { get; init; }

    /// <summary>Standalone, replica set or sharded.</summary>
    public Topology Topology { get; init; } = Topology.Standalone;

    /// <summary>Null for the usual number of a sharded one.</summary>
    public int? Shards { get; init; }

    /// <summary>Of each shard, or of the replica set; null for the usual number.</summary>
    public int? Members { get; init; }

    /// <summary>Of each server, bytes; null for its own default.</summary>
    public long? CacheBytes { get; init; }

    /// <summary>Limit of the memory of each server by the system, bytes; 0 for none, null for the usual.</summary>
    public long? MemoryBytes { get; init; }

    /// <summary>How many of the machine's CPUs each server may use; null for all.</summary>
    public int? Cpus { get; init; }

    /// <summary>Servers take TLS connections only; null for the usual.</summary>
    public bool? Tls { get; init; }

    /// <summary>Clients log in; null for the usual.</summary>
    public bool? Auth { get; init; }

    /// <summary>Values of parameters on this deployment; null for none.</summary>
    public MappingNode? Set { get; init; }
}
