namespace MongoPerf.Deployments.Null;

/// <summary>A set of document numbers as sorted, disjoint [from, to) ranges: half a billion numbers in a row take one entry.</summary>
/// <remarks>Not thread-safe. Numbers mostly arrive in increasing order, which is the fast way.</remarks>
internal sealed class NumberRanges
{
    /// <summary>More holes than a series ever leaves; 16 MB.</summary>
    public const int MaximumRanges = 1 << 20;

    private readonly List<Range> _ranges = [];

    /// <summary>Numbers in the set.</summary>
    public long Count { get; private set; }

    public int RangeCount => _ranges.Count;

    /// <summary>Adds [from, to).</summary>
    /// <returns>How many were not there before.</returns>
    /// <exception cref="InvalidOperationException">More than <see cref="MaximumRanges"/> separate ranges.</exception>
    public long Add(long from, long to)
    {
        if (_ranges.Count > 0 && _ranges[^1].To == from)
        {
            _ranges[^1] = _ranges[^1] with { To = to };
            Count += to - from;
            return to - from;
        }

        // All ranges that overlap or touch the new one become one.
        int first = FirstEndingAt(from);
        int next = first;
        long before = 0;
        (long mergedFrom, long mergedTo) = (from, to);
        for (; next < _ranges.Count && _ranges[next].From <= to; next++)
        {
            before += _ranges[next].To - _ranges[next].From;
            mergedFrom = Math.Min(mergedFrom, _ranges[next].From);
            mergedTo = Math.Max(mergedTo, _ranges[next].To);
        }

        Replace(first, next, new Range(mergedFrom, mergedTo));
        long added = mergedTo - mergedFrom - before;
        Count += added;
        return added;
    }

    /// <summary>Takes one number out.</summary>
    /// <returns>False when it was not there.</returns>
    public bool Remove(long number)
    {
        int at = FirstEndingAt(number + 1);
        if (at == _ranges.Count || _ranges[at].From > number)
            return false;
        Range range = _ranges[at];
        _ranges.RemoveAt(at);
        if (number + 1 < range.To)
            _ranges.Insert(at, new Range(number + 1, range.To));
        if (range.From < number)
            _ranges.Insert(at, new Range(range.From, number));
        Count--;
        return true;
    }

    public bool Contains(long number) => TryFindNext(number, out long next) && next == number;

    /// <summary>The least number of the set that is not below <paramref name="number"/>.</summary>
    public bool TryFindNext(long number, out long next)
    {
        int at = FirstEndingAt(number + 1);
        next = at < _ranges.Count ? Math.Max(_ranges[at].From, number) : 0;
        return at < _ranges.Count;
    }

    /// <summary>How many numbers lie in [from, to).</summary>
    public long CountIn(long from, long to)
    {
        long count = 0;
        for (int at = FirstEndingAt(from + 1); at < _ranges.Count && _ranges[at].From < to; at++)
            count += Math.Min(to, _ranges[at].To) - Math.Max(from, _ranges[at].From);
        return count;
    }

    public void Clear()
    {
        _ranges.Clear();
        Count = 0;
    }

    private void Replace(int first, int next, Range merged)
    {
        if (next > first)
        {
            _ranges[first] = merged;
            _ranges.RemoveRange(first + 1, next - first - 1);
            return;
        }

        if (_ranges.Count == MaximumRanges)
            throw new InvalidOperationException($"document numbers in more than {MaximumRanges} separate ranges");
        _ranges.Insert(first, merged);
    }

    // Index of the first range whose To is at least the number.
    private int FirstEndingAt(long number)
    {
        (int low, int high) = (0, _ranges.Count);
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_ranges[middle].To < number)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    private readonly record struct Range(long From, long To);
}
