using System.Text.Json.Serialization;
using MongoPerf.Measurement;

namespace MongoPerf.Storage;

// What a run stores about itself. The names are those of the JSON that `report --format json` prints (schema mongoperf/1), in camelCase.

/// <summary>How a run stands. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<RunState>))]
public enum RunState
{
    /// <summary>Still going, or killed without a chance to say so.</summary>
    Running,

    /// <summary>Stopped by Ctrl+C, a full disk or a lost server; can be resumed.</summary>
    Interrupted,
    Finished,

    /// <summary>Ended by a fault of the program; can be resumed all the same.</summary>
    Failed,
}

/// <summary>One execution of the program.</summary>
public sealed record RunInfo
{
    public required string Id { get; init; }

    /// <summary>The seed of the documents and of everything drawn; a run on data that is there takes theirs.</summary>
    public required ulong Seed { get; init; }

    /// <summary>The program's version, with the commit it was built from.</summary>
    public required string Version { get; init; }

    /// <summary>"Release" or "Debug".</summary>
    public required string BuildKind { get; init; }

    /// <summary>The command line as typed, secrets masked.</summary>
    public required string CommandLine { get; init; }
    public required DateTimeOffset StartedAt { get; init; }
    public DateTimeOffset? EndedAt { get; init; }
    public RunState State { get; init; } = RunState.Running;

    /// <summary>Why the run ended before its target; null when it did not.</summary>
    public string? StoppedBecause { get; init; }

    /// <summary>The repeats of which it is one; null when it was not repeated.</summary>
    public RepeatOf? Repeat { get; init; }

    /// <summary>Which try of a search for the highest rate it is, 1-based; null for any other run.</summary>
    public int? Try { get; init; }

    /// <summary>Which part of a plan it is that several clients do together; null when it is all of it.</summary>
    public ClientPart? Part { get; init; }

    /// <summary>The clients whose runs were merged into this one; empty for a run that was not merged.</summary>
    public IReadOnlyList<MergedClient> Clients { get; init; } = [];
}

/// <summary>A run's place among the repeats that one command made of it on one deployment.</summary>
/// <param name="Group">Id of the first of them.</param>
/// <param name="Number">1-based.</param>
/// <param name="Count">How many were requested.</param>
public sealed record RepeatOf(string Group, int Number, int Count);

/// <summary>What was under load.</summary>
public sealed record DeploymentInfo
{
    /// <summary>In place of a version.</summary>
    public const string UnknownVersion = "unknown";

    public required DeploymentKind Kind { get; init; }

    /// <summary>The system's name, such as Tokyo Tyrant; null for MongoDB, and for what stands in for it.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? OtherSystem
    {
        // Runs of earlier versions know it by their kind only.
        get => field ?? (Kind == DeploymentKind.Tyrant ? Kind.Text() : null);
        init;
    }

    public required Topology Topology { get; init; }

    /// <summary>As the server tells it; <see cref="UnknownVersion"/> where it does not.</summary>
    public required string ServerVersion { get; init; }

    /// <summary>The version for people.</summary>
    [JsonIgnore]
    public string VersionText => ServerVersion == UnknownVersion ? "(version unknown)" : ServerVersion;

    /// <summary>Its first two numbers; null where they are not known, and for what stands in for MongoDB.</summary>
    [JsonIgnore]
    public Version? Release => StandIn is null ? ReleaseOf(ServerVersion) : null;

    /// <summary>The first two numbers of a version, such as 8.0 of 8.0.4-rc1; null where it has none.</summary>
    public static Version? ReleaseOf(string version) => version.Split('.') is [var major, var minor, ..]
        && Version.TryParse($"{major}.{minor}", out Version? release) ? release : null;

    /// <summary>
    /// What the server really is, such as "FerretDB 2.1.0": it speaks MongoDB's protocol, and <see cref="ServerVersion"/> is that of the
    /// MongoDB that it stands in for. Null for MongoDB itself, and for what does not say.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? StandIn { get; init; }
    public string? StorageEngine { get; init; }

    /// <summary>The server's own cache limit in bytes, of a cluster each shard's; null when it does not say.</summary>
    public long? CacheBytes { get; init; }

    /// <summary>
    /// What the memory of each server that holds data is limited to, by request or default; null where it is not, or
    /// where that is not known.
    /// </summary>
    public long? MemoryLimitBytes { get; init; }

    /// <summary>What routes in a sharded deployment: "mongos" or "mongod"; null for any other.</summary>
    public string? Router { get; init; }

    /// <summary>How many shards a sharded deployment had when the run began, as its list of shards says; null for any other.</summary>
    public int? ShardCount { get; init; }

    /// <summary>
    /// How many members a replica set has, or each shard (the largest, where they differ), as the servers say; null for anything else.
    /// </summary>
    public int? Members { get; init; }

    /// <summary>Whether connections were made over TLS; null where that was not noted.</summary>
    public bool? Tls { get; init; }

    /// <summary>What messages to it were compressed with; null for nothing.</summary>
    public string? Compressor { get; init; }

    /// <summary>The server API that operations named, such as "1,strict"; null for none, and in runs of earlier versions.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? ServerApi { get; init; }

    /// <summary>Whether the server knew a user on them; null where it did not say.</summary>
    public bool? Auth { get; init; }

    /// <summary>What the run's user may see and do there; null in runs of earlier versions, and for what is not MongoDB.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public DeploymentAccess? Access { get; init; }

    /// <summary>How a cluster held the run's collections when the run ended; empty before that, and for anything but a cluster.</summary>
    public IReadOnlyList<CollectionSharding> Collections { get; init; } = [];

    /// <summary>The cache of all shards together, as they are alike; of one server its own.</summary>
    [JsonIgnore]
    public long? AllCacheBytes => CacheBytes * (ShardCount ?? 1);
    public bool IsEmbedded { get; init; }

