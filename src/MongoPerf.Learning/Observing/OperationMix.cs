using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>What a deployment was seen doing in one database.</summary>
/// <param name="Source">Where it was seen, for people.</param>
/// <param name="Seconds">How long was observed.</param>
/// <param name="Phases">At least one; several where other operations came than before.</param>
/// <param name="NotLearned">What the source doesn't tell, a sentence each, for comments in the file.</param>
public sealed record OperationMix(
    string Source, double Seconds, IReadOnlyList<ObservedPhase> Phases, IReadOnlyList<string> NotLearned)
{
    /// <summary>Nothing was seen.</summary>
    public static OperationMix None { get; } = new("", 0, [], []);

    /// <summary>Requests that can't be learned, by reason.</summary>
    public IReadOnlyDictionary<string, RequestCount> LeftOut { get; init; } = new Dictionary<string, RequestCount>();

    /// <summary>Requests of drivers, members and monitoring.</summary>
    public double Others { get; init; }

    /// <summary>Requests on other databases.</summary>
    public double Elsewhere { get; init; }

    /// <summary>Requests that could not be read.</summary>
    public double NotUnderstood { get; init; }

    /// <summary>Each once, most frequent first.</summary>
    public IReadOnlyList<LearnedOperation> Operations =>
        [.. Phases.SelectMany(phase => phase.Operations).Select(one => one.Operation)
            .Distinct<LearnedOperation>(ReferenceEqualityComparer.Instance).OrderByDescending(one => one.Count)];

    /// <summary>The same with other operations in place of some.</summary>
    public OperationMix With(IReadOnlyDictionary<LearnedOperation, LearnedOperation> instead) => this with
    {
        Phases = [.. Phases.Select(phase => phase with
        {
            Operations = [.. phase.Operations.Select(one =>
                one with { Operation = instead.GetValueOrDefault(one.Operation, one.Operation) })],
        })],
    };
}

/// <summary>A time in which operations came in one mix.</summary>
/// <param name="Seconds">How long that was, more than 0.</param>
/// <param name="Operations">Most frequent first.</param>
public sealed record ObservedPhase(double Seconds, IReadOnlyList<PhaseOperation> Operations)
{
    /// <summary>Operations per second over that time, in pieces of equal length; empty if the source has no times.</summary>
    public IReadOnlyList<double> Rates { get; init; } = [];

    /// <summary>
    /// How many connections were in use on average; where the source doesn't tell, the most operations under way at once. At least 1.
    /// </summary>
    public int Connections { get; init; } = 1;

    /// <summary>Operations come more evenly than by chance.</summary>
    public bool IsSteady { get; init; }

    /// <summary>
    /// How long connections wait between a reply and their next operation, in µs on average, where they hardly do anything but wait for
    /// replies (a closed loop); null where operations come at times of their own.
    /// </summary>
    public double? Think { get; init; }
}

/// <summary>Operations of one shape in a phase.</summary>
/// <param name="Operation">The shape, the same object in all phases.</param>
/// <param name="Count">How many there were; weights and rates follow from it.</param>
/// <param name="Latency">How long they took; null if the source has no times.</param>
public sealed record PhaseOperation(LearnedOperation Operation, double Count, ObservedLatency? Latency);

/// <summary>Operations of one shape.</summary>
/// <param name="Database">Their database.</param>
/// <param name="Collection">Their collection; empty for steps and bulks.</param>
/// <param name="Kind">
/// The key by which a scenario knows it: find, insert, insertMany, update, replace, delete, findAndModify, count, …
/// </param>
/// <param name="Count">How many were seen, in all phases.</param>
public sealed record LearnedOperation(string Database, string Collection, string Kind, double Count)
{
    /// <summary>The filter; null where there is none.</summary>
    public DocumentShape? Filter { get; init; }

    /// <summary>Fields and directions, 1 or -1.</summary>
    public BsonDocument? Sort { get; init; }

    public DocumentShape? Projection { get; init; }

    public (int Least, int Most)? Skip { get; init; }

    /// <summary>The most frequent one.</summary>
    public int? Limit { get; init; }

    /// <summary>How often which limit came.</summary>
    public IReadOnlyDictionary<int, double> Limits { get; init; } = new Dictionary<int, double>();

    public int? BatchSize { get; init; }

    /// <summary>An update document or pipeline; null for other operations.</summary>
    public DocumentShape? Update { get; init; }

    public DocumentShape? ArrayFilters { get; init; }

    /// <summary>A written value that follows from one of the filter; null for none.</summary>
    public ObservedPair? Pair { get; init; }

    /// <summary>Stages of an aggregation.</summary>
    public DocumentShape? Pipeline { get; init; }

    /// <summary>The field of a distinct.</summary>
    public string? Field { get; init; }

    /// <summary>Documents in one insertMany, or how often in a row a write of a bulk comes, on average.</summary>
    public double DocumentsPerOperation { get; init; } = 1;

