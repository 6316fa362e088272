using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Keys;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Plans;

/// <summary>What a scenario file and the command line became: checked, with its parameters put in, nothing left to decide.</summary>
/// <param name="Name">The name, such as ycsb/a.</param>
/// <param name="Description">A sentence for people; may be empty.</param>
/// <param name="Rounds">One for each combination of parameters that the data depend on; data are loaded anew in each.</param>
public sealed record Plan(string Name, string Description, IReadOnlyList<PlanRound> Rounds)
{
    public IEnumerable<Phase> Phases => Rounds.SelectMany(round => round.Phases);

    /// <summary>The operations of all phases and groups, those of growths included.</summary>
    public IEnumerable<Operation> Operations =>
        Phases.SelectMany(phase => phase.AllGroups).SelectMany(group => group.Operations).Select(operation => operation.Operation);

    /// <summary>Each name once.</summary>
    public IEnumerable<PlanCollection> Collections =>
        Rounds.SelectMany(round => round.Collections).DistinctBy(collection => collection.Name);

    /// <summary>The collections were there before, and nothing is written: of a scenario all are, or none.</summary>
    public bool IsOnExistingData => Collections.Any(collection => collection.IsExisting);

    /// <summary>Documents in all collections together at the end, as far as the plan says.</summary>
    public long TargetDocuments => Rounds.Max(round => round.Collections.Sum(round.TargetOf));

    /// <summary>
    /// What a server calls the collection that the run is about: the largest that grows or, where none does, the largest; one on a shard of
    /// its own only where all are. Null without collections.
    /// </summary>
    public string? MainCollection => Rounds[0].Collections.OrderByDescending(c => c.IsGrown).ThenBy(c => c.Shard is not null)
        .ThenByDescending(c => Rounds[0].TargetOf(c) * (double)c.BytesPerDocument).FirstOrDefault()?.Stored[0].Name;

    /// <summary>Documents of one collection at the end, in the round that has most of it; 0 for a name that no collection has.</summary>
    public long TargetOf(string collection) =>
        Rounds.Max(round => round.Collections.Where(one => one.Name == collection).Select(round.TargetOf).DefaultIfEmpty().Max());

    /// <inheritdoc cref="PlanRound.WithoutBalancer"/>
    public Plan WithoutBalancer() => this with { Rounds = [.. Rounds.Select(round => round.WithoutBalancer())] };
}

/// <summary>Data, and phases on them.</summary>
public sealed record PlanRound(IReadOnlyList<PlanCollection> Collections, IReadOnlyList<Phase> Phases)
{
    /// <summary>The growth that takes a collection furthest; null when none does.</summary>
    public GrowthPlan? GrowthOf(PlanCollection collection) =>
        Phases.Select(phase => phase.Growth).OfType<GrowthPlan>()
            .Where(growth => growth.TargetOf(collection.Name) is not null).MaxBy(growth => growth.TargetOf(collection.Name));

    /// <summary>Documents of a collection at the end.</summary>
    public long TargetOf(PlanCollection collection) => Math.Max(collection.Count, GrowthOf(collection)?.TargetOf(collection.Name) ?? 0);

    /// <summary>
    /// The plan for a deployment without shards: what only sets the balancer is left out, and a phase in which nothing with a limit is
    /// left.
    /// </summary>
    public PlanRound WithoutBalancer() => this with
    {
        Phases = [.. Phases.Select(phase => phase.Groups.Count == 0 || phase.WithoutBalancer().CanEnd ? phase.WithoutBalancer() : null)
            .OfType<Phase>()],
    };
}

/// <summary>A collection of a plan, or a GridFS bucket, which is two.</summary>
public sealed record PlanCollection
{
    public required string Name { get; init; }

    /// <summary>Documents that loading puts in; 0 or more.</summary>
    public required long Count { get; init; }

    /// <summary>The documents of the collection; for a bucket the documents of its files.</summary>
    public required DocumentTemplate Documents { get; init; }

