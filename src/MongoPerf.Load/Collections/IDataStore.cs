using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Load.Collections;

/// <summary>The collections of a plan, seen from the side that prepares and checks them; nothing here is measured.</summary>
/// <remarks>One thread. Calls connect again by themselves when the connection broke.</remarks>
public interface IDataStore : IDisposable
{
    /// <summary>How often a connection broke so far. A server that was away may have lost what it had not journaled yet.</summary>
    long LostConnections => 0;

    /// <summary>
    /// Once this is cancelled, a failure is thrown at once instead of trying again, and no command without a timeout is waited for.
    /// </summary>
    CancellationToken Stop { get; set; }

    /// <summary>What is there now.</summary>
    CollectionState Inspect(StoredCollection collection);

    /// <summary>Says that this run is the one that writes the collection from now on, where there is one already.</summary>
    /// <exception cref="CollectionBusyException">Another run writes it.</exception>
    void Claim(PlanCollection collection)
    {
    }

    /// <summary>Makes the collection with its marker and indexes, or completes one that was left half-made.</summary>
    /// <param name="collection">The collection of the plan.</param>
    /// <param name="documents">Known to be in it, durable and without holes.</param>
    void Create(PlanCollection collection, long documents);

    /// <summary>What is there is dropped; the caller vouches for that.</summary>
    void Drop(PlanCollection collection);

    /// <summary>Documents as the server counts them: after a crash its counter may be wrong.</summary>
    long Count(PlanCollection collection);

    /// <summary>
    /// Does the same as <see cref="Count"/>, but counts in the _id index where the server's counter says less than what is expected.
    /// </summary>
    /// <param name="collection">The collection of the plan.</param>
    /// <param name="expected">Documents that should be there.</param>
    long CountAtLeast(PlanCollection collection, long expected) => Count(collection);

    /// <summary>
    /// Documents can be found again by their numbers: whether they arrived can be proved, and what is missing can be written again.
    /// </summary>
    bool FindsDocuments(PlanCollection collection);

    /// <summary>One beyond the greatest number that is stored.</summary>
    /// <param name="collection">A collection of which <see cref="FindsDocuments"/> holds.</param>
    /// <param name="from">All below are known to be there, or somebody else's.</param>
    /// <param name="before">Only numbers below are looked for.</param>
    long FindEnd(PlanCollection collection, long from, long before = DocumentNumbers.Limit - 1);

    /// <summary>Numbers of a range that are not stored, read from the _id index: counters of a server may be wrong after a crash.</summary>
    /// <param name="collection">A collection of which <see cref="FindsDocuments"/> holds.</param>
    /// <param name="range">Looked at.</param>
    IReadOnlyList<NumberRange> FindMissing(PlanCollection collection, NumberRange range);

    /// <summary>Writes documents, acknowledged; one that is there already is none the worse.</summary>
    /// <returns>What the server says of the first document that it refuses, as a duplicate or invalid; null for none.</returns>
    string? Write(PlanCollection collection, params IReadOnlyList<NumberRange> ranges);

    /// <summary>
    /// Notes in the collection's marker that the server refused these documents: other clients of the run and later runs do not look
    /// for them. Beyond a hundred thousand ranges no more are noted.
    /// </summary>
    void NoteRefused(PlanCollection collection, IReadOnlyList<NumberRange> numbers)
    {
    }

    /// <summary>Values that documents of a collection have, drawn at random by the server.</summary>
    /// <param name="collection">One that is only read.</param>
    /// <param name="paths">Fields, dotted; through arrays as a filter sees them.</param>
    /// <param name="documents">The most documents to draw.</param>
    /// <returns>For each path the values that were found, as often as they occur; empty where no document drawn has the field.</returns>
    IReadOnlyList<IReadOnlyList<(BsonType Type, byte[] Bytes)>> Sample(
        PlanCollection collection, IReadOnlyList<string> paths, int documents) =>
        throw new NotSupportedException("this system has no samples of existing data");