    /// <summary>Whether an update or delete is about all documents of its filter.</summary>
    public bool IsMany { get; init; }

    public bool IsUpsert { get; init; }

    /// <summary>Of a findAndModify: it removes the document.</summary>
    public bool IsRemove { get; init; }

    /// <summary>Of a findAndModify: it returns the document as it is afterwards.</summary>
    public bool IsNew { get; init; }

    /// <summary>Of a bulk: it goes on after an error.</summary>
    public bool IsUnordered { get; init; }

    /// <summary>An index's key or name.</summary>
    public BsonValue? Hint { get; init; }

    public BsonDocument? Collation { get; init; }

    public BsonDocument? WriteConcern { get; init; }

    public BsonDocument? ReadConcern { get; init; }

    /// <summary>The requests that they were: of a transaction its statements and its end.</summary>
    public RequestCount Requests { get; init; }

    /// <summary>What commands said that a scenario can't say, so that it is left out.</summary>
    public IReadOnlyList<string> LeftOut { get; init; } = [];

    /// <summary>What their replies said; null if the source doesn't tell, and for parts.</summary>
    public ObservedReplies? Replies { get; init; }

    /// <summary>The share that is to ask for values that no document has; null for what follows from replies.</summary>
    public double? Misses { get; init; }

    /// <summary>The writes of a <c>bulkWrite</c>, or the <c>steps</c> of a transaction; empty for all other kinds.</summary>
    public IReadOnlyList<LearnedOperation> Parts { get; init; } = [];

    /// <summary>The values that operations fill in; not those of its parts.</summary>
    public IEnumerable<ValueShape> Values =>
        new[] { Filter, Projection, Update, ArrayFilters, Pipeline }.OfType<DocumentShape>().SelectMany(one => one.Values);

    /// <summary>The server's summary of the plan that most of them had; null if the source doesn't tell.</summary>
    public string? Plan { get; init; }
}

/// <summary>What the replies to operations of one shape said.</summary>
/// <param name="Count">How many replies there were, more than 0.</param>
/// <param name="Documents">Returned, counted, matched, inserted or removed, by one operation on average.</param>
/// <param name="Deviation">The standard deviation of that.</param>
/// <param name="Nothing">The share of replies without an error that were about no document, or of upserts that inserted one.</param>
/// <param name="Modified">Documents changed by one operation on average; null if the source doesn't tell.</param>
/// <param name="Errors">How many had each error code.</param>
public sealed record ObservedReplies(
    double Count, double Documents, double Deviation, double Nothing, double? Modified, IReadOnlyDictionary<int, double> Errors)
{
    /// <summary>Fewer tell nothing.</summary>
    private const double Least = 20;

    /// <summary>The share of cursors that the application closed before their end.</summary>
    public double Abandoned { get; init; }

    /// <summary>Documents that it had got of these, on average.</summary>
    public double DocumentsOfAbandoned { get; init; }

    /// <summary>What the server examined for them; null if the source doesn't tell.</summary>
    public ObservedExamined? Examined { get; init; }

    /// <summary>The share of operations that led to an error.</summary>
    public double Failed => Errors.Values.Sum() / Count;

    /// <summary>There are enough of them.</summary>
    public bool AreEnough => Count >= Least;
}

/// <summary>Index keys and documents that a server examined for one operation: means, and standard deviations.</summary>
/// <param name="Count">Operations of which that is known, more than 0.</param>
/// <param name="Keys">The mean.</param>
/// <param name="KeysDeviation">Of these.</param>
/// <param name="Documents">The mean.</param>
/// <param name="DocumentsDeviation">Of these.</param>
public sealed record ObservedExamined(
    double Count, double Keys, double KeysDeviation, double Documents, double DocumentsDeviation);

/// <summary>Percentiles of the times that operations took, in µs.</summary>
public sealed record ObservedLatency(double P50, double P90, double P99)
{
    /// <summary>
    /// By which share <see cref="P99"/> is above or below what it would be by chance, with three standard deviations of how many
    /// operations are beyond it (binomial).
    /// </summary>
    public double P99Spread { get; init; }

    /// <summary>Null for no times.</summary>
    internal static ObservedLatency? Of(LatencyHistogram times)
    {
        double spread = 100 * 3 * Math.Sqrt(0.99 * 0.01 / Math.Max(times.TotalCount, 1));
        if (times.ValuesAtPercentiles(50, 90, 99) is not [var p50, var p90, var p99]
            || times.ValuesAtPercentiles(Math.Max(0, 99 - spread), Math.Min(100, 99 + spread)) is not [var low, var high])
            return null;
        return new ObservedLatency(p50, p90, p99) { P99Spread = p99 > 0 ? Math.Max(high - p99, p99 - low) / p99 : 0 };
    }
}
