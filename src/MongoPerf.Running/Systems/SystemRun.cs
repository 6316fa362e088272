using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Systems;

/// <summary>What a system gets to know of a run to open its data and its executors.</summary>
public sealed record SystemRun
{
    public required string Id { get; init; }

    /// <summary>Drawn by the run; null in runs of old versions.</summary>
    public required string? Token { get; init; }

    public required DataSettings Data { get; init; }

    /// <summary>Running.</summary>
    public required IDeployment Deployment { get; init; }

    public required ConnectionSettings Connections { get; init; }

    /// <summary>How long a lost server is waited for.</summary>
    public required TimeSpan ReconnectFor { get; init; }

    /// <summary>Called before each attempt to connect but the first.</summary>
    public required Action BeforeReconnect { get; init; }

    /// <summary>What the run may write; null where nobody else could.</summary>
    public WriterLeases? Leases { get; init; }

    /// <summary>What operations do behind the router of a sharded deployment; null for any other.</summary>
    public ClusterControl? Cluster { get; init; }

    /// <summary>Gets what happens to collections: a kind of event, and its text.</summary>
    public required Action<string, string> Report { get; init; }

    /// <summary>Gets a line of progress.</summary>
    public required Action<string> Notify { get; init; }
}