    /// <summary>How the server runs the operation; null where it can't say. Nothing is written.</summary>
    /// <param name="operation">A find, aggregate, count, distinct, update, delete or findAndModify.</param>
    /// <param name="isCarriedOut">What it reads is read, to see what that costs; false only plans it.</param>
    PlanSummary? Explain(Operation operation, bool isCarriedOut = true);

    /// <summary>Runs an aggregation: how many documents it finds, and the first of them as Extended JSON, cut if it is long.</summary>
    /// <exception cref="NotSupportedException">The server has no aggregations.</exception>
    (long Count, string? First) Aggregate(AggregateDocuments query) => throw new NotSupportedException();

    /// <summary>
    /// Documents and keys examined for queries since they started by all servers that an operation may go to; null where
    /// that can't be known.
    /// </summary>
    ExaminedCounters? ReadExamined(Operation operation);

    /// <summary>The run has ended its server cleanly and started it again: nothing is lost, and no counter wrong.</summary>
    void NoteCleanRestart()
    {
    }

    /// <param name="collection">The collection of the plan.</param>
    /// <param name="documents">Known to be stored.</param>
    /// <returns>Null where the server does not tell them, or not this user.</returns>
    SizeResult? ReadSizes(PlanCollection collection, long documents);

    /// <summary>
    /// Returns when everything acknowledged so far, and a note of <paramref name="documents"/>, is on disk (j:true). When a shard turns out
    /// to have been started again, nothing is noted and <see cref="LostConnections"/> grows.
    /// </summary>
    void Checkpoint(PlanCollection collection, long documents);

    /// <summary>Connections that the server takes beside those it has; null when it does not say.</summary>
    long? ReadAvailableConnections();
}

/// <param name="Exists">Such a collection is there.</param>
/// <param name="Marker">Null when MongoPerf did not make it.</param>
public sealed record CollectionState(bool Exists, CollectionMarker? Marker)
{
    /// <summary>Nobody's, empty, and sharded by an administrator: a run may use it as it is.</summary>
    public bool IsEmptySharded { get; init; }
}

/// <summary>Says that a collection is MongoPerf's, and how its documents are made.</summary>
/// <param name="Seed">The seed of the documents.</param>
/// <param name="Template"><see cref="DocumentTemplate.Fingerprint"/>; empty for files.</param>
/// <param name="RunId">The run that made it, or went on with it last.</param>
/// <param name="Documents">Known to be stored, durable and without holes at the last checkpoint of any run.</param>
/// <param name="IsGrown">It was grown: worth continuing, and not dropped by other scenarios.</param>
public sealed record CollectionMarker(ulong Seed, string Template, string RunId, long Documents, bool IsGrown)
{
    /// <summary>The token of that run, which tells it from another one of the same id; null for a run without one.</summary>
    public string? Token { get; init; }

    /// <summary>Numbers of documents that a unique index refused, as they were noted; ranges may overlap.</summary>
    public IReadOnlyList<NumberRange> Refused { get; init; } = [];
}

/// <summary>serverStatus metrics.queryExecutor: scanned and scannedObjects.</summary>
/// <param name="Keys">How many index keys were read.</param>
/// <param name="Documents">Read.</param>
/// <param name="Servers">The processes that counted: two readings belong together when these are the same.</param>
public readonly record struct ExaminedCounters(long Keys, long Documents, string Servers)
{
    /// <summary>Adds counters up, in any order of the servers.</summary>
    internal static ExaminedCounters Sum(IReadOnlyList<ExaminedCounters> all) =>
        new(all.Sum(one => one.Keys), all.Sum(one => one.Documents),
            string.Join(' ', all.Select(one => one.Servers).Order(StringComparer.Ordinal)));
}

/// <summary>The server's limits don't allow this; the user can fix that.</summary>
public sealed class OperationLimitException(string message) : MongoPerfException(Fault.WrongUsage, message);
