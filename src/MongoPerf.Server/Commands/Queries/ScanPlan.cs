using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>How candidates are found: ranges of one index, or all records. Used again; one thread.</summary>
internal sealed class ScanPlan
{
    private readonly List<KeyRange> _ranges = [];

    /// <summary>Null: every record, in the order of insertion.</summary>
    public CollectionIndex? Index { get; private set; }

    public bool IsReverse { get; set; }

    /// <summary>The candidates come in the order that the query asks for.</summary>
    public bool ProvidesSort { get; set; }

    /// <summary>Leading fields of the index that are bound to one value each.</summary>
    public int EqualFields { get; set; }

    /// <summary>The ranges leave something out.</summary>
    public bool IsBounded { get; set; }

    public int RangeCount { get; private set; }

    public KeyRange Range(int index) => _ranges[index];

    public void Reset(CollectionIndex? index)
    {
        Index = index;
        IsReverse = false;
        ProvidesSort = false;
        IsBounded = false;
        EqualFields = 0;
        RangeCount = 0;
    }

    public KeyRange AddRange()
    {
        if (_ranges.Count == RangeCount)
            _ranges.Add(new KeyRange());
        KeyRange range = _ranges[RangeCount++];
        range.Reset();
        return range;
    }

    /// <summary>Puts the ranges into the order of the index and drops those that are there twice.</summary>
    public void SortRanges()
    {
        if (RangeCount < 2)
            return;
        _ranges.Sort(0, RangeCount, Comparer<KeyRange>.Create((a, b) => a.Low.Written.SequenceCompareTo(b.Low.Written)));
        int kept = 1;
        for (int i = 1; i < RangeCount; i++)
        {
            if (_ranges[i].Low.Written.SequenceEqual(_ranges[kept - 1].Low.Written))
                continue;
            (_ranges[kept], _ranges[i]) = (_ranges[i], _ranges[kept]);
            kept++;
        }

        RangeCount = kept;
    }
}

/// <summary>Keys from <see cref="Low"/> on, and below <see cref="High"/> where there is one.</summary>
internal sealed class KeyRange
{
    public KeyBuffer Low { get; } = new();

    public KeyBuffer High { get; } = new();

    public bool HasHigh { get; set; }

    public void Reset()
    {
        Low.Clear();
        High.Clear();
        HasHigh = false;
    }
}