    /// <summary>The files that a bucket of this name holds; null for a collection of documents.</summary>
    public GridFsFileSet? Files { get; init; }

    /// <summary>The indexes as createIndexes takes them, with key and name; there before the first document.</summary>
    public IReadOnlyList<BsonDocument> Indexes { get; init; } = [];

    /// <summary>The shard key, such as {_id: "hashed"}; used on a sharded deployment.</summary>
    public BsonDocument? ShardKey { get; init; }

    /// <summary>
    /// The only shard that holds it, from 1, in the order of the shards' names; null spreads it. Used on a sharded deployment.
    /// </summary>
    public int? Shard { get; init; }

    /// <summary>Into how many chunks it is cut before it has documents, in place of <c>--presplit</c>; null for that.</summary>
    public int? Presplit { get; init; }

    /// <summary>The ranges of its shard key that have a shard of their own, in order; empty for none.</summary>
    public IReadOnlyList<ZoneRange> Zones { get; init; } = [];

    /// <summary>The options of the command create; null for none.</summary>
    public BsonDocument? Options { get; init; }

    /// <summary>A growth takes it to its size: where it exists it is continued.</summary>
    public bool IsGrown { get; init; }

    /// <summary>Somebody else's, and only read: what its documents are is not known.</summary>
    public bool IsExisting { get; init; }

    /// <summary>The server keeps the fields and values of its documents, but not their order, and has no index on _id.</summary>
    public bool IsTimeSeries => Options?.Find("timeseries") is not null;

    /// <summary>Why the server removes documents by itself, so that one which is gone says nothing; null where it keeps them all.</summary>
    public string? RemovedBecause =>
        Options?.IsTrue("capped") is true ? "it is capped"
        : Options?.Find("expireAfterSeconds") is not null ? "it has expireAfterSeconds"
        : Indexes.FirstOrDefault(index =>
            index.Find("expireAfterSeconds") is not null) is { } index ? $"its index {index.FindString("name")} has expireAfterSeconds"
        : null;

    /// <summary>The first document's, or a file's.</summary>
    public long BytesPerDocument => Files?.Length ?? Documents.Make(0).Bytes.Length;

    /// <summary>What the server has of it: one collection, or a bucket's chunks and files.</summary>
    /// <remarks>Chunks are sharded by their file, as the manual advises: a unique index has to begin with the shard key.</remarks>
    public IReadOnlyList<StoredCollection> Stored => Files is null
        ? [new StoredCollection(Name, Count, Indexes, ShardKey, Shard, Options, Documents)
        {
            IsExisting = IsExisting, Presplit = Presplit, Zones = Zones,
        }]
        :
        [
            new StoredCollection(Files.Bucket.Chunks, Count * Files.ChunkCount, [GridFsBucket.ChunksIndex],
                BsonDocument.Of(("files_id", 1)), Shard, null, null),
            new StoredCollection(Files.Bucket.Files, Count, [GridFsBucket.FilesIndex], null, Shard, null, null),
        ];
}

/// <summary>A collection as a server is told to make it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Count">Documents that loading puts in.</param>
/// <param name="Indexes">The indexes as createIndexes takes them.</param>
/// <param name="ShardKey">Null for the usual one.</param>
/// <param name="Shard">The shard that <see cref="PlanCollection"/> has.</param>
/// <param name="Options">The options of the command create; null for none.</param>
/// <param name="Documents">Makes its documents; null for those of GridFS.</param>
public sealed record StoredCollection(
    string Name, long Count, IReadOnlyList<BsonDocument> Indexes, BsonDocument? ShardKey, int? Shard, BsonDocument? Options,
    DocumentTemplate? Documents)
{
    /// <inheritdoc cref="PlanCollection.IsExisting"/>
    public bool IsExisting { get; init; }

    /// <inheritdoc cref="PlanCollection.Presplit"/>
    public int? Presplit { get; init; }

    /// <inheritdoc cref="PlanCollection.Zones"/>
    public IReadOnlyList<ZoneRange> Zones { get; init; } = [];
}

