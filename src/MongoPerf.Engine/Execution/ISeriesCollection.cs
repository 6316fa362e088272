using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>The collection under load, seen from the side that prepares and checks it; nothing here is measured.</summary>
/// <remarks>One thread. Calls connect again by themselves when the connection broke.</remarks>
public interface ISeriesCollection : IDisposable
{
    /// <summary>How often the connection broke so far. A server that was away may have lost what it had not journaled yet.</summary>
    long LostConnections => 0;

    /// <summary>Once this is cancelled, a failure is thrown at once instead of trying again, and no command without a time-out is waited for.</summary>
    CancellationToken Stop { get; set; }

    /// <summary>What is there now.</summary>
    CollectionState Inspect();

    /// <summary>Makes the collection with its marker and indexes, or completes one that was left half-made.</summary>
    void Create(CollectionMarker marker);

    void Drop();

    /// <summary>One beyond the greatest number that is stored; 0 for an empty collection.</summary>
    long FindEnd();

    /// <summary>Numbers of a range that are not stored, read from the _id index: counters of a server may be wrong after a crash.</summary>
    IReadOnlyList<NumberRange> FindMissing(NumberRange range);

    /// <summary>Writes documents, acknowledged; one that is there already is none the worse.</summary>
    void Write(NumberRange range);

    /// <summary>How the server runs the query; null where it can't say.</summary>
    PlanSummary? Explain(FindSpecification query);

    /// <summary>Documents and keys that the server has examined for queries since it started; null where it does not count them.</summary>
    ExaminedCounters? ReadExamined();

    /// <param name="documents">Known to be stored.</param>
    SizeResult ReadSizes(long documents);

    /// <summary>
    /// Returns when everything acknowledged so far, and a note of <paramref name="documents"/>, is on disk (j:true). When a shard turns out to
    /// have been started again, nothing is noted and <see cref="LostConnections"/> grows.
    /// </summary>
    void Checkpoint(long documents);
}

/// <param name="Exists">There is such a collection.</param>
/// <param name="Marker">Null when MongoPerf did not make it.</param>
public sealed record CollectionState(bool Exists, CollectionMarker? Marker);

/// <summary>Says that a collection is MongoPerf's, and how its documents are made.</summary>
/// <param name="Seed">Of the generator.</param>
/// <param name="SchemaVersion">Of the generator.</param>
/// <param name="Compressibility">Of the generator, percent.</param>
/// <param name="RunId">The run that made it.</param>
/// <param name="Documents">Known to be stored, durable and without holes at the last checkpoint of any run.</param>
public sealed record CollectionMarker(ulong Seed, int SchemaVersion, int Compressibility, string RunId, long Documents);

/// <summary>Document numbers from First up to, not with, End.</summary>
public readonly record struct NumberRange(long First, long End)
{
    public long Count => Math.Max(0, End - First);
}

/// <summary>serverStatus metrics.queryExecutor: scanned and scannedObjects.</summary>
public readonly record struct ExaminedCounters(long Keys, long Documents);
