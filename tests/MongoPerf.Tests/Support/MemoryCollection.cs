using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Tests.Support;

/// <summary>A collection of numbers in memory, which remembers what was asked of it.</summary>
internal sealed class MemoryCollection : ISeriesCollection
{
    private readonly SortedSet<long> _numbers = [];

    public IReadOnlyCollection<long> Numbers => _numbers;

    /// <summary>Inserts of a number that was there already.</summary>
    public int Duplicates { get; private set; }

    /// <summary>Writes are acknowledged and forgotten.</summary>
    public bool ForgetsWrites { get; set; }

    public long LostConnections { get; set; }

    public CancellationToken Stop { get; set; }

    /// <summary>Called while sizes are read.</summary>
    public Action OnSizes { get; set; } = () => { };

    /// <summary>Documents at each checkpoint.</summary>
    public List<long> Checkpoints { get; } = [];

    public List<NumberRange> Written { get; } = [];

    /// <summary>Calls in their order.</summary>
    public List<string> Calls { get; } = [];

    public bool Insert(long number)
    {
        if (_numbers.Add(number))
            return true;
        Duplicates++;
        return false;
    }

    /// <summary>What a crash of the server may do to everything after the last checkpoint.</summary>
    public void Lose(Func<long, bool> which)
    {
        long safe = Checkpoints.Count > 0 ? Checkpoints[^1] : 0;
        _numbers.RemoveWhere(number => number >= safe && which(number));
    }

    public CollectionState Inspect() => new(true, null);

    public void Create(CollectionMarker marker) => Calls.Add("create");

    public void Drop() => _numbers.Clear();

    public long FindEnd() => _numbers.Count == 0 ? 0 : _numbers.Max + 1;

    public IReadOnlyList<NumberRange> FindMissing(NumberRange range)
    {
        var missing = new List<NumberRange>();
        for (long number = range.First; number < range.End; number++)
        {
            if (_numbers.Contains(number))
                continue;
            if (missing.Count > 0 && missing[^1].End == number)
                missing[^1] = new NumberRange(missing[^1].First, number + 1);
            else
                missing.Add(new NumberRange(number, number + 1));
        }

        return missing;
    }

    public void Write(NumberRange range)
    {
        Written.Add(range);
        for (long number = range.First; number < range.End && !ForgetsWrites; number++)
            _numbers.Add(number);
    }

    public PlanSummary? Explain(FindSpecification query)
    {
        Calls.Add($"explain {query.Test}");
        return new PlanSummary { Stages = "COLLSCAN" };
    }

    public ExaminedCounters? ReadExamined() => null;

    public SizeResult ReadSizes(long documents)
    {
        Calls.Add($"sizes {documents}");
        OnSizes();
        return new SizeResult
        {
            Documents = documents,
            DataBytes = documents * 1024,
            StorageBytes = documents * 1024,
            IndexBytes = documents,
            Indexes = new Dictionary<string, long>(),
        };
    }

    /// <summary>Called before a checkpoint is made.</summary>
    public Action OnCheckpoint { get; set; } = () => { };

    public void Checkpoint(long documents)
    {
        OnCheckpoint();
        Calls.Add($"checkpoint {documents}");
        Checkpoints.Add(documents);
    }

    public void Dispose()
    {
    }
}
