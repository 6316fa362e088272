using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>What a run was asked to do; enough to continue it.</summary>
public sealed record RunSettings
{
    public required DeploymentSettings Deployment { get; init; }

    /// <summary>Which client runs the operations.</summary>
    public EngineSettings Engine { get; init; } = EngineSettings.Wire;

    public required DataSettings Data { get; init; }

    public required PlanSettings Plan { get; init; }

    /// <summary>The settings as run.db keeps them.</summary>
    public string ToJson() => RunJson.Write(this);

    /// <exception cref="System.Text.Json.JsonException">Not such settings, or values that no run stores.</exception>
    public static RunSettings FromJson(string text) => RunJson.Read<RunSettings>(text);
}

/// <summary>A client that runs operations. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<EngineKind>))]
public enum EngineKind
{
    /// <summary>MongoPerf's own.</summary>
    Wire,

    /// <summary>MongoDB.Driver, the official driver for .NET.</summary>
    Driver,
}

/// <summary>The client of a run's measured operations.</summary>
/// <param name="Kind">Which.</param>
/// <param name="Version">
/// The version of the driver, such as 3.11.0; null for MongoPerf's own client, and before the driver was loaded.
/// </param>
public sealed record EngineSettings(EngineKind Kind, string? Version = null)
{
    public static EngineSettings Wire { get; } = new(EngineKind.Wire);

    /// <summary>"wire", or "driver 3.11.0".</summary>
    [JsonIgnore]
    public string Text => Kind == EngineKind.Wire ? "wire" : $"driver {Version}".TrimEnd();
}

/// <summary>A deployment as options or a scenario describe it, and as a run stores it. What is null is chosen by the program.</summary>
public sealed record DeploymentSettings
{
    /// <summary>What a scenario, or a list on the command line, calls it; null when it has no name.</summary>
    public string? Name { get; init; }

    /// <summary>Standalone, replica set, sharded or null; not null in a run.</summary>
    public Topology? Topology { get; init; }

    /// <summary>The connection string as given, secrets masked; null when the run starts its own server.</summary>
    public string? Uri { get; init; }

    /// <summary>
    /// Full path of the folder of a cluster, or a replica set, that is there (<c>cluster start</c>); null for any other deployment.
    /// </summary>
    public string? ClusterFolder { get; init; }

    /// <summary>How many shards a cluster that is started has.</summary>
    public int? Shards { get; init; }

    /// <summary>How many members each shard's replica set has, or the one that stands by itself.</summary>
    public int? Members { get; init; }

    /// <summary>Members of the config server's replica set of a cluster that is started.</summary>
    public int? ConfigServers { get; init; }

    /// <summary>Each replica set that is started has an arbiter beside its members; null is no.</summary>
    public bool? Arbiter { get; init; }

    /// <summary>The mongod program that is started.</summary>
    public string? MongodPath { get; init; }

    /// <summary>Cache limit of each server that is started and holds data, bytes.</summary>
    public long? CacheBytes { get; init; }

    /// <summary>Memory limit of each server that is started and holds data, bytes, by the system; 0 for none.</summary>
    public long? MemoryLimitBytes { get; init; }

    /// <summary>How many of this machine's CPUs such a server may use; null for all.</summary>
    public int? Cpus { get; init; }

    /// <summary>Clients log in to the servers that are started; null is no.</summary>
    public bool? Auth { get; init; }

    /// <summary>The servers that are started take TLS connections only; null is no.</summary>
    public bool? Tls { get; init; }

    /// <summary>
    /// The server API that <c>--server-api</c> names, such as "1,strict"; null leaves it to the connection string, which may name one.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? ServerApi { get; init; }
}

/// <summary>Where the collections are, and how they are spread.</summary>
public sealed record DataSettings
{
    public required string Database { get; init; }

    /// <summary>How collections are spread over shards; null when they are not.</summary>
    public ShardingSettings? Sharding { get; init; }

    /// <summary>The collections were there before: the run makes and drops none.</summary>
    public bool IsExisting { get; init; }
}

/// <summary>How a series' collection is sharded. What is null is left as it is found.</summary>
public sealed record ShardingSettings
{
    /// <summary>
    /// The shard key as <c>--shard-key</c> takes it, such as "hashed", "_id" or "Number"; null takes that of the collection that is there.
    /// </summary>
    public string? ShardKey { get; init; }

    /// <summary>Chunks that a new collection begins with, spread over the shards.</summary>
    public int? Presplit { get; init; }

    /// <summary>The cluster's chunk size, whole megabytes.</summary>
    public int? ChunkMegabytes { get; init; }

    /// <summary>"on", "off", or its window such as "22:00-06:00".</summary>
    public string? Balancer { get; init; }
}
