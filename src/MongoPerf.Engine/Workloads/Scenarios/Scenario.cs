using MongoPerf.Engine.Documents.GridFs;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Templates;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Workloads.Scenarios;

/// <summary>A scenario file, checked and with its parameters put in: nothing in it is left to be decided.</summary>
/// <param name="Name">Such as ycsb/a.</param>
/// <param name="Description">A sentence for people; may be empty.</param>
/// <param name="Rounds">One for each combination of parameters that the data depend on; data are loaded anew in each.</param>
public sealed record Scenario(string Name, string Description, IReadOnlyList<ScenarioRound> Rounds);

/// <summary>Data, and phases on them.</summary>
public sealed record ScenarioRound(IReadOnlyList<ScenarioCollection> Collections, IReadOnlyList<ScenarioPhase> Phases)
{
    /// <summary>For a deployment without shards: what only sets the balancer is left out, and a phase in which nothing with a limit is left.</summary>
    public ScenarioRound WithoutBalancer() => this with
    {
        Phases = [.. Phases.Select(phase => phase.WithoutBalancer()).Where(phase => phase.Groups.Any(group => group.IsLimited || phase.Loads is not null))],
    };
}

/// <summary>A collection that a scenario makes, or a GridFS bucket, which is two.</summary>
public sealed record ScenarioCollection
{
    public required string Name { get; init; }

    /// <summary>Documents that loading puts in; 0 or more.</summary>
    public required long Count { get; init; }

    /// <summary>Of a bucket: the documents of its files.</summary>
    public required DocumentTemplate Documents { get; init; }

    /// <summary>The files that a bucket of this name holds; null for a collection of documents.</summary>
    public GridFsFileSet? Files { get; init; }

    /// <summary>As createIndexes takes them, with key and name; there before the first document.</summary>
    public IReadOnlyList<BsonDocument> Indexes { get; init; } = [];

    /// <summary>Such as {_id: "hashed"}; used on a sharded deployment.</summary>
    public BsonDocument? ShardKey { get; init; }

    /// <summary>The only shard that holds it, from 1, in the order of the shards' names; null spreads it. Used on a sharded deployment.</summary>
    public int? Shard { get; init; }

    /// <summary>Of the command create; null for none.</summary>
    public BsonDocument? Options { get; init; }

    /// <summary>The first document's, or a file's.</summary>
    public long BytesPerDocument => Files?.Length ?? Documents.Make(0).Bytes.Length;

    /// <summary>What the server has of it: one collection, or a bucket's chunks and files.</summary>
    /// <remarks>Chunks are sharded by their file, as the manual advises: a unique index has to begin with the shard key.</remarks>
    public IReadOnlyList<StoredCollection> Stored => Files is null
        ? [new StoredCollection(Name, Count, Indexes, ShardKey, Shard, Options)]
        :
        [
            new StoredCollection(Files.Bucket.Chunks, Count * Files.ChunkCount, [GridFsBucket.ChunksIndex], BsonDocument.Of(("files_id", 1)), Shard, null),
            new StoredCollection(Files.Bucket.Files, Count, [GridFsBucket.FilesIndex], null, Shard, null),
        ];
}

/// <summary>A collection as a server is told to make it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Count">Documents that loading puts in.</param>
/// <param name="Indexes">As createIndexes takes them.</param>
/// <param name="ShardKey">Null for the usual one.</param>
/// <param name="Shard">As of <see cref="ScenarioCollection"/>.</param>
/// <param name="Options">Of the command create; null for none.</param>
public sealed record StoredCollection(string Name, long Count, IReadOnlyList<BsonDocument> Indexes, BsonDocument? ShardKey, int? Shard, BsonDocument? Options);

/// <summary>What is done for a time or a count, by one group of threads, or by several at once.</summary>
public sealed record ScenarioPhase
{
    public required string Name { get; init; }

    /// <summary>The collection that the phase makes anew, empty and with its indexes; null for any other phase.</summary>
    public string? Creates { get; init; }

    /// <summary>The collection that the phase loads; null for a phase that measures operations.</summary>
    public string? Loads { get; init; }