/// <summary>A range of a shard key that one shard holds.</summary>
/// <param name="Shard">From 1, in the order of the shards' names.</param>
/// <param name="From">Its lower bound, which belongs to it: values of the key's first fields; null begins below every value.</param>
/// <param name="To">Its upper bound, which does not belong to it; null ends above every value.</param>
public sealed record ZoneRange(int Shard, BsonDocument? From, BsonDocument? To);

/// <summary>What is done for a time or a count, by one group of threads, or by several at once.</summary>
public sealed record Phase
{
    public required string Name { get; init; }

    /// <summary>The description for people; may be empty.</summary>
    public string Description { get; init; } = "";

    /// <summary>The collection that the phase makes anew, empty and with its indexes; null for any other phase.</summary>
    public string? Creates { get; init; }

    /// <summary>The collection that the phase loads; null for a phase that measures operations.</summary>
    public string? Loads { get; init; }

    /// <summary>Takes collections to a target in steps, with phases of its own at each size; null for any other phase.</summary>
    public GrowthPlan? Growth { get; init; }

    /// <summary>The collection whose sizes are all that the phase takes; null for any other phase.</summary>
    public string? Measures { get; init; }

    /// <summary>The collection in which every document that was written must be found; null for any other phase.</summary>
    public string? Checks { get; init; }

    /// <summary>Aggregations that must find nothing; empty for any phase that does not check such conditions.</summary>
    public IReadOnlyList<AggregateDocuments> Conditions { get; init; } = [];

    /// <summary>For a load: each thread writes an unbroken range of the documents.</summary>
    public bool HasRanges { get; init; }

    /// <summary>
    /// Each thread notes when it has done so many: documents of a load, operations of any other phase. Null notes nothing.
    /// </summary>
    public long? Lap { get; init; }

    public ServerRestart Restart { get; init; }

    /// <summary>All that it does is about the cluster, such as its balancer.</summary>
    public bool IsForCluster =>
        Groups.Count > 0 && Groups.SelectMany(group => group.Operations).All(operation => operation.Operation.IsForCluster);

    public required IReadOnlyList<PhaseGroup> Groups { get; init; }

    /// <summary>Its own, or those of its growth: what writes, what is at work beside it, what runs at each size.</summary>
    public IEnumerable<PhaseGroup> AllGroups => Growth is null
        ? Groups
        : [.. Growth.Writes.SelectMany(write => write.Groups.Values), .. Growth.Beside, .. Growth.Each.SelectMany(phase => phase.Groups)];

    /// <summary>The seconds of the pause before it begins.</summary>
    public double PauseSeconds { get; init; }

    /// <summary>Of the parameters that have several values, those of this phase, in the file's order.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Parameters { get; init; } = [];

    public IReadOnlyList<Assertion> Assertions { get; init; } = [];

    /// <summary>The server explains its operations, and the plans are stored with the results.</summary>
    public bool ExplainsQueries { get; init; }

    /// <summary>Why what its reads return can't be compared with what was written; null when it can, or when nothing is read.</summary>
    public DocumentChange? NotVerified { get; init; }

    /// <summary>When it is over, the sizes are taken of the collections that it is about, or of the first where it is about none.</summary>
    public bool TakesSizes { get; init; }

    /// <summary>One of its groups ends by itself.</summary>
    internal bool CanEnd => Groups.Any(group => group.IsLimited || Loads is not null);

    internal Phase WithoutBalancer() => this with
    {
        Growth = Growth is null ? null : Growth with { Each = [.. Growth.Each.Select(phase => phase.WithoutBalancer())] },
        Groups = [.. Groups.Select(group => group with { Operations = [.. group.Operations.Where(o => o.Operation is not SetBalancer)] })
            .Where(group => group.Operations.Count > 0)],
    };
}

/// <summary>How collections grow: at each size what is missing is written, then the phases run.</summary>
public sealed record GrowthPlan
{
    /// <summary>How many documents of each collection belong to one of a size: mostly one collection, with 1.</summary>
    public required IReadOnlyList<GrowingCollection> Collections { get; init; }