    /// <summary>What answered in place of MongoDB, such as "embedded server" or "FerretDB 2.1.0"; null for MongoDB.</summary>
    [JsonIgnore]
    public string? NotMongoDb => Topology == Topology.Null ? "null deployment" : IsEmbedded ? "embedded server" : StandIn ?? OtherSystem;

    /// <summary>The shape for people, such as "standalone", "replica set of 3" or "sharded over TLS with logins".</summary>
    [JsonIgnore]
    public string ShapeText =>
        (Topology == Topology.ReplicaSet && Members is { } members ? $"{Topology.Text()} of {members}" : Topology.Text())
        + (Tls is true ? " over TLS" : "") + (Auth is true ? " with logins" : "")
        + (Compressor is { } name ? $" with {name} compression" : "");

    /// <summary>host:port, no secrets.</summary>
    public required string Address { get; init; }

    /// <summary>"database.collection".</summary>
    public required string Namespace { get; init; }

    /// <summary>The server's process on this machine; null when it is elsewhere or unknown.</summary>
    public int? ProcessId { get; init; }

    /// <summary>
    /// The address is one of the client's machine, and the server does not tell its process: it runs there, or a tunnel leads elsewhere.
    /// </summary>
    [JsonIgnore]
    public bool MayBeHere => ProcessId is null
        && (Address.StartsWith("127.", StringComparison.Ordinal) || Address.StartsWith("localhost", StringComparison.Ordinal)
            || Address.StartsWith("[::1]", StringComparison.Ordinal) || Address.StartsWith('/'));

    /// <summary>
    /// Names of the figures of <see cref="MetricCatalogue.OfStatus"/> that the server, a router or a shard does not tell; empty in runs of
    /// earlier versions, and where its state can't be seen at all.
    /// </summary>
    public IReadOnlyList<string> UntoldMetrics { get; init; } = [];

    /// <summary>Things a reader of the figures must know, such as "results are for the embedded server, not MongoDB".</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];
}

/// <summary>How a cluster holds one collection, as it says itself.</summary>
/// <param name="Collection">Its name.</param>
/// <param name="IsPlaced">The scenario names the shard that holds all of it.</param>
/// <param name="Parts">One for each shard.</param>
/// <param name="Key">The shard key, such as {"customer": 1}; null for a collection that is not sharded.</param>
public sealed record CollectionSharding(string Collection, bool IsPlaced, IReadOnlyList<ShardPart> Parts, string? Key = null)
{
    private const double NearlyAll = 0.95;

    // Fewer say nothing about a key.
    private const long LeastDocuments = 100;

    /// <summary>How often shards used its indexes while the run lasted; empty where no router tells.</summary>
    public IReadOnlyList<IndexUse> Indexes { get; init; } = [];

    /// <summary>Documents that have left a shard and were not deleted there yet when the run ended, as far as shards told.</summary>
    [JsonIgnore]
    public long Orphans => Parts.Sum(part => part.Orphans ?? 0);

    /// <summary>How many chunks it is in; null where the config server did not say.</summary>
    [JsonIgnore]
    public long? Chunks => Parts.Count > 0 && Parts.All(part => part.Chunks is not null) ? Parts.Sum(part => part.Chunks) : null;

    /// <summary>
    /// The shard with 95 % or more of the documents, where others could hold some too and no setting placed them there; null
    /// when there is none.
    /// </summary>
    [JsonIgnore]
    public ShardPart? NearlyOnly
    {
        get
        {
            long all = Parts.Sum(part => part.Documents ?? 0);
            return !IsPlaced && Parts.Count > 1 && all >= LeastDocuments && Parts.All(part => part.Documents is not null)
                ? Parts.FirstOrDefault(part => part.Documents >= NearlyAll * all)
                : null;
        }
    }
}

/// <summary>What a shard holds of a collection.</summary>
/// <param name="Shard">Its name.</param>
/// <param name="Documents">Orphans left out; null when it did not say.</param>
/// <param name="Chunks">Null when the config server did not say.</param>
public sealed record ShardPart(string Shard, long? Documents = null, long? Chunks = null)
{
    /// <summary>Documents that moved away and are not deleted yet; null where a mongos did not say ($shardedDataDistribution).</summary>
    public long? Orphans { get; init; }

    /// <summary>Bytes of the documents, uncompressed; null as for <see cref="Orphans"/>.</summary>
    public long? OwnedBytes { get; init; }

    /// <summary>Bytes of the orphans, uncompressed; null as for <see cref="Orphans"/>.</summary>
    public long? OrphanedBytes { get; init; }

    /// <summary>Bytes of documents and orphans, uncompressed; null when it did not say, and in runs of earlier versions.</summary>
    public long? DataBytes { get; init; }

    /// <summary>Bytes of the documents' files as of the shard's last checkpoint; null as for <see cref="DataBytes"/>.</summary>
    public long? StorageBytes { get; init; }

    /// <summary>Bytes of the indexes' files as of the shard's last checkpoint; null as for <see cref="DataBytes"/>.</summary>
    public long? IndexBytes { get; init; }
}

/// <summary>How often shards used an index.</summary>
/// <param name="Index">Its name.</param>
/// <param name="Operations">By shard; one that lacks the index is left out.</param>
public sealed record IndexUse(string Index, IReadOnlyDictionary<string, long> Operations);

/// <summary>What the client ran on.</summary>
public sealed record EnvironmentInfo
{
    public required string OperatingSystem { get; init; }

    /// <summary>Linux's version; empty on another system.</summary>
    public required string Kernel { get; init; }

    [JsonIgnore]
    public bool IsLinux => Kernel.Length > 0;

    public required string CpuModel { get; init; }
    public required int CpuCount { get; init; }
    public required long MemoryBytes { get; init; }

    /// <summary>The file system under the runs folder, e.g. "ext4 on /dev/vda".</summary>
    public required string Disk { get; init; }
    public required long DiskTotalBytes { get; init; }
    public required long DiskFreeBytes { get; init; }
    public required string DotNetVersion { get; init; }

