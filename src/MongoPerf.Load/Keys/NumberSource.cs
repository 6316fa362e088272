namespace MongoPerf.Load.Keys;

/// <summary>Hands out document numbers, each once, in blocks. Safe for all threads.</summary>
/// <param name="first">The first number.</param>
/// <param name="end">One beyond the last.</param>
/// <param name="keys">
/// Keys that others may ask for as the numbers are written; counts up to <paramref name="first"/>. Null for none.
/// </param>
public sealed class NumberSource(long first, long end, KeySpace? keys = null)
{
    private long _next = first;

    public long First { get; } = first;

    public long End { get; } = end;

    /// <summary>The keys, which grow as the numbers are written; null when nobody reads meanwhile.</summary>
    public KeySpace? Keys { get; } = keys;

    /// <summary>One beyond the last number that was handed out.</summary>
    public long Next => Math.Min(Interlocked.Read(ref _next), End);

    /// <param name="count">Numbers wanted, 1 or more.</param>
    /// <param name="firstTaken">The first number handed out.</param>
    /// <returns>How many were: fewer at the end, then 0.</returns>
    public int Take(int count, out long firstTaken)
    {
        firstTaken = Interlocked.Add(ref _next, count) - count;
        if (firstTaken >= End)
        {
            // Stay at the end, however often a worker asks.
            Interlocked.Exchange(ref _next, End);
            return 0;
        }

        int taken = (int)Math.Min(count, End - firstTaken);
        Keys?.Extend(firstTaken + taken);
        return taken;
    }

    /// <summary>
    /// One of several unbroken ranges that together are these numbers; their lengths differ by one at most. What has been handed
    /// out does not matter.
    /// </summary>
    /// <param name="index">Which range, 0-based.</param>
    /// <param name="count">How many ranges, 1 or more.</param>
    public NumberSource Range(int index, int count)
    {
        NumberRange part = new NumberRange(First, End).Part(index, count);
        return new NumberSource(part.First, part.End);
    }
}