    /// <summary>Increasing; the last is the target.</summary>
    public required IReadOnlyList<long> Sizes { get; init; }

    /// <summary>The writes in the order in which they write; each gets its share of what a step adds.</summary>
    public required IReadOnlyList<GrowthWrite> Writes { get; init; }

    /// <summary>Groups that are at work while documents are written, and end with that.</summary>
    public IReadOnlyList<PhaseGroup> Beside { get; init; } = [];

    /// <summary>What runs at each size.</summary>
    public required IReadOnlyList<Phase> Each { get; init; }

    public long Target => Sizes[^1];

    /// <summary>Documents of a collection at the last size; null for one that does not grow here.</summary>
    public long? TargetOf(string collection) => Target * Collections.FirstOrDefault(growing => growing.Name == collection)?.Factor;
}

/// <param name="Name">The name of the collection.</param>
/// <param name="Factor">Its documents for each of a size, 1 or more.</param>
public sealed record GrowingCollection(string Name, long Factor);

/// <summary>One way of writing.</summary>
/// <param name="Name">What it is called in results.</param>
/// <param name="Share">Its part of a step's documents: this over the sum of all.</param>
/// <param name="Groups">The threads by collection, and the insert that they do.</param>
/// <param name="IsMeasured">Its results are stored.</param>
public sealed record GrowthWrite(string Name, double Share, IReadOnlyDictionary<string, PhaseGroup> Groups, bool IsMeasured = true)
{
    /// <summary>The description for people; may be empty.</summary>
    public string Description { get; init; } = "";
}

/// <summary>What becomes of the run's own server before a phase begins.</summary>
public enum ServerRestart
{
    None,

    /// <summary>Stopped cleanly and started again: its own cache is empty, the system still holds its files.</summary>
    Warm,

    /// <summary>The same, and meanwhile the system forgets the server's files: what is read comes from disk.</summary>
    Cold,

    /// <summary>Killed (SIGKILL) and started again: what the journal holds is recovered.</summary>
    Kill,
}

/// <summary>Threads that share a workload.</summary>
public sealed record PhaseGroup
{
    /// <summary>Empty when the phase has only this one.</summary>
    public string Name { get; init; } = "";

    public required int Threads { get; init; }

    public required IReadOnlyList<WeightedOperation> Operations { get; init; }

    /// <summary>Warm-up included; null has no limit of time.</summary>
    public double? Seconds { get; init; }

    public double WarmupSeconds { get; init; }

    /// <summary>How many operations all threads do together, warm-up included; null has no limit of number.</summary>
    public long? Count { get; init; }

    /// <summary>When operations are due; null is as fast as possible.</summary>
    public RatePlan? Rate { get; init; }

    /// <summary>The pause between a reply and the next operation of the same thread; null for none. There is none with a rate.</summary>
    public ThinkTime? Think { get; init; }

    /// <summary>How many of the threads are at work from when on; empty for all of them throughout.</summary>
    public IReadOnlyList<ThreadStep> ThreadSteps { get; init; } = [];

    /// <summary>How its threads come by their connections; null where each has its own throughout.</summary>
    public ConnectionUse? Connections { get; init; }

    /// <summary>Its connections for people, to stand behind its threads; empty where each has its own.</summary>
    public string ConnectionsText => Connections switch
    {
        { Kind: ConnectionKind.Pool, Count: 1 } => " sharing one connection",
        { Kind: ConnectionKind.Pool, Count: var count } => $" sharing {count:N0} connections",
        { Kind: ConnectionKind.Churn } => ", a connection for each operation",
        { } => ", whose connections are opened at once",
        null => "",
    };

    /// <summary>How many connections it has at once, to each server that its operations go to.</summary>
    public int MostConnections => Connections is { Kind: ConnectionKind.Pool, Count: var count } ? count : Threads;

    /// <summary>How long after the phase's start this group's begins.</summary>
    public double AfterSeconds { get; init; }