    /// <summary>True when client and server share this machine: their CPU time is then one pool.</summary>
    public required bool ServerOnSameMachine { get; init; }

    /// <summary>
    /// What the client costs on this CPU model, as it was known when the run began; null when it was not, or does not apply to the
    /// run's client and server.
    /// </summary>
    public ClientCalibration? Calibration { get; init; }

    /// <summary>The machine's name; null where it was not noted.</summary>
    public string? Host { get; init; }

    /// <summary>Null where it was not compared with a server's.</summary>
    public ClientClock? Clock { get; init; }

    /// <summary>
    /// What the fastest network interface in use carries; null where the system does not say, as on many virtual machines.
    /// </summary>
    public long? LinkBytesPerSecond { get; init; }
}

/// <summary>Latencies of succeeded operations, microseconds; null where nothing was recorded.</summary>
public sealed record LatencySummary
{
    /// <summary>Nothing was recorded.</summary>
    public static LatencySummary None { get; } = new();

    public double? Min { get; init; }
    public double? Mean { get; init; }
    public double? P50 { get; init; }
    public double? P90 { get; init; }
    public double? P95 { get; init; }
    public double? P99 { get; init; }
    public double? P999 { get; init; }
    public double? Max { get; init; }
}

/// <summary>What became of unacknowledged inserts.</summary>
/// <remarks>
/// A sent operation succeeded when the socket took it: <see cref="Accounting"/> counts it so, lost or not.
/// <see cref="OperationResult.Operations"/> and the rates leave out what was lost.
/// </remarks>
/// <param name="Sent">Documents written to the socket.</param>
/// <param name="Arrived">
/// Documents found by an index scan after the fence; what is neither arrived nor lost was refused by a unique index.
/// </param>
/// <param name="Lost">Sent and not found; they were written again afterwards, acknowledged.</param>
/// <param name="DrainSeconds">The seconds from the last send to the reply of the fence (a ping on the same connection).</param>
public sealed record UnacknowledgedResult(long Sent, long Arrived, long Lost, double DrainSeconds);

/// <summary>How the server runs an operation, by explain, and by its counters during the window.</summary>
public sealed record PlanSummary
{
    /// <summary>
    /// Name of the index by which it reads its own collection, of several all ("a_1, b_1"); null for a collection scan.
    /// </summary>
    public string? Index { get; init; }

    /// <summary>In all its stages, as far as the server tells.</summary>
    public long KeysExamined { get; init; }

    /// <inheritdoc cref="KeysExamined"/>
    public long DocumentsExamined { get; init; }

    /// <summary>Documents that it returns, or changes, removes or counts.</summary>
    public long Returned { get; init; }

    /// <summary>Shards that a router asked; null where none routed.</summary>
    public int? Shards { get; init; }

    /// <summary>
    /// Documents that it can't do without, whatever the index: what it skips and returns, with a limit on each shard that it asks. Null in
    /// runs of earlier versions.
    /// </summary>
    public long? Necessary { get; init; }

    /// <summary>The stages from the outermost in, such as "LIMIT > FETCH > IXSCAN".</summary>
    public required string Stages { get; init; }

    /// <summary>
    /// serverStatus metrics.queryExecutor.scanned over the window, per operation; null when the server has no such counter.
    /// </summary>
    public double? KeysExaminedPerOperation { get; init; }

    /// <summary>serverStatus metrics.queryExecutor.scannedObjects over the window, per operation.</summary>
    public double? DocumentsExaminedPerOperation { get; init; }

    /// <summary>
    /// What it examines of each collection, its own first; empty where that is the only one, and in runs of earlier versions.
    /// </summary>
    public IReadOnlyList<PlanSource> Sources { get; init; } = [];

    /// <summary>
    /// What explain said when the phase began, where that was something else; null where it was the same, and in runs of earlier versions.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public PlanSummary? Before { get; init; }

    /// <summary>What each shard does, by their names; empty where none routed, and in runs of earlier versions.</summary>
    public IReadOnlyList<ShardPlan> ByShard { get; init; } = [];
}

/// <summary>What an operation examines of one collection.</summary>
/// <param name="Collection">Its name; of a $lookup that looks up in further collections all of them, as they are counted together.</param>
/// <param name="Served">Documents that the stage returns; of $lookup and $graphLookup those that come into it.</param>
/// <param name="Stage">The stage that reads it, such as $lookup; null for the operation's own collection.</param>
public sealed record PlanSource(string Collection, long Served, string? Stage = null)
{
    /// <summary>Names of the indexes that it uses; null for none.</summary>
    public string? Index { get; init; }

    /// <summary>It reads the whole collection, maybe for each document that comes into the stage.</summary>
    public bool IsScanned { get; init; }

    /// <summary>Null where the server does not tell: of $graphLookup, and of what another shard does.</summary>
    public long? KeysExamined { get; init; }

    /// <inheritdoc cref="KeysExamined"/>
    public long? DocumentsExamined { get; init; }
}

/// <summary>How one shard runs a query.</summary>
/// <param name="Shard">Its name.</param>
/// <param name="Stages">As <see cref="PlanSummary.Stages"/>.</param>
/// <param name="KeysExamined">On this shard.</param>
/// <param name="DocumentsExamined">On this shard.</param>
/// <param name="Returned">To the router, which may need fewer.</param>
/// <param name="Index">Name of the index; null for a collection scan.</param>
public sealed record ShardPlan(
    string Shard, string Stages, long KeysExamined, long DocumentsExamined, long Returned, string? Index = null);

/// <summary>Operations that were under way at one end of the measured part.</summary>
/// <param name="Operations">1 or more.</param>
/// <param name="LongestMicroseconds">How long the slowest took, from when it began (with a rate: from when it was due) to its end.</param>
public sealed record OperationsInFlight(long Operations, double LongestMicroseconds)
{
    /// <summary>Those of several clients, or of several operations.</summary>
    /// <returns>Null when there are none.</returns>
    public static OperationsInFlight? Sum(IEnumerable<OperationsInFlight?> all) =>
        all.OfType<OperationsInFlight>().ToArray() is { Length: > 0 } some
            ? new OperationsInFlight(some.Sum(one => one.Operations), some.Max(one => one.LongestMicroseconds))
            : null;
}

