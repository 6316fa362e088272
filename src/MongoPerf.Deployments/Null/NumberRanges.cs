using MongoPerf.Load.Keys;

namespace MongoPerf.Deployments.Null;

/// <summary>
/// A set of document numbers as sorted ranges that neither overlap nor touch: half a billion numbers in a row take one entry.
/// </summary>
/// <remarks>It is not thread-safe. Numbers mostly come in increasing order, which is the fast way.</remarks>
internal sealed class NumberRanges
{
    /// <summary>More holes than any load leaves; 16 MB.</summary>
    public const int MaximumRanges = 1 << 20;

    private readonly List<NumberRange> _ranges = [];

    /// <summary>Numbers in the set.</summary>
    public long Count { get; private set; }

    public int RangeCount => _ranges.Count;

    /// <summary>One beyond the greatest number; 0 when there is none.</summary>
    public long End => _ranges.Count == 0 ? 0 : _ranges[^1].End;

    /// <exception cref="InvalidOperationException">More than <see cref="MaximumRanges"/> separate ranges.</exception>
    public void Add(NumberRange added)
    {
        if (_ranges.Count > 0 && _ranges[^1].End == added.First)
        {
            _ranges[^1] = _ranges[^1] with { End = added.End };
            Count += added.Count;
            return;
        }

        // All that overlap or touch the new one become one with it.
        int first = FirstEndingAt(added.First);
        int next = first;
        NumberRange merged = added;
        for (; next < _ranges.Count && _ranges[next].First <= added.End; next++)
        {
            Count -= _ranges[next].Count;
            merged = new NumberRange(Math.Min(merged.First, _ranges[next].First), Math.Max(merged.End, _ranges[next].End));
        }

        if (next == first && _ranges.Count == MaximumRanges)
            throw new InvalidOperationException($"document numbers lie in more than {MaximumRanges:N0} separate ranges");
        _ranges.RemoveRange(first, next - first);
        _ranges.Insert(first, merged);
        Count += merged.Count;
    }

    public bool Contains(long number) => TryFindRun(new NumberRange(number, number + 1), out _);

    /// <summary>The first unbroken run of numbers inside <paramref name="range"/>.</summary>
    public bool TryFindRun(NumberRange range, out NumberRange run)
    {
        int at = FirstEndingAt(range.First + 1);
        run =
            at < _ranges.Count ? new NumberRange(Math.Max(_ranges[at].First, range.First), Math.Min(_ranges[at].End, range.End)) : default;
        return run.Count > 0;
    }

    /// <summary>The greatest number inside <paramref name="range"/>.</summary>
    public bool TryFindLast(NumberRange range, out long number)
    {
        int at = FirstEndingAt(range.End);
        if (at == _ranges.Count || _ranges[at].First >= range.End)
            at--;
        number = at < 0 ? -1 : Math.Min(_ranges[at].End, range.End) - 1;
        return number >= range.First;
    }

    public void Clear()
    {
        _ranges.Clear();
        Count = 0;
    }

    /// <summary>Index of the first range whose end is at least the number.</summary>
    private int FirstEndingAt(long number)
    {
        (int low, int high) = (0, _ranges.Count);
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_ranges[middle].End < number)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }
}
