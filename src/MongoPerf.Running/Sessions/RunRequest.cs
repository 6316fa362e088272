using MongoPerf.Deployments;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Live;
using MongoPerf.Running.Progress;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>What a command asks for: one plan on one deployment.</summary>
public sealed record RunRequest
{
    /// <summary>The settings as they are stored with the run.</summary>
    public required RunSettings Settings { get; init; }

    /// <summary>Read from the file with this seed, as it is on this deployment.</summary>
    public required ReadPlan Plan { get; init; }

    /// <summary>Reads the plan anew for documents that were made with another seed.</summary>
    public required Func<ulong, ReadPlan> ReadPlan { get; init; }

    public required ulong Seed { get; init; }

    /// <summary>The seed was named, so that a collection made with another one is refused.</summary>
    public bool SeedWasGiven { get; init; }

    /// <summary>The database was named, or is that of a resumed run.</summary>
    public bool DatabaseWasGiven { get; init; }

    /// <summary>The command line as typed, secrets masked.</summary>
    public required string CommandLine { get; init; }

    /// <summary>Carries the operations out; null for MongoPerf's own client. <see cref="RequestedEngine"/> puts it in.</summary>
    public IClientEngine? Engine { get; init; }

    /// <summary>The connection string with its secrets; never stored.</summary>
    public string? Uri { get; init; }

    /// <summary>The system that the run puts load on.</summary>
    public DatabaseSystem System => DatabaseSystems.Of(Uri);

    /// <summary>Holds the password of the connection string's user; null for none.</summary>
    public string? PasswordFile { get; init; }

    /// <summary>Who reads the shards' state directly; null for the connection string's user.</summary>
    public ShardLogin? ShardLogin { get; init; }

    /// <summary>The kind of server that a resumed run began with; null chooses one.</summary>
    public DeploymentKind? RequiredKind { get; init; }

    /// <summary>
    /// Whether the run starts a server of its own that keeps data, rather than using one that is there or one that stores nothing.
    /// </summary>
    public bool StartsServer => RequiredKind is { } kind
        ? kind is DeploymentKind.Mongod or DeploymentKind.ReplicaSet or DeploymentKind.Sharded or DeploymentKind.Embedded
        : Uri is null && Settings.Deployment is { Topology: not Topology.Null, ClusterFolder: null };

    /// <summary>Full path of the mongod that a resumed run began with; null when another was named, or it is not known.</summary>
    public string? ServerProgram { get; init; }

    /// <summary>Which repeat of a run it is; null when it is not repeated.</summary>
    public RepeatRequest? Repeat { get; init; }

    /// <summary>Which try of a search for the highest rate it is, 1-based; null for any other run.</summary>
    public int? Try { get; init; }

    /// <summary>The place among the runs of its command.</summary>
    public RunPlace Place { get; init; } = new(1, 1);

    /// <summary>Ids of the runs that the same command made before: a growth begins anew on a collection of theirs.</summary>
    public IReadOnlyList<string> Predecessors { get; init; } = [];

    /// <summary>"database.collection" that may be dropped; null for none.</summary>
    public string? ForceDrop { get; init; }

    /// <summary>
    /// What may be written although the run does not create it, confirmed by whoever runs it; never taken from anything stored.
    /// </summary>
    public IReadOnlyList<string> MayWrite { get; init; } = [];

    /// <summary>What a replay can write: allowed in databases that are empty, and where <see cref="MayWrite"/> confirms it.</summary>
    public IReadOnlyList<WriteTarget> ReplayedWrites { get; init; } = [];

    /// <summary>
    /// The collections that the recording reads or changes before it has made them, by database, as the target calls them.
    /// </summary>
    public ILookup<string, string>? ReplayedCollections { get; init; }

    /// <summary>Where the scenario finds files; never taken from anything stored.</summary>
    public FilesFolder Files { get; init; } = FilesFolder.None;

    /// <summary>The server that several runs of one command use; null for a run with a server of its own, or one that was given.</summary>
    public KeptServer? Server { get; init; }

    /// <summary>The run is one of several agents'; null for one that does all of its plan.</summary>
    public IAgentRole? Agent { get; init; }

    public required OutputRequest Output { get; init; }

    /// <summary>
    /// Serves the page of the run and sends its metrics; null without <c>--live</c> and <c>--otlp</c>. The runs of a command share it.
    /// </summary>
    public LiveChild? Live { get; init; }

    /// <summary>What a reader must know of settings that nobody typed; null for nothing.</summary>
    public StoredMessage? Note => Settings.Plan.Note;

    /// <summary>What is stored of the run beside its settings.</summary>
    /// <param name="id">Its id.</param>
    public RunInfo Describe(string id) => new()
    {
        Id = id,
        Seed = Seed,
        Version = ThisBuild.Version,
        BuildKind = ThisBuild.Kind,
        CommandLine = CommandLine,
        StartedAt = DateTimeOffset.UtcNow,
        Part = Agent?.Part,
        Try = Try,
        Repeat = Repeat is { } repeat ? new RepeatOf(repeat.Group ?? id, repeat.Number, repeat.Count) : null,
    };

    /// <summary>The same requests of one command, which share whoever watches them where their output asks for it.</summary>
    /// <exception cref="UserException">Its port is in use.</exception>
    public static IReadOnlyList<RunRequest> WithLive(IReadOnlyList<RunRequest> requests)
    {
        OutputRequest output = requests[0].Output;
        if (output is { LivePort: null, MetricsReceiver: null })
            return requests;
        var live = new LiveChild(output.LivePort, output.MetricsReceiver);
        return [.. requests.Select(request => request with { Live = live })];
    }
}

/// <summary>A server that the first of several runs starts in its folder and the others find running.</summary>
public sealed class KeptServer : IDisposable
{
    /// <summary>Null until a run has begun on it: one that was refused before takes its server with it.</summary>
    public IDeployment? Deployment { get; set; }

    public void Dispose()
    {
        Deployment?.Dispose();
        Deployment = null;
    }
}

/// <param name="Group">Id of the first of the repeats; null for that first one.</param>
/// <param name="Number">1-based.</param>
/// <param name="Count">How many there are.</param>
public sealed record RepeatRequest(string? Group, int Number, int Count);