/// <summary>A part of the course of a rate, or of a number of threads: a straight line. After the last, its end holds.</summary>
/// <param name="From">At its start: operations per second, or threads.</param>
/// <param name="To">At its end.</param>
/// <param name="Seconds">How long it takes.</param>
public sealed record CoursePiece(double From, double To, double Seconds);

/// <summary>What a phase measured of one of its operations. Rates and latencies leave the warm-up out.</summary>
public sealed record OperationResult
{
    /// <summary>What the sum of all of a phase's operations is called; no operation may be.</summary>
    public const string TotalName = "total";

    /// <summary>
    /// What the sum of a group's operations is called, where a phase has several groups; no operation of the phase may be.
    /// </summary>
    public static string TotalOf(string group) => $"{group} {TotalName}";

    /// <summary>
    /// The name under which it is counted what it took the threads of a group to have their connections; no operation may be called so.
    /// </summary>
    /// <param name="kind">How they come by them.</param>
    /// <param name="group">The group's name; empty where the phase has only this one.</param>
    public static string NameOf(ConnectionKind kind, string group) =>
        (group.Length > 0 ? $"{group} " : "") + (kind == ConnectionKind.Pool ? "wait" : "connect");

    /// <summary>Its name.</summary>
    public required string Operation { get; init; }

    /// <summary>What it is about; null for several operations, commands about none, and in runs of earlier versions.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Collection { get; init; }

    /// <summary>It is the sum of several operations.</summary>
    [JsonIgnore]
    public bool IsTotal { get; init; }

    /// <summary>It adds documents: its rate is that of documents.</summary>
    public bool IsInsert { get; init; }

    /// <summary>Nobody answers it (w:0): its latency is the time to send.</summary>
    public bool IsUnacknowledged { get; init; }

    /// <summary>The name under which the server counts it in <c>opcounters</c>; null when it counts nothing of it.</summary>
    public string? ServerCounter { get; init; }

    /// <summary>The threads of the group that did it.</summary>
    public required int Threads { get; init; }

    /// <summary>Documents per command.</summary>
    public required int Batch { get; init; }

    /// <summary>Succeeded operations in the measured part.</summary>
    public required long Operations { get; init; }

    /// <summary>Documents inserted or received in the measured part.</summary>
    public required long Documents { get; init; }
    public required long Failed { get; init; }

    /// <summary>Queries among <see cref="Operations"/> that brought fewer documents than they may; small collections do that.</summary>
    public long ShortReplies { get; init; }

    /// <summary>
    /// Those among <see cref="Operations"/> that came to nothing; null where no reply tells, in totals, and in runs of earlier versions.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public EffectResult? Effect { get; init; }

    /// <summary>
    /// Those among <see cref="Operations"/> that began in the warm-up: an operation is measured where it ends. Null when there are none.
    /// </summary>
    public OperationsInFlight? InFlightAtStart { get; init; }

    /// <summary>
    /// Operations that this program ended without a reply when the phase was over: they count as skipped and have no latency. Null
    /// when there are none.
    /// </summary>
    public OperationsInFlight? InFlightAtEnd { get; init; }
    public required double WarmupSeconds { get; init; }

    /// <summary>Length of the measured part.</summary>
    public required double Seconds { get; init; }
    public UnacknowledgedResult? Unacknowledged { get; init; }
    public required double OperationsPerSecond { get; init; }

    /// <summary>Documents that were read or written; of steps, those of all of them.</summary>
    public required double DocumentsPerSecond { get; init; }

    /// <summary>Document bytes, 1 MB = 1,000,000 bytes.</summary>
    public required double MegabytesPerSecond { get; init; }

    /// <summary>User and system time of the whole client process in the measured part, per succeeded operation.</summary>
    public required double ClientCpuMicrosecondsPerOperation { get; init; }

    /// <summary>The client process's CPU time over the measured part, in cores (1.0 is one core busy).</summary>
    public double ClientCpuCores { get; init; }

    /// <summary>
    /// Bytes that the client process allocated on the managed heap in the measured part, per succeeded operation; null where
    /// that was not noted.
    /// </summary>
    public double? ClientAllocatedBytesPerOperation { get; init; }

    /// <summary>Service time: from the actual start to the reply.</summary>
    public required LatencySummary LatencyMicroseconds { get; init; }

    /// <summary>Response time: from when it was due to the reply; null in a closed loop, where nothing is due.</summary>
    public LatencySummary? ResponseMicroseconds { get; init; }

    /// <summary>The microseconds from when it was due to its actual start; null in a closed loop.</summary>
    public LatencySummary? LatenessMicroseconds { get; init; }

    /// <summary>
    /// The lateness of those that were due while a connection was free: what the client itself took to begin. Null in a closed loop.
    /// </summary>
    public LatencySummary? ClientLatenessMicroseconds { get; init; }

    /// <summary>A rate was set, so response time is what counts.</summary>
    [JsonIgnore]
    public bool HasRate => ResponseMicroseconds is not null;

    /// <summary>The latency that is judged, drawn and asserted: response time where a rate was set, service time otherwise.</summary>
    [JsonIgnore]
    public LatencySummary ReportedMicroseconds => ResponseMicroseconds ?? LatencyMicroseconds;

    public PlanSummary? Plan { get; init; }

    /// <summary>
    /// How the plan changed its rate, or its threads, from the start of the warm-up on; null where it left both as they were, and in runs
    /// of earlier versions.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyList<CoursePiece>? Course { get; init; }

    /// <summary>The server removes documents by itself, so that nobody knows how many of the unacknowledged ones arrived.</summary>
    public bool IsArrivalUnknown { get; init; }

    /// <summary>Documents written again after failures or losses, acknowledged, until the range was whole.</summary>
    public long Repaired { get; init; }

