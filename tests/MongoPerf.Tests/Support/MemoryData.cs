using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Support;

/// <summary>A plan's collections as numbers in memory, which remember what was asked of them.</summary>
internal sealed class MemoryData(IClock clock) : IDataStore
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, SortedSet<long>> _numbers = [];
    private readonly Dictionary<string, long> _durable = [];

    /// <summary>Inserts of a number that was there already.</summary>
    public int Duplicates { get; private set; }

    /// <summary>Writes are acknowledged and forgotten.</summary>
    public bool ForgetsWrites { get; set; }

    /// <summary>False for a system that can only count documents.</summary>
    public bool FindsNumbers { get; init; } = true;

    public long LostConnections { get; set; }

    public CancellationToken Stop { get; set; }

    /// <summary>What each collection takes to be made.</summary>
    public double CreateSeconds { get; set; }

    /// <summary>Why none can be made.</summary>
    public Exception? CreateFailure { get; set; }

    /// <summary>What an aggregation finds, by its name; by default nothing.</summary>
    public Func<string, (long Count, string? First)> OnAggregate { get; set; } = _ => (0, null);

    public (long Count, string? First) Aggregate(AggregateDocuments query) => OnAggregate(query.Name);

    /// <summary>Called while sizes are read.</summary>
    public Action OnSizes { get; set; } = () => { };

    /// <summary>Called before documents are written again.</summary>
    public Action OnWrite { get; set; } = () => { };

    /// <summary>Called before a checkpoint is made.</summary>
    public Action OnCheckpoint { get; set; } = () => { };

    /// <summary>Documents at each checkpoint, of whichever collection.</summary>
    public List<long> Checkpoints { get; } = [];

    /// <summary>What was written again, of whichever collection.</summary>
    public List<NumberRange> Written { get; } = [];

    /// <summary>By collection; there are none of their own accord.</summary>
    public Dictionary<string, CollectionMarker> Markers { get; } = [];

    /// <summary>Collections get markers when they are made, and lose them when they are dropped.</summary>
    public bool HasMarkers { get; init; }

    /// <summary>What the servers have examined so far.</summary>
    public Func<ExaminedCounters?> Examined { get; set; } = () => null;

    /// <summary>Calls in their order.</summary>
    public List<string> Calls { get; } = [];

    public IReadOnlyCollection<long> Numbers(string collection)
    {
        lock (_lock)
            return [.. Of(collection)];
    }

    public bool Insert(string collection, long number)
    {
        lock (_lock)
        {
            if (Twice.Contains(number))
                return false;
            if (Of(collection).Add(number))
                return true;
            Duplicates++;
            return false;
        }
    }

    public void Remove(string collection, long number)
    {
        lock (_lock)
            Of(collection).Remove(number);
    }

    /// <summary>What a crash of the server may do to everything after the last checkpoint.</summary>
    public void Lose(Func<long, bool> which)
    {
        lock (_lock)
        {
            foreach ((string collection, SortedSet<long> numbers) in _numbers)
                numbers.RemoveWhere(number => number >= _durable.GetValueOrDefault(collection) && which(number));
        }
    }

    public CollectionState Inspect(StoredCollection collection)
    {
        lock (_lock)
            return new(_numbers.ContainsKey(collection.Name), Markers.GetValueOrDefault(collection.Name));
    }

    public void Create(PlanCollection collection, long documents)
    {
        clock.SleepUntil(clock.Now + clock.TicksOf(CreateSeconds));
        if (CreateFailure is not null)
            throw CreateFailure;
        lock (_lock)
        {
            Calls.Add($"create {collection.Name}");
            _ = Of(collection.Name);
            if (HasMarkers)
                Markers.TryAdd(collection.Name, new CollectionMarker(42, "", "run", documents, collection.IsGrown));
        }
    }

    public void NoteRefused(PlanCollection collection, IReadOnlyList<NumberRange> numbers)
    {
        lock (_lock)
        {
            if (Markers.TryGetValue(collection.Name, out CollectionMarker? marker))
                Markers[collection.Name] = marker with { Refused = [.. marker.Refused, .. numbers] };
        }
    }

    public void Drop(PlanCollection collection)
    {
        Of(collection.Name).Clear();
        _durable.Remove(collection.Name);
        if (HasMarkers)
            Markers.Remove(collection.Name);
    }

    public long Count(PlanCollection collection) => Of(collection.Name).Count;

    public bool FindsDocuments(PlanCollection collection) => FindsNumbers;

    /// <summary>What the server says of <see cref="Twice"/>.</summary>
    public string Duplicate { get; set; } = "E11000 duplicate key error collection: perf.c index: u_1 dup key: { u: 7 }";

    /// <summary>Numbers of documents that a unique index refuses.</summary>
    public HashSet<long> Twice { get; } = [];

    public long FindEnd(PlanCollection collection, long from, long before = DocumentNumbers.Limit - 1)
    {
        lock (_lock)
            return Of(collection.Name) is { Count: > 0 } numbers && numbers.GetViewBetween(0, before - 1) is { Count: > 0 } below
                ? below.Max + 1
                : 0;
    }

    public IReadOnlyList<NumberRange> FindMissing(PlanCollection collection, NumberRange range)
    {
        var missing = new List<NumberRange>();
        lock (_lock)
        {
            for (long number = range.First; number < range.End; number++)
            {
                if (Of(collection.Name).Contains(number))
                    continue;
                if (missing.Count > 0 && missing[^1].End == number)
                    missing[^1] = new NumberRange(missing[^1].First, number + 1);
                else
                    missing.Add(NumberRange.Of(number));
            }
        }

        return missing;
    }

    public string? Write(PlanCollection collection, params IReadOnlyList<NumberRange> ranges)
    {
        OnWrite();
        bool isTwice = false;
        lock (_lock)
        {
            Written.AddRange(ranges);
            foreach (NumberRange range in ranges.Where(_ => !ForgetsWrites))
            {
                for (long number = range.First; number < range.End; number++)
                {
                    if (Twice.Contains(number))
                        isTwice = true;
                    else
                        Of(collection.Name).Add(number);
                }
            }
        }

        return isTwice ? Duplicate : null;
    }

    /// <summary>What the server says of an operation.</summary>
    public Func<Operation, PlanSummary?> OnExplain { get; set; } = _ => new PlanSummary { Stages = "COLLSCAN" };

    public PlanSummary? Explain(Operation operation, bool isCarriedOut = true)
    {
        Calls.Add($"{(isCarriedOut ? "explain" : "plan")} {operation.Name}");
        return OnExplain(operation);
    }

    public ExaminedCounters? ReadExamined(Operation operation) => Examined();

    public SizeResult ReadSizes(PlanCollection collection, long documents)
    {
        lock (_lock)
            Calls.Add($"sizes {collection.Name} {documents}");
        OnSizes();
        return new SizeResult
        {
            Collection = collection.Name,
            Documents = documents,
            DataBytes = documents * 1024,
            StorageBytes = documents * 1024,
            IndexBytes = documents,
            Indexes = new Dictionary<string, long>(),
        };
    }

    public void Checkpoint(PlanCollection collection, long documents)
    {
        OnCheckpoint();
        lock (_lock)
        {
            Calls.Add($"checkpoint {collection.Name} {documents}");
            Checkpoints.Add(documents);
            _durable[collection.Name] = documents;
        }
    }

    public long? ReadAvailableConnections() => null;

    public void Dispose()
    {
    }

    private SortedSet<long> Of(string collection)
    {
        if (!_numbers.TryGetValue(collection, out SortedSet<long>? numbers))
            _numbers[collection] = numbers = [];
        return numbers;
    }
}
