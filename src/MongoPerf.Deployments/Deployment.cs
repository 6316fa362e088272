using MongoPerf.Deployments.Processes;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>What a run puts under load: the user's settings, and what only this process knows.</summary>
public sealed record DeploymentRequest
{
    public required DeploymentSettings Settings { get; init; }

    /// <summary>The hosts of <c>--uri</c>, in its order; null when the run starts its own server.</summary>
    public IReadOnlyList<ServerAddress>? Hosts { get; init; }

    /// <summary>How connections are opened: from <c>--uri</c>, or as they are by default.</summary>
    public ConnectionSettings Connections { get; init; } = ConnectionSettings.Default;

    /// <summary>What a resumed run began with; null chooses.</summary>
    public DeploymentKind? RequiredKind { get; init; }

    /// <summary>Full path of the mongod that a resumed run began with; comes before the settings'. Null when it is not known.</summary>
    public string? ServerProgram { get; init; }

    /// <summary>Where a server that the run starts keeps its data: runs/ID/data.</summary>
    public required string DataFolder { get; init; }

    /// <summary>The run's own, from which the null deployment reads what to answer; null in tests of others.</summary>
    public string? RunFolder { get; init; }

    /// <summary>The folder in which the scenario finds files; null for none.</summary>
    public string? FilesFolder { get; init; }
}

/// <summary>A server under load: one that exists, or one that the run starts and ends.</summary>
/// <remarks>
/// One thread at a time (<see cref="ServerKeeper"/>), but <see cref="Address"/>, <see cref="IsRunning"/> and
/// <see cref="Select"/> are for any.
/// </remarks>
public interface IDeployment : IDisposable
{
    DeploymentKind Kind { get; }

    /// <summary>Where clients connect; may change with each <see cref="EnsureRunning"/>.</summary>
    ServerAddress Address { get; }

    /// <summary>
    /// Where a worker connects for operations that read with this preference; writes go where <see cref="ReadPreference.Primary"/> does.
    /// </summary>
    /// <param name="preference">The read preference of the operation.</param>
    /// <param name="worker">0-based: workers are spread evenly over servers that are equally good.</param>
    /// <exception cref="ConnectionFailedException">No server fits just now.</exception>
    ServerAddress Select(ReadPreference preference, int worker) => Address;

    /// <summary>Where the server's data lie on this machine; null when they do not, or it is not known.</summary>
    string? DataFolder => null;

    /// <summary>Null when it does not run, or is elsewhere.</summary>
    int? ProcessId => null;

    /// <summary>All processes of it on this machine, as far as they are known.</summary>
    IReadOnlyList<int> ProcessIds => ProcessId is { } id ? [id] : [];

    /// <summary>Whether its process lives; of a server that was given always true, since nothing is known of it.</summary>
    bool IsRunning => true;

    /// <summary>Full path of the mongod that the run starts; null when it starts none.</summary>
    string? Program => null;

    /// <summary>
    /// How clients connect to what was started, or to a cluster's folder; null when that is the connection string's to say.
    /// </summary>
    ConnectionSettings? Connections => null;

    /// <summary>The members of a replica set on this machine, the primary among them; empty for anything else.</summary>
    IReadOnlyList<ServerAddress> Members => [];

    /// <summary>The servers that reads may go to, of several only those that answered when they were last looked at.</summary>
    IReadOnlyList<ServerAddress> Readable => Members.Count > 0 ? Members : [Address];

    /// <summary>It is made of replica sets, whose primaries refuse some commands that a single server takes.</summary>
    bool HasPrimaries => Cluster is not null || Members.Count > 0 || WatchedSets.Count > 0;

    /// <summary>The parts of a sharded deployment that is running; null for any other topology.</summary>
    ShardedCluster? Cluster => null;

    /// <summary>The replica sets of which it is noticed when their primary is gone: the shards, or the set itself.</summary>
    IReadOnlyList<WatchedSet> WatchedSets => WatchedSet.Of(Cluster);

    /// <summary>
    /// Looks again which member of each set takes writes, and which shards there are, where nobody else says so: of a deployment that
    /// was given. Never throws; any thread.
    /// </summary>
    void Refresh()
    {
    }

    /// <exception cref="ConnectionFailedException">It is no sharded deployment, or not running just now.</exception>
    ShardedCluster RequireCluster() =>
        Cluster ?? throw new ConnectionFailedException(Address, "the members of the cluster are unknown at the moment");

    /// <summary>What the memory of each server that holds data is limited to; null where it is not, or where that is not known.</summary>
    long? MemoryLimitBytes => null;

    /// <summary>What a reader of the figures must know.</summary>
    IReadOnlyList<string> Remarks { get; }

    /// <summary>What the last <see cref="EnsureRunning"/> that started something did, as a sentence.</summary>
    string RestartText => $"the server {ExitText} and was restarted on {Address}";

    /// <summary>How the server had ended that <see cref="EnsureRunning"/> has last started again, to follow its name.</summary>
    string ExitText => MemoryGroup.ExitText(null);

    /// <summary>
    /// Estimate of what a document of 1 KB with three indexes takes on the server's disk, data, indexes and journal together.
    /// </summary>
    /// <param name="documents">How many are to be inserted, more than none.</param>
    double BytesPerDocument(long documents) => DiskGuard.MongodBytesPerDocument;

    /// <summary>
    /// Starts it when it is not there: at first, on resume, and whenever connections to it break in the middle of a run. Nothing is done to
    /// a server that was given, but the member that takes writes is looked for.
    /// </summary>
    /// <returns>True when it had to be started or taken over.</returns>
    /// <exception cref="DeploymentException">It does not start, or no member takes writes.</exception>
    bool EnsureRunning();

    /// <summary>Ends what the run started; a server that was given keeps running. Never throws.</summary>
    void Stop()
    {
    }

    void IDisposable.Dispose() => Stop();
}