    /// <summary>Returned documents compared with what was written, and how many differed.</summary>
    public long Verified { get; init; }
    public long Wrong { get; init; }

    /// <summary>Scheduled = succeeded + failed + skipped, warm-up included.</summary>
    public required Accounting Accounting { get; init; }

    /// <summary>How many of the succeeded operations each server handled, the busiest first; empty where that is not known.</summary>
    public IReadOnlyList<MemberShare> Members { get; init; } = [];

    /// <summary>What each client did of it in a merged run, in the clients' order; otherwise empty.</summary>
    public IReadOnlyList<ClientResult> Clients { get; init; } = [];

    /// <summary>Of an operation that a file makes of steps: what was measured of each, in their order; otherwise empty.</summary>
    public IReadOnlyList<StepResult> Steps { get; init; } = [];

    /// <summary>What became of its transactions, in the measured part; null where it has none.</summary>
    public TransactionResult? Transactions { get; init; }

    /// <summary>Of an operation that watches a collection: whose events came, and which did not; null for any other.</summary>
    public ChangeResult? Changes { get; init; }

    /// <summary>Of a recorded operation: how its replies compare with the recorded ones; null for any other.</summary>
    public ReplayResult? Replay { get; init; }

    /// <summary>It is no operation, but what it took the operations of its group to have a connection; null for an operation.</summary>
    public ConnectionResult? Connections { get; init; }

    /// <summary>
    /// Its phase did it: what a watcher counts are the writes of others, and what it takes to have a connection is part of what operations
    /// take.
    /// </summary>
    [JsonIgnore]
    public bool IsDone => Changes is null && Connections is null;

    /// <summary>The errors by code, with the first message of each; warm-up included.</summary>
    public IReadOnlyList<ErrorCount> Errors { get; init; } = [];
}

/// <summary>How the threads of a group came by connections: what is counted beside it are waits for one, or openings.</summary>
/// <param name="Kind">How.</param>
/// <param name="Count">Connections of a pool or a storm, of all clients together; 0 for others.</param>
public sealed record ConnectionResult(ConnectionKind Kind, int Count)
{
    /// <summary>What each time came to when all were opened; empty unless they are opened at the same moment.</summary>
    public IReadOnlyList<StormResult> Storms { get; init; } = [];

    /// <summary>Those of several clients.</summary>
    /// <returns>Null when there are none.</returns>
    public static ConnectionResult? Sum(IEnumerable<ConnectionResult?> all) =>
        all.OfType<ConnectionResult>().ToArray() is [var first, ..] some ? new ConnectionResult(first.Kind, some.Sum(one => one.Count))
        {
            Storms = [.. some.SelectMany(one => one.Storms.Index()).GroupBy(storm => storm.Index).OrderBy(storm => storm.Key)
                .Select(storm => storm.Select(one => one.Item).ToArray()).Select(same => new StormResult(same.Min(one => one.AtSeconds),
                    same.Sum(one => one.Connections), same.Sum(one => one.Usable))
                {
                    Seconds = same.All(one => one.Seconds is not null) ? same.Max(one => one.Seconds) : null,
                })],
        }
        : null;
}

/// <summary>Connections that were opened at the same moment.</summary>
/// <param name="AtSeconds">When that began, from the group's start: 0, and when connections were lost.</param>
/// <param name="Connections">How many.</param>
/// <param name="Usable">How many of them were open and logged in when all were, or when the next time began, or the phase ended.</param>
public sealed record StormResult(double AtSeconds, int Connections, int Usable)
{
    /// <summary>How long it took until the last of them was; null when not all came to be.</summary>
    public double? Seconds { get; init; }
}

/// <summary>What was measured of one step of an operation.</summary>
/// <param name="Step">Its name; of a transaction also commit and abort.</param>
/// <param name="Operations">How often it succeeded: with <c>each</c> several times in an operation, with <c>if</c> maybe never.</param>
/// <param name="Failed">How often it failed.</param>
/// <param name="LatencyMicroseconds">From its command to its reply.</param>
public sealed record StepResult(string Step, long Operations, long Failed, LatencySummary LatencyMicroseconds)
{
    /// <inheritdoc cref="OperationResult.Effect"/>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public EffectResult? Effect { get; init; }

    /// <summary>No name has a control character.</summary>
    private const char Separator = '\t';

    /// <summary>Under which its samples and histograms are stored.</summary>
    public static string KeyOf(string operation, string step) => $"{operation}{Separator}{step}";

    /// <summary>Whether this is the key of a step, and of no operation.</summary>
    public static bool IsKey(string operation) => operation.Contains(Separator, StringComparison.Ordinal);

    /// <summary>The operation and the step of a key.</summary>
    public static (string Operation, string Step) Parse(string key) =>
        (key[..key.IndexOf(Separator, StringComparison.Ordinal)], key[(key.IndexOf(Separator, StringComparison.Ordinal) + 1)..]);
}

/// <summary>What became of transactions.</summary>
/// <param name="Committed">The server said so.</param>
/// <param name="Aborted">Attempts of which the server keeps nothing.</param>
/// <param name="Retried">Attempts among them that were made again: write conflicts, and other errors that pass.</param>
/// <param name="CommitRetried">Commits that were sent again, because it was open whether there was one.</param>
/// <param name="Unknown">Nobody knows whether the server committed them.</param>
/// <param name="RetrySeconds">Of all threads together, in attempts that were made again and in the pauses between attempts.</param>
public sealed record TransactionResult(long Committed, long Aborted, long Retried, long CommitRetried, long Unknown, double RetrySeconds)
{
    /// <summary>Those that a step of theirs ended on purpose: the server keeps nothing of them, and they count as done.</summary>
    public long RolledBack { get; init; }

    /// <summary>
    /// Of all threads together, from the beginning of each transaction to its end, attempts that were made again and pauses included; null
    /// in runs of earlier versions.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public double? Seconds { get; init; }

