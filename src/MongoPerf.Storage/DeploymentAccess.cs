using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>What a run's user may see and do at its deployment, as the servers said when the run began.</summary>
public sealed record DeploymentAccess
{
    /// <summary>Who is logged in; null for nobody, or where the server does not say.</summary>
    public string? User { get; init; }

    /// <summary>The user's, such as "readWrite on shop"; those of the database admin by their names alone.</summary>
    public IReadOnlyList<string> Roles { get; init; } = [];

    /// <summary>The mongos that the connection string names and that answer; null for a deployment without one.</summary>
    public int? Routers { get; init; }

    /// <summary>What the run does without.</summary>
    public IReadOnlyList<MissingAccess> Missing { get; init; } = [];

    /// <returns>Null when the run has it.</returns>
    public MissingAccess? FindMissing(AccessFeature feature) => Missing.FirstOrDefault(one => one.Feature == feature);
}

/// <summary>Something that a run does without.</summary>
/// <param name="Feature">What.</param>
/// <param name="Why">The reason.</param>
/// <param name="Role">A built-in role that gives it; null where none does.</param>
public sealed record MissingAccess(AccessFeature Feature, AccessProblem Why, string? Role = null)
{
    /// <summary>The database on which that role would be granted; null without a role, or in a run of an earlier version.</summary>
    public string? Database { get; init; }
}

/// <summary>What a run asks of a deployment beside its operations, and can do without. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<AccessFeature>))]
public enum AccessFeature
{
    /// <summary>Sizes of the collections (collStats), on shards by shard.</summary>
    Sizes,

    /// <summary>A checkpoint of the server before sizes are read (fsync).</summary>
    FreshSizes,

    /// <summary>The state of the server, or of the router (serverStatus).</summary>
    ServerState,

    /// <summary>The state of the shards, asked directly.</summary>
    ShardState,

    /// <summary>The list of the shards, and what lies where (config.*).</summary>
    ShardList,

    /// <summary>How often each shard used each index ($indexStats).</summary>
    IndexUse,

    /// <summary>Documents, orphans and their bytes by shard ($shardedDataDistribution).</summary>
    DataDistribution,

    /// <summary>A note in every shard's journal (appendOplogNote).</summary>
    DurableNotes,
}

/// <summary>Why something can't be had. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<AccessProblem>))]
public enum AccessProblem
{
    /// <summary>The user lacks the right.</summary>
    NotAllowed,

    /// <summary>The shards don't know the user: a cluster's users do not exist on them.</summary>
    NoUser,

    /// <summary>The client can't reach them.</summary>
    Unreachable,

    /// <summary>The server does not do that.</summary>
    Unsupported,

    /// <summary>The server answers, and leaves out most of it.</summary>
    Partial,
}
