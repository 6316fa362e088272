using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>How a deployment is made up. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<Topology>))]
public enum Topology
{
    Standalone,
    ReplicaSet,
    Sharded,

    /// <summary>MongoPerf's own server.</summary>
    Embedded,

    /// <summary>Answers and stores nothing.</summary>
    Null,
    TokyoTyrant,
}

/// <summary>Where a deployment comes from. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DeploymentKind>))]
public enum DeploymentKind
{
    /// <summary>A connection string named it.</summary>
    Given,

    /// <summary>The folder of a cluster on this machine named it.</summary>
    GivenCluster,

    /// <summary>A Tokyo Tyrant server that a connection string named.</summary>
    Tyrant,

    /// <summary>A mongod that the run started.</summary>
    Mongod,

    /// <summary>A cluster that the run started.</summary>
    Sharded,

    /// <summary>The embedded server, started by the run.</summary>
    Embedded,

    /// <summary>The null deployment, started by the run.</summary>
    Null,

    /// <summary>A replica set that the run started.</summary>
    ReplicaSet,
}

/// <summary>What people read for these.</summary>
public static class TopologyTexts
{
    public static string Text(this Topology topology) => topology switch
    {
        Topology.Standalone => "standalone",
        Topology.ReplicaSet => "replica set",
        Topology.Sharded => "sharded",
        Topology.Embedded => "embedded",
        Topology.Null => "null",
        _ => "Tokyo Tyrant",
    };

    /// <summary>It was there before the run: the run neither starts nor stops it.</summary>
    public static bool IsGiven(this DeploymentKind kind) =>
        kind is DeploymentKind.Given or DeploymentKind.GivenCluster or DeploymentKind.Tyrant;

    public static string Text(this DeploymentKind kind) => kind switch
    {
        DeploymentKind.Given => "a given server",
        DeploymentKind.GivenCluster => "a given cluster",
        DeploymentKind.Tyrant => "Tokyo Tyrant",
        DeploymentKind.Mongod => "mongod",
        DeploymentKind.Sharded => "a cluster",
        DeploymentKind.ReplicaSet => "a replica set",
        DeploymentKind.Embedded => "the embedded server",
        _ => "the null deployment",
    };
}
