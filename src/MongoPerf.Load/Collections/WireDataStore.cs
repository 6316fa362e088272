using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Collections;

/// <summary>A plan's collections through the wire client.</summary>
/// <param name="open">Opens one of them.</param>
/// <param name="seed">The seed of the documents.</param>
/// <param name="runId">The id of the run.</param>
/// <param name="token">The token of the run; null for one without.</param>
public sealed class WireDataStore(Func<StoredCollection, WireCollection> open, ulong seed, string runId, string? token = null) : IDataStore
{
    private readonly Dictionary<string, WireCollection> _open = [];
    private CancellationToken _stop;

    public long LostConnections => _open.Values.Sum(collection => collection.LostConnections);

    public CancellationToken Stop
    {
        get => _stop;
        set
        {
            _stop = value;
            foreach (WireCollection collection in _open.Values)
                collection.Stop = value;
        }
    }

    public CollectionState Inspect(StoredCollection collection) => Of(collection).Inspect();

    public void Claim(PlanCollection collection)
    {
        foreach (StoredCollection stored in collection.Stored)
            Of(stored).Claim();
    }

    public void Create(PlanCollection collection, long documents)
    {
        foreach (StoredCollection stored in collection.Stored)
            Of(stored).Create(new CollectionMarker(seed, stored.Documents?.Fingerprint ?? "", runId, PartOf(collection, stored, documents),
                collection.IsGrown) { Token = token });
    }

    public void Drop(PlanCollection collection)
    {
        foreach (StoredCollection stored in collection.Stored)
            Of(stored).Drop();
    }

    /// <remarks>For a bucket it counts whole files, as far as counts tell.</remarks>
    public long Count(PlanCollection collection) => WholeOf(collection, [.. collection.Stored.Select(stored => Of(stored).Count())]);

    public long CountAtLeast(PlanCollection collection, long expected) =>
        WholeOf(collection, [.. collection.Stored.Select(stored => Of(stored).CountAtLeast(PartOf(collection, stored, expected)))]);

    public bool FindsDocuments(PlanCollection collection) => collection.Files is null;

    public long FindEnd(PlanCollection collection, long from, long before = DocumentNumbers.Limit - 1) =>
        Of(collection.Stored[0]).FindEnd(from, before);

    public IReadOnlyList<NumberRange> FindMissing(PlanCollection collection, NumberRange range) =>
        Of(collection.Stored[0]).FindMissing(range);

    public string? Write(PlanCollection collection, params IReadOnlyList<NumberRange> ranges) => Of(collection.Stored[0]).Write(ranges);

    public void NoteRefused(PlanCollection collection, IReadOnlyList<NumberRange> numbers) =>
        Of(collection.Stored[^1]).NoteRefused(numbers);

    public IReadOnlyList<IReadOnlyList<(BsonType Type, byte[] Bytes)>> Sample(
        PlanCollection collection, IReadOnlyList<string> paths, int documents) =>
        Of(collection.Stored[0]).Sample(paths, documents);

    public PlanSummary? Explain(Operation operation, bool isCarriedOut = true) =>
        Find(operation.Collection)?.Explain(operation, isCarriedOut);

    public (long Count, string? First) Aggregate(AggregateDocuments query) =>
        (Find(query.Collection) ?? throw new InvalidOperationException($"collection '{query.Collection}' is not open")).Aggregate(query);

    public ExaminedCounters? ReadExamined(Operation operation) =>
        (Find(operation.Collection) ?? _open.Values.FirstOrDefault())?.ReadExamined(operation);

    public void NoteCleanRestart()
    {
        foreach (WireCollection collection in _open.Values)
            collection.NoteCleanRestart();
    }

    public SizeResult? ReadSizes(PlanCollection collection, long documents) =>
        ReadStoredSizes(collection, documents) is { } sizes ? sizes with { Collection = collection.Name } : null;

    public void Checkpoint(PlanCollection collection, long documents)
    {
        foreach (StoredCollection stored in collection.Stored)
            Of(stored).Checkpoint(PartOf(collection, stored, documents));
    }

    public long? ReadAvailableConnections()
    {
        // Any collection will do; serverStatus is the server's.
        WireCollection? any = _open.Values.FirstOrDefault();
        try
        {
            return any?.Run("admin", BsonDocument.Of(("serverStatus", 1), ("wiredTiger", 0), ("tcmalloc", 0), ("locks", 0), ("metrics", 0)))
                .FindInt64("connections.available");
        }
        catch (ServerCommandException)
        {
            return null;
        }
    }

    public void Dispose()
    {
        foreach (WireCollection collection in _open.Values)
            collection.Dispose();
    }

    private static long WholeOf(PlanCollection collection, long[] counts) =>
        collection.Files is { ChunkCount: > 0 and var chunks } ? Math.Min(counts[0] / chunks, counts[1]) : counts[^1];

    /// <summary>A file has several chunks.</summary>
    private static long PartOf(PlanCollection collection, StoredCollection stored, long documents) =>
        collection.Files is { } files && stored.Name == files.Bucket.Chunks ? documents * files.ChunkCount : documents;

    private SizeResult? ReadStoredSizes(PlanCollection collection, long documents)
    {
        if (collection.Files is null)
            return Of(collection.Stored[0]).ReadSizes(documents);
        (string Name, SizeResult? Sizes)[] parts =
            [.. collection.Stored.Select(stored => (stored.Name, Of(stored).ReadSizes(PartOf(collection, stored, documents))))];
        return parts.Any(part => part.Sizes is null) ? null
            : SizeReader.Sum([.. parts.Select(part => (part.Name, part.Sizes!))], documents);
    }

    private WireCollection? Find(string name) => _open.FirstOrDefault(open => open.Key.Split('\0')[0] == name).Value;

    private WireCollection Of(StoredCollection collection)
    {
        // Indexes may differ from round to round.
        string key = collection.Name + "\0" + string.Join('\0', collection.Indexes.Select(i => i.FindString("name")));
        if (!_open.TryGetValue(key, out WireCollection? known))
        {
            _open[key] = known = open(collection);
            known.Stop = _stop;
        }

        return known;
    }
}