    /// <summary>Those of several clients, or of several results.</summary>
    /// <returns>Null when there are none.</returns>
    public static TransactionResult? Sum(IEnumerable<TransactionResult?> all) =>
        all.OfType<TransactionResult>().ToArray() is { Length: > 0 } some
            ? new TransactionResult(some.Sum(one => one.Committed), some.Sum(one => one.Aborted), some.Sum(one => one.Retried),
                some.Sum(one => one.CommitRetried), some.Sum(one => one.Unknown), some.Sum(one => one.RetrySeconds))
            {
                RolledBack = some.Sum(one => one.RolledBack),
                Seconds = some.Any(one => one.Seconds is null) ? null : some.Sum(one => one.Seconds),
            }
            : null;
}

/// <summary>What watchers of a collection saw, each of them by itself and added up; warm-up included.</summary>
/// <param name="Followed">Events of acknowledged writes of the phase: those whose delay is known.</param>
/// <param name="Others">Events of writes that have no number, were not acknowledged, or are somebody else's.</param>
/// <param name="Missing">Acknowledged writes whose events had not come when the server had nothing more to tell.</param>
/// <param name="Duplicated">Events that came again.</param>
/// <param name="Misordered">Events of a writer that came behind the event of a later write of the same writer.</param>
/// <param name="Resumed">How often a stream was opened again where it had broken off.</param>
/// <param name="Unsettled">Acknowledged writes whose events had not come when the server was lost at the end, or when the stream had not
/// come to the time of the last write.</param>
public sealed record ChangeResult(
    long Followed, long Others, long Missing, long Duplicated, long Misordered, long Resumed, long Unsettled)
{
    /// <summary>Not every acknowledged write came once, in its order.</summary>
    [JsonIgnore]
    public bool HasFault => Missing + Duplicated + Misordered > 0;

    /// <summary>Those of several results.</summary>
    /// <returns>Null when there are none.</returns>
    public static ChangeResult? Sum(IEnumerable<ChangeResult?> all) => all.OfType<ChangeResult>().ToArray() is { Length: > 0 } some
        ? new ChangeResult(some.Sum(one => one.Followed), some.Sum(one => one.Others), some.Sum(one => one.Missing),
            some.Sum(one => one.Duplicated), some.Sum(one => one.Misordered), some.Sum(one => one.Resumed), some.Sum(one => one.Unsettled))
        : null;
}

/// <summary>Replies beside the recorded ones of the same requests; one that differs counts once: error before count before size.</summary>
/// <param name="Compared">Requests with both replies.</param>
/// <param name="Codes">Replies with another error, or with one in place of none.</param>
/// <param name="Counts">Replies with another number of documents.</param>
/// <param name="Sizes">Replies whose documents have other bytes in all.</param>
public sealed record ReplayResult(long Compared, long Codes, long Counts, long Sizes)
{
    /// <summary>Updates that met as many documents and changed another number of them.</summary>
    public long Modified { get; init; }

    /// <summary>Replies with as many documents and bytes, but other content; times and generated values differ each time.</summary>
    public long Contents { get; init; }

    /// <summary>How long the recorded replies took; null where nothing was compared.</summary>
    public LatencySummary? RecordedMicroseconds { get; init; }

    /// <summary>The error codes of the first reply with another one; 0 for none.</summary>
    public ReplayPair? FirstCode { get; init; }

    /// <summary>The documents of the first reply with another number.</summary>
    public ReplayPair? FirstCount { get; init; }

    /// <summary>The documents that the first update of <see cref="Modified"/> changed.</summary>
    public ReplayPair? FirstModified { get; init; }

    /// <summary>The bytes of the first reply with another size.</summary>
    public ReplayPair? FirstSize { get; init; }

    [JsonIgnore]
    public long Different => Codes + Counts + Modified + Sizes;

    /// <summary>Under which the histogram of <see cref="RecordedMicroseconds"/> is stored.</summary>
    public static string KeyOf(string operation) => StepResult.KeyOf(operation, "recorded");

    /// <summary>Those of several clients.</summary>
    /// <param name="all">One of each.</param>
    /// <param name="recorded">Of their histograms together.</param>
    /// <returns>Null when there are none.</returns>
    public static ReplayResult? Sum(IEnumerable<ReplayResult?> all, LatencySummary recorded) =>
        all.OfType<ReplayResult>().ToArray() is not { Length: > 0 } some ? null
        : new ReplayResult(
            some.Sum(one => one.Compared), some.Sum(one => one.Codes), some.Sum(one => one.Counts), some.Sum(one => one.Sizes))
        {
            Modified = some.Sum(one => one.Modified),
            Contents = some.Sum(one => one.Contents),
            RecordedMicroseconds = recorded.Max is null ? null : recorded,
            FirstCode = some.Select(one => one.FirstCode).FirstOrDefault(first => first is not null),
            FirstCount = some.Select(one => one.FirstCount).FirstOrDefault(first => first is not null),
            FirstModified = some.Select(one => one.FirstModified).FirstOrDefault(first => first is not null),
            FirstSize = some.Select(one => one.FirstSize).FirstOrDefault(first => first is not null),
        };
}

/// <param name="Recorded">Then.</param>
/// <param name="Replayed">Now.</param>
public sealed record ReplayPair(long Recorded, long Replayed);

/// <summary>Succeeded operations of the measured part whose replies say that they came to nothing.</summary>
/// <param name="FoundNothing">Reads that brought, or counted, no document; null where no reply tells.</param>
/// <param name="MatchedNothing">
/// Updates, deletes and findAndModifies whose filters no document met; null where no reply tells, as of upserts.
/// </param>
/// <param name="ChangedNothing">Updates that left the documents that they matched as they were; null where no reply tells.</param>
public sealed record EffectResult(long? FoundNothing = null, long? MatchedNothing = null, long? ChangedNothing = null)
{
    /// <summary>Documents that updates changed; null where no reply tells, and in runs of earlier versions.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public long? Modified { get; init; }