    /// <summary>Of a load: each thread writes an unbroken range of the documents.</summary>
    public bool HasRanges { get; init; }

    /// <summary>Each thread notes when it has done so many: documents of a load, operations of any other phase. Null notes nothing.</summary>
    public long? Lap { get; init; }

    public ServerRestart Restart { get; init; }

    public required IReadOnlyList<PhaseGroup> Groups { get; init; }

    /// <summary>Before it begins.</summary>
    public double PauseSeconds { get; init; }

    /// <summary>Of the parameters that have several values: this phase's, in the file's order.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Parameters { get; init; } = [];

    public IReadOnlyList<Assertion> Assertions { get; init; } = [];

    /// <summary>Sizes of the first collection are taken when it is over.</summary>
    public bool TakesSizes { get; init; }

    internal ScenarioPhase WithoutBalancer() => this with
    {
        Groups = [.. Groups.Select(group => group with { Operations = [.. group.Operations.Where(o => o.Operation is not SetBalancer)] }).Where(group => group.Operations.Count > 0)],
    };
}

/// <summary>What becomes of the run's own server before a phase begins.</summary>
public enum ServerRestart
{
    None,

    /// <summary>Stopped cleanly and started again: its own cache is empty, the system still holds its files.</summary>
    Warm,

    /// <summary>The same, and meanwhile the system forgets the server's files: what is read comes from disk.</summary>
    Cold,
}

/// <summary>Threads that share a workload.</summary>
public sealed record PhaseGroup
{
    /// <summary>Empty when the phase has only this one.</summary>
    public string Name { get; init; } = "";

    public required int Threads { get; init; }

    public required IReadOnlyList<PhaseOperation> Operations { get; init; }

    /// <summary>Warm-up included; null has no limit of time.</summary>
    public double? Seconds { get; init; }

    public double WarmupSeconds { get; init; }

    /// <summary>Over all threads, warm-up included; null has no limit of number.</summary>
    public long? Count { get; init; }

    /// <summary>Operations per second over all threads; null is as fast as possible.</summary>
    public double? Rate { get; init; }

    /// <summary>How long after the phase's start this group's begins.</summary>
    public double AfterSeconds { get; init; }

    /// <summary>Ends by itself; a group without a limit ends with those that have one.</summary>
    public bool IsLimited => Seconds is not null || Count is not null;
}

/// <param name="Operation">Not bound to keys yet.</param>
/// <param name="Weight">Its share is this over the sum of all.</param>
/// <param name="Keys">Which documents it is about; null when it is about none.</param>
public sealed record PhaseOperation(CollectionOperation Operation, double Weight, KeyChoice? Keys);

/// <summary>What must be true of a phase's results, such as <c>read.p99 &lt; 10ms</c>.</summary>
/// <param name="Text">As it was written.</param>
/// <param name="Operation">Its name; "total" for all of the phase's.</param>
/// <param name="Metric">One of <see cref="Metrics"/>.</param>
/// <param name="Comparison">&lt;, &lt;=, &gt;, &gt;=, == or !=.</param>
/// <param name="Limit">Microseconds for latencies.</param>
public sealed record Assertion(string Text, string Operation, string Metric, string Comparison, double Limit)
{
    public const string Total = "total";

    public static IReadOnlyList<string> Latencies { get; } = ["min", "mean", "p50", "p90", "p95", "p99", "p999", "max"];

    /// <summary>rate is operations per second.</summary>
    public static IReadOnlyList<string> Metrics { get; } = [.. Latencies, "rate", "documentRate", "operations", "documents", "failed"];

    public static IReadOnlyList<string> Comparisons { get; } = ["<=", ">=", "==", "!=", "<", ">"];

    /// <returns>False also when there is no value.</returns>
    public bool Holds(double? value) => value is { } v && Comparison switch
    {
        "<" => v < Limit,
        "<=" => v <= Limit,
        ">" => v > Limit,
        ">=" => v >= Limit,
        "==" => v == Limit,
        _ => v != Limit,
    };
}
