using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>What a run puts under load.</summary>
internal sealed record DeploymentSettings
{
    /// <summary>"single", "sharded" or "null".</summary>
    public string Topology { get; init; } = "single";

    /// <summary>The hosts of <c>--uri</c>, in its order; null when the run starts its own server.</summary>
    public IReadOnlyList<ServerAddress>? Hosts { get; init; }

    /// <summary>The host of <c>--uri tyrant://</c>; comes before all others.</summary>
    public ServerAddress? Tyrant { get; init; }

    /// <summary>How connections are opened: from <c>--uri</c>, or as they are by default.</summary>
    public ConnectionSettings Connections { get; init; } = ConnectionSettings.Default;

    /// <summary>The value of <c>--mongod</c>.</summary>
    public string? Mongod { get; init; }

    /// <summary>What a run that goes on began with, as <see cref="IDeployment.Kind"/>; null chooses.</summary>
    public string? RequiredKind { get; init; }

    /// <summary>Full path of the mongod that a run that goes on began with; comes before <see cref="Mongod"/>. Null when it is not known.</summary>
    public string? ServerProgram { get; init; }

    /// <summary>Of <c>--cache</c>, bytes; null for the server's own default.</summary>
    public long? CacheBytes { get; init; }

    /// <summary>Limit of the memory of a server that the run starts, of a cluster of each member of a shard, by the system, bytes; 0 for none, null for the usual.</summary>
    public long? MemoryLimitBytes { get; init; }

    /// <summary>How many CPUs such a server may use; null for all.</summary>
    public int? Cpus { get; init; }

    /// <summary>What a cluster that the run starts is to be, or which one it is given; null for the usual.</summary>
    public ClusterSettings? Cluster { get; init; }

    /// <summary>Where a server that the run starts keeps its data: runs/ID/data.</summary>
    public required string DataFolder { get; init; }
}

/// <summary>A server under load: one that exists, or one that the run starts and ends.</summary>
/// <remarks>One thread at a time (<see cref="ServerKeeper"/>), but <see cref="Address"/> and <see cref="IsRunning"/> may be read by any.</remarks>
internal interface IDeployment : IDisposable
{
    /// <summary>"uri", "tyrant", "mongod", "embedded", "null", "sharded" or "cluster"; <see cref="DeploymentInfo.Kind"/>.</summary>
    string Kind { get; }

    /// <summary>Where clients connect; may change with each <see cref="EnsureRunning"/>.</summary>
    ServerAddress Address { get; }

    /// <summary>Where the server's data lie on this machine; null when they do not, or it is not known.</summary>
    string? DataFolder { get; }

    /// <summary>Null when it does not run, or is elsewhere.</summary>
    int? ProcessId { get; }

    /// <summary>Whether its process lives; of a server that was given always true, since nothing is known of it.</summary>
    bool IsRunning { get; }

    /// <summary>Full path of the mongod that the run starts; null when it starts none.</summary>
    string? Program => null;

    /// <summary>The parts of a sharded deployment that is running; null for any other topology.</summary>
    ShardedCluster? Cluster => null;

    /// <summary>What a reader of the figures must know.</summary>
    IReadOnlyList<string> Remarks { get; }

    /// <summary>What the last <see cref="EnsureRunning"/> that started something did, as a sentence.</summary>
    string RestartText => $"the server had ended and was started again on {Address}";

    /// <summary>Estimate of what a document of the series takes on the server's disk, data, indexes and journal together.</summary>
    /// <param name="documents">How many are to be inserted, more than none.</param>
    double BytesPerDocument(long documents) => DiskGuard.MongodBytesPerDocument;

    /// <summary>
    /// Starts it when it is not there: at first, on resume, and whenever connections to it break in the middle of a run. Nothing is done to
    /// a server that was given, but the member that takes writes is looked for.
    /// </summary>
    /// <returns>True when it had to be started or taken over.</returns>
    /// <exception cref="DeploymentException">It does not start, or no member takes writes.</exception>
    bool EnsureRunning();

    /// <summary>Ends what the run started; a server that was given goes on. Never throws.</summary>
    void Stop();
}