    /// <summary>Those of several clients.</summary>
    /// <returns>Null when there are none.</returns>
    public static EffectResult? Sum(IEnumerable<EffectResult?> all) => all.OfType<EffectResult>().ToArray() is { Length: > 0 } some
        ? new EffectResult(Sum(some.Select(one => one.FoundNothing)), Sum(some.Select(one => one.MatchedNothing)),
            Sum(some.Select(one => one.ChangedNothing)))
        {
            Modified = Sum(some.Select(one => one.Modified)),
        }
        : null;

    private static long? Sum(IEnumerable<long?> all) => all.Any(one => one is null) ? null : all.Sum();
}

/// <summary>What one server did of an operation.</summary>
/// <param name="Member">host:port, as connections are opened; behind a load balancer with the mongos that answered.</param>
/// <param name="Operations">Succeeded, in the measured part; of unacknowledged ones those sent.</param>
public sealed record MemberShare(string Member, long Operations);

/// <summary>Scheduled = Succeeded + Failed + Skipped, always.</summary>
/// <remarks>
/// An acknowledged operation succeeded when the server says so; an unacknowledged one, a sent operation, succeeded when the socket took it.
/// What was lost after that is in <see cref="UnacknowledgedResult"/> and stays succeeded here. Skipped is what was scheduled and not
/// started: the rest of a count, or arrivals of a rate that found no time in their window.
/// </remarks>
public sealed record Accounting(long Scheduled, long Succeeded, long Failed, long Skipped)
{
    public static Accounting None { get; } = new(0, 0, 0, 0);

    public Accounting Plus(Accounting other) => new(
        Scheduled + other.Scheduled, Succeeded + other.Succeeded, Failed + other.Failed, Skipped + other.Skipped);
}

/// <summary>Test 8: sizes as the server reports them, bytes.</summary>
public sealed record SizeResult
{
    /// <summary>Its name, where a run has several; null for the run's own.</summary>
    public string? Collection { get; init; }

    public required long Documents { get; init; }

    /// <summary>Uncompressed BSON.</summary>
    public required long DataBytes { get; init; }

    /// <summary>The collection's files, free blocks included.</summary>
    public required long StorageBytes { get; init; }

    /// <summary>Free blocks inside the files; null when the server does not say.</summary>
    public long? FreeStorageBytes { get; init; }
    public required long IndexBytes { get; init; }
    public required IReadOnlyDictionary<string, long> Indexes { get; init; }

    /// <summary>
    /// Bytes in the file of each index that the server's last checkpoint uses. The rest is free: each checkpoint writes what has changed to
    /// other blocks, so random writes leave up to half of a file free. Null when the server does not say.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyDictionary<string, long>? UsedIndexBytes { get; init; }

    /// <summary>Of a time series: the buckets in which its measurements are stored; null for other collections.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public long? Buckets { get; init; }

    /// <summary>Bytes under the server's data folder, journal included; null when it is not on this machine.</summary>
    public long? DiskBytes { get; init; }

    /// <summary>
    /// Those among <see cref="DiskBytes"/> that are the journal's, which does not grow with the documents; null where they
    /// can't be told apart.
    /// </summary>
    public long? JournalBytes { get; init; }
    public IReadOnlyList<ShardSize> Shards { get; init; } = [];

    /// <summary>
    /// The sizes of the files are those of the server's last checkpoint, up to a minute before: none was taken.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool AreOfCheckpoint { get; init; }
}

/// <summary>What a server's data folder holds.</summary>
/// <param name="Bytes">The bytes of all of it.</param>
/// <param name="JournalBytes">Those of these bytes that lie in the folder of mongod's journal; null without one.</param>
public readonly record struct DiskUse(long Bytes, long? JournalBytes);

/// <summary>One shard's part of the sizes, bytes.</summary>
/// <param name="Shard">Its name.</param>
/// <param name="Documents">The documents without orphans, as the shard counts them.</param>
/// <param name="DataBytes">Uncompressed BSON, orphans included.</param>
/// <param name="StorageBytes">The collection's files there.</param>
/// <param name="IndexBytes">All indexes.</param>
/// <param name="Chunks">The chunks that it owns.</param>
public sealed record ShardSize(string Shard, long Documents, long DataBytes, long StorageBytes, long IndexBytes, long Chunks)
{
    /// <summary>Documents that have moved away and are not deleted yet; null when the server does not say (before 6.0).</summary>
    public long? Orphans { get; init; }

    /// <summary>Bytes of each index.</summary>
    public IReadOnlyDictionary<string, long> Indexes { get; init; } = new Dictionary<string, long>();
}

/// <summary>Failures of one kind over the whole run.</summary>
public sealed record ErrorCount(int Code, string Name, long Count, string FirstMessage, IReadOnlyList<string> Labels)
{
    /// <summary>The server answered without an error, but a write that must change a document changed none.</summary>
    public const string NothingChanged = "NothingChanged";

    /// <summary>The server answered without an error, but a write inserted the document that it must find.</summary>
    public const string UnexpectedUpsert = "UnexpectedUpsert";

    /// <summary>A step asked for a value that no earlier step had brought: nothing was sent.</summary>
    public const string NoValue = "NoValue";

    /// <summary>The server answered without an error, and the write did not do what it must.</summary>
    public static bool IsWrongEffect(int code, string name) => code == 0 && name is NothingChanged or UnexpectedUpsert;

    /// <summary>
    /// The microseconds from when the slowest of these operations began (with a rate: from when it was due) to its failure; null where that
    /// was not noted.
    /// </summary>
    public double? SlowestMicroseconds { get; init; }
}

/// <summary>Something that happened at a time, such as "reconnect", "outage", "restart", "repair", "resumed", "stopped".</summary>
public sealed record RunEvent(long AtMilliseconds, string Kind, string Text, double? Seconds = null)
{
    /// <summary>The kind that says that operations found no server, or one of its parts was away: its seconds are how long.</summary>
    public const string Outage = "outage";