    /// <summary>Ends before its time when this is known well enough; null measures for all of it.</summary>
    public Until? Until { get; init; }

    /// <summary>What each thread does, and when, stands in a recording; null draws operations by their weights.</summary>
    public ScriptPlan? Script { get; init; }

    /// <summary>How many documents it inserts into a collection, as far as the plan says: 0 where only the server's speed tells.</summary>
    public long ExpectedInserts(string collection) => Expected(leaf => leaf.Inserts && leaf.Collection == collection);

    /// <summary>The same of documents that it removes; of an operation that removes several, one.</summary>
    public long ExpectedRemovals(string collection) => Expected(leaf => leaf.Removes && leaf.Collection == collection);

    private long Expected(Func<Operation, bool> isMeant)
    {
        double operations = Count ?? (Rate is { } rate && Seconds is { } seconds ? rate.ArrivalsIn(seconds) : 0);
        return operations == 0 ? 0 : (long)Math.Round(
            operations / Operations.Sum(o => o.Weight) * Operations.Sum(o => o.Weight * o.Operation.DocumentsOf(isMeant)));
    }

    /// <summary>Ends by itself; a group without a limit ends with those that have one.</summary>
    public bool IsLimited => Seconds is not null || Count is not null || Script is not null;
}

/// <summary>Operations whose order, threads and times are known before; the executor has them.</summary>
/// <param name="Count">How many all threads do together.</param>
/// <param name="Seconds">
/// Until the last one is due, where each is due at a time of its own; null where it is once the one before it on its thread has ended.
/// </param>
public sealed record ScriptPlan(long Count, double? Seconds)
{
    public bool IsPaced => Seconds is not null;
}

/// <summary>The precision that a percentile must reach, of each operation of a group.</summary>
/// <param name="Text">The text as it was written, such as "p99 ±2 %".</param>
/// <param name="Percent">50 is the median.</param>
/// <param name="Share">Half the width of its 95 % interval, as a share of it: 0.02 for ±2 %.</param>
public sealed record Until(string Text, double Percent, double Share);

/// <summary>How long somebody waits: always the same time, one that is drawn anew, or both together.</summary>
/// <param name="FixedSeconds">Always waited; 0 or more.</param>
/// <param name="MeanSeconds">Of the exponential distribution that the rest is drawn from; 0 for no rest.</param>
public sealed record ThinkTime(double FixedSeconds, double MeanSeconds)
{
    public double Draw(ref RandomStream random) =>
        FixedSeconds + (MeanSeconds > 0 ? -Math.Log(1 - random.NextDouble()) * MeanSeconds : 0);
}

/// <param name="AtSeconds">When it applies, in seconds since the group's start; increasing, the first is 0.</param>
/// <param name="Threads">How many of the group's threads are at work from then on.</param>
public readonly record struct ThreadStep(double AtSeconds, int Threads);

/// <summary>What must be true of a phase's results, such as <c>read.p99 &lt; 10ms</c>.</summary>
/// <param name="Text">The text as it was written.</param>
/// <param name="Operation">Its name; "total" for all of the phase's.</param>
/// <param name="Metric">What is counted or timed, such as rate or p99.</param>
/// <param name="Comparison">&lt;, &lt;=, &gt;, &gt;=, == or !=.</param>
/// <param name="Limit">Microseconds for latencies; from 0 to 1 for a share.</param>
public sealed record Assertion(string Text, string Operation, string Metric, string Comparison, double Limit)
{
    /// <summary>What is counted is divided by the operations that it is a part of.</summary>
    public bool IsShare { get; init; }

    public const string Total = "total";

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

/// <summary>An operation that changes documents, which the generator then no longer knows.</summary>
/// <param name="Operation">Its name.</param>
/// <param name="Phase">The name of its phase.</param>
/// <param name="Collection">Whose documents it changes; empty where it may be any collection.</param>
public sealed record DocumentChange(string Operation, string Phase, string Collection);
