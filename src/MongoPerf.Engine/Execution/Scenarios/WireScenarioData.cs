using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution.Scenarios;

/// <summary>A scenario's collections through the wire client.</summary>
/// <param name="open">Opens one of them.</param>
/// <param name="seed">Of the run.</param>
/// <param name="runId">Of the run.</param>
public sealed class WireScenarioData(Func<StoredCollection, WireCollection> open, ulong seed, string runId) : IScenarioData
{
    /// <summary>Marks collections that a series can't go on with.</summary>
    public const int MarkerVersion = 1000;

    private readonly Dictionary<string, WireCollection> _open = [];
    private CancellationToken _stop;

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

    public void Create(ScenarioCollection collection)
    {
        foreach (WireCollection there in collection.Stored.Select(Of))
        {
            there.Drop();
            there.Create(new CollectionMarker(seed, MarkerVersion, 0, runId, 0));
        }
    }

    /// <remarks>Of a bucket: whole files, as far as counts tell.</remarks>
    public long Count(ScenarioCollection collection)
    {
        long[] counts = [.. collection.Stored.Select(stored => Of(stored).Count())];
        return collection.Files is { ChunkCount: > 0 and var chunks } ? Math.Min(counts[0] / chunks, counts[1]) : counts[^1];
    }

    public void SetLoaded(ScenarioCollection collection, long documents)
    {
        foreach (StoredCollection stored in collection.Stored)
            Of(stored).Checkpoint(documents * stored.Count / Math.Max(1, collection.Count));
    }

    public SizeResult ReadSizes(ScenarioCollection collection, long documents) => ReadStoredSizes(collection, documents) with { Collection = collection.Name };

    public long? ReadAvailableConnections()
    {
        // Any collection will do; serverStatus is the server's.
        WireCollection? any = _open.Values.FirstOrDefault();
        try
        {
            return any?.Run("admin", BsonDocument.Of(("serverStatus", 1), ("wiredTiger", 0), ("tcmalloc", 0), ("locks", 0), ("metrics", 0))).FindInt64("connections.available");
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

    private SizeResult ReadStoredSizes(ScenarioCollection collection, long documents) => collection.Files is { } files
        ? SizeReader.Sum([.. collection.Stored.Select(stored => (stored.Name, Of(stored).ReadSizes(stored.Name == files.Bucket.Chunks ? documents * files.ChunkCount : documents)))], documents)
        : Of(collection.Stored[0]).ReadSizes(documents);

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