    /// <summary>
    /// The kinds that say that a phase measured until its percentile was known well enough, and that its time was over before.
    /// </summary>
    public const string UntilReached = "until";

    /// <inheritdoc cref="UntilReached"/>
    public const string UntilMissed = "until missed";

    /// <summary>The kind that says that a phase of a scenario begins.</summary>
    public const string Phase = "phase";

    /// <summary>The data were looked at between phases, and are as they must be.</summary>
    public const string Checked = "checked";

    /// <summary>
    /// The kinds that say that a phase began on a server which had just been started again; cold: the system had forgotten its files.
    /// </summary>
    public const string WarmStart = "warm start";

    /// <inheritdoc cref="WarmStart"/>
    public const string ColdStart = "cold start";

    /// <summary>
    /// The kinds of a server's end on purpose, to see how it comes back: its seconds are how long the end took. A
    /// <see cref="FirstAnswer"/> follows.
    /// </summary>
    public const string CleanStop = "clean stop";

    /// <inheritdoc cref="CleanStop"/>
    public const string Kill = "kill -9";

    /// <summary>The kind that says that such a server has answered again: its seconds are those since it was started.</summary>
    public const string FirstAnswer = "first answer";

    /// <summary>The kind that says that a collection got another shard key: its seconds are how long that took.</summary>
    public const string Resharding = "resharding";

    /// <summary>The kind that says that the config server was away: its seconds are how long.</summary>
    public const string ConfigServer = "config server";

    /// <summary>The kind that says that the run was interrupted before, and continues.</summary>
    public const string Resumed = "resumed";

    /// <summary>When what it tells of began, as its seconds say.</summary>
    [JsonIgnore]
    public long StartMilliseconds =>
        AtMilliseconds - (long)(Math.Clamp(Seconds ?? 0, 0, TimeSpan.FromDays(365).TotalSeconds) * 1000);
}

/// <summary>One second (or the rest of one) of one operation of a phase, all threads together.</summary>
public sealed record Sample
{
    /// <summary>Unix time in milliseconds at the sample's end.</summary>
    public required long AtMilliseconds { get; init; }

    /// <summary>Number of the phase record.</summary>
    public required int Phase { get; init; }

    /// <summary>The operation's name.</summary>
    public required string Operation { get; init; }
    public required bool IsWarmup { get; init; }

    /// <summary>True when the connection was down in part of it.</summary>
    public bool HasOutage { get; init; }
    public required double Seconds { get; init; }
    public required long Operations { get; init; }
    public required long Documents { get; init; }
    public required long Bytes { get; init; }
    public required long Failed { get; init; }

    /// <summary>How many documents the collection has at the sample's end, as far as the client knows.</summary>
    public required long CollectionDocuments { get; init; }

    /// <inheritdoc cref="OperationResult.LatencyMicroseconds"/>
    public required LatencySummary LatencyMicroseconds { get; init; }

    /// <inheritdoc cref="OperationResult.ResponseMicroseconds"/>
    public LatencySummary? ResponseMicroseconds { get; init; }

    /// <inheritdoc cref="OperationResult.LatenessMicroseconds"/>
    public LatencySummary? LatenessMicroseconds { get; init; }

    /// <summary>
    /// Of all operations of its group in the same second, so that no report need add up their histograms; on one of the group's samples.
    /// Null on the others, where a group has one operation, and in runs of earlier versions or of several clients.
    /// </summary>
    public GroupLatency? OfGroup { get; init; }

    /// <summary>HdrHistogram V2 compressed encoding of the second's service times (nanoseconds); empty when nothing was recorded.</summary>
    public ReadOnlyMemory<byte> Histogram { get; init; }

    /// <summary>The same of response times; empty in a closed loop too.</summary>
    public ReadOnlyMemory<byte> ResponseHistogram { get; init; }

    /// <summary>The same of lateness; empty in a closed loop too.</summary>
    public ReadOnlyMemory<byte> LatenessHistogram { get; init; }

    /// <summary>Unix time at the sample's beginning.</summary>
    public long StartMilliseconds => AtMilliseconds - (long)(Seconds * 1000);

    /// <inheritdoc cref="OperationResult.HasRate"/>
    public bool HasRate => ResponseMicroseconds is not null;

    /// <inheritdoc cref="OperationResult.ReportedMicroseconds"/>
    public LatencySummary ReportedMicroseconds => ResponseMicroseconds ?? LatencyMicroseconds;

    /// <summary>Histogram of <see cref="ReportedMicroseconds"/>.</summary>
    public ReadOnlyMemory<byte> ReportedHistogram => HasRate ? ResponseHistogram : Histogram;
}

/// <summary>Latencies of several operations together: of <see cref="Sample.ReportedMicroseconds"/>, in microseconds, not rounded.</summary>
/// <param name="P50">The median.</param>
/// <param name="P99">The 99th percentile.</param>
/// <param name="Max">The slowest.</param>
public readonly record struct GroupLatency(double P50, double P99, double Max)
{
    /// <returns>Null where nothing was recorded.</returns>
    public static GroupLatency? Of(LatencyHistogram histogram) => histogram.ValuesAtPercentiles(50, 99) is [var p50, var p99]
        ? new GroupLatency(p50, p99, histogram.Maximum!.Value) : null;
}

/// <summary>Values of the metrics of <see cref="MetricCatalogue"/> at one time; NaN where there is none.</summary>
/// <param name="AtMilliseconds">Unix time.</param>
/// <param name="Member">Which server process (host:port), or "client".</param>
/// <param name="Values">The values in the order of the catalogue, or of the requested metrics.</param>
public sealed record MetricSample(long AtMilliseconds, string Member, double[] Values);

/// <summary>A durable point of a growth: everything up to here is stored, here and on the server.</summary>
/// <param name="Phase">Number of the last phase record of the step.</param>
/// <param name="Documents">How many documents the collection has.</param>
/// <param name="AtMilliseconds">Unix time.</param>
public sealed record Checkpoint(int Phase, long Documents, long AtMilliseconds);
