using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>A scenario's collection as a Tokyo Tyrant server's table: there is one, whatever its name.</summary>
/// <remarks>While the server is away each call is tried again, as <see cref="WireCollection"/> does.</remarks>
/// <param name="address">Where the server is now.</param>
/// <param name="settings">Timeouts.</param>
/// <param name="seed">The seed of the run.</param>
/// <param name="runId">The id of the run.</param>
/// <param name="clock">Times the attempts.</param>
/// <param name="reconnectFor">How long a broken connection is tried again.</param>
/// <param name="beforeReconnect">Called before each attempt after the first.</param>
public sealed class TyrantDataStore(
    Func<ServerAddress> address, ConnectionSettings settings, ulong seed, string runId, IClock clock, TimeSpan reconnectFor,
    Action? beforeReconnect = null) : IDataStore
{
    /// <summary>Documents that are looked at for their columns: a field need not be in every one.</summary>
    private const int Samples = 100;

    private readonly Lock _lock = new();
    private TyrantTable? _table;
    private CancellationToken _stop;
    private CancellationTokenRegistration _stopping;

    public CancellationToken Stop
    {
        get => _stop;
        set
        {
            _stopping.Dispose();
            _stop = value;
            _stopping = value.Register(() =>
            {
                lock (_lock)
                    _table?.Abort();
            });
        }
    }

    /// <summary>Refuses before a run what a table can't be.</summary>
    /// <exception cref="OperationLimitException">
    /// Several collections, files, an index of several fields, or documents that no record can hold.
    /// </exception>
    public static void Check(Plan scenario)
    {
        if (scenario.Phases.FirstOrDefault(phase => phase.AllGroups.Any(group => group.Connections is not null)) is { } phase)
            throw new OperationLimitException($"phase '{phase.Name}' has connections, which is not possible with Tokyo Tyrant");
        foreach (PlanRound round in scenario.Rounds)
        {
            if (round.Collections.Count > 1)
                throw new OperationLimitException("the scenario has "
                    + $"collections {string.Join(", ", round.Collections.Select(c => c.Name))}; a Tokyo Tyrant server has one table "
                    + "and allows one collection");
            foreach (PlanCollection collection in round.Collections)
            {
                if (collection.IsGrown)
                    throw new OperationLimitException($"{collection.Name} grows, which is not possible with Tokyo Tyrant; load it instead");
                if (collection.Files is not null)
                    throw new OperationLimitException($"{collection.Name} holds files, and Tokyo Tyrant has no GridFS");
                ColumnsOf(collection);
                _ = IndexedFields(collection).Count();
            }
        }
    }

    /// <summary>The columns of the scenario's documents; a name means the same in all its rounds.</summary>
    /// <inheritdoc cref="ColumnsOf(PlanCollection)"/>
    public static TyrantColumns ColumnsOf(Plan scenario) => TyrantColumns.Of(scenario.Collections.SelectMany(SamplesOf));

    /// <summary>The columns of the collection's documents.</summary>
    /// <exception cref="OperationLimitException">No record can hold them.</exception>
    private static TyrantColumns ColumnsOf(PlanCollection collection) => TyrantColumns.Of(SamplesOf(collection));

    private static IEnumerable<BsonDocument> SamplesOf(PlanCollection collection) =>
        Enumerable.Range(0, (int)Math.Clamp(collection.Count, 1, Samples)).Select(number => collection.Documents.Make(number));

    public CollectionState Inspect(StoredCollection collection) => Run(table => table.Inspect());

    public void Create(PlanCollection collection, long documents) => Run(table =>
    {
        table.Mark(MarkerOf(collection, documents));
        table.CreateIndexes(IndexedFields(collection), ColumnsOf(collection));
        return true;
    });

    public void Drop(PlanCollection collection) => Run(table =>
    {
        table.Clear();
        return true;
    });

    public long Count(PlanCollection collection) => Run(table => table.Count());

    /// <summary>A search by many keys looks at every record.</summary>
    public bool FindsDocuments(PlanCollection collection) => false;

    public long FindEnd(PlanCollection collection, long from, long before = DocumentNumbers.Limit - 1) => throw NotFound();

    public IReadOnlyList<NumberRange> FindMissing(PlanCollection collection, NumberRange range) => throw NotFound();

    public string? Write(PlanCollection collection, params IReadOnlyList<NumberRange> ranges) => throw NotFound();

    public PlanSummary? Explain(Operation operation, bool isCarriedOut = true) => null;

    public ExaminedCounters? ReadExamined(Operation operation) => null;

    public void Checkpoint(PlanCollection collection, long documents) => Run(table =>
    {
        table.Mark(MarkerOf(collection, documents));
        return true;
    });

    /// <summary>
    /// The server knows one size, that of all its files; the indexes' own are looked at where they lie on this machine,
    /// and are 0 otherwise.
    /// </summary>
    public SizeResult? ReadSizes(PlanCollection collection, long documents) => Run(table =>
    {
        table.Sync();
        Dictionary<string, long> indexes = table.ReadIndexSizes();
        long indexBytes = indexes.Values.Sum();
        long dataBytes = Math.Max(0, table.ReadSize() - indexBytes);
        return new SizeResult
        {
            Documents = documents, DataBytes = dataBytes, StorageBytes = dataBytes, IndexBytes = indexBytes, Indexes = indexes,
        };
    });

    public long? ReadAvailableConnections() => null;

    public void Dispose()
    {
        _stopping.Dispose();
        lock (_lock)
            _table?.Dispose();
    }

    private static NotSupportedException NotFound() => new("Tokyo Tyrant finds documents one by one only");

    private CollectionMarker MarkerOf(PlanCollection collection, long documents) =>
        new(seed, collection.Documents.Fingerprint, runId, documents, IsGrown: false);

    private static IEnumerable<string> IndexedFields(PlanCollection collection) => collection.Indexes.Select(index =>
    {
        KeyValuePair<string, BsonValue>[] key = [.. index.FindDocument("key")!];
        return key is [var only] && only.Value.IsNumber
            ? only.Key
            : throw new OperationLimitException(
                $"index {string.Join(", ", key.Select(k => $"{k.Key}: {k.Value}"))}: Tokyo Tyrant indexes single columns only");
    });

    /// <summary>Every action may be done twice: what broke in the middle is begun again.</summary>
    private T Run<T>(Func<TyrantTable, T> action)
    {
        var backoff = new Backoff(clock, 0.05, 2);
        long? giveUpAt = null;
        while (true)
        {
            try
            {
                if (giveUpAt is not null)
                    beforeReconnect?.Invoke();
                return RunOnce(action);
            }
            catch (Exception e) when (ErrorTally.BreaksConnection(e))
            {
                giveUpAt ??= clock.Now + clock.TicksOf(reconnectFor.TotalSeconds);
                if (clock.Now >= giveUpAt)
                    throw;
                backoff.Wait(() => Stop.IsCancellationRequested);
                if (Stop.IsCancellationRequested)
                    throw;
            }
        }
    }

    /// <summary>Connects when there is no connection; one that failed is not used again.</summary>
    private T RunOnce<T>(Func<TyrantTable, T> action)
    {
        TyrantTable table = _table ?? TyrantTable.Open(address(), settings);
        lock (_lock)
            _table = table;
        try
        {
            return action(table);
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e))
        {
            lock (_lock)
                _table = null;
            table.Dispose();
            throw;
        }
    }
}
