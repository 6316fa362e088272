namespace MongoPerf.Load.Keys;

/// <summary>The keys 0 ≤ k &lt; <see cref="Count"/> that exist, while inserts add to them. Safe for all threads.</summary>
/// <remarks>
/// A key exists when it and all before it have been acknowledged, so no reader asks for what is still under way in another thread (YCSB's
/// AcknowledgedCounterGenerator). Every key that was taken has to be acknowledged, that of a failed insert too; otherwise the
/// count stays where it is.
/// </remarks>
/// <param name="count">Keys that are there at the start, 0 or more.</param>
/// <param name="share">
/// The share of one of several clients that insert at once, each of which has its own numbers beyond the start; null where there is one
/// client.
/// </param>
public sealed class KeySpace(long count, PlanShare? share = null)
{
    /// <summary>
    /// Keys that the window holds at first. It doubles while one insert takes its time and others continue: one byte for
    /// each key that waits.
    /// </summary>
    private const int FirstWindow = 1 << 12;

    private readonly Lock _lock = new();
    private readonly long _start = count;
    private readonly long _firstOwn = (share ?? PlanShare.Whole).FirstOwn(count);
    private long _count = count;
    private long _next = count;

    /// <summary>
    /// Key k, acknowledged out of turn, is marked at k modulo the length, a power of two. Most key spaces never grow and need none.
    /// </summary>
    private bool[] _early = [];

    /// <summary>The step from the number of a key that this client inserts to that of the next one.</summary>
    public int Step { get; } = (share ?? PlanShare.Whole).Count;

    /// <summary>Keys that exist; grows only.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>One beyond the last key that was taken.</summary>
    public long Next => Volatile.Read(ref _next);

    /// <summary>The number of a key's document: the key itself, except for those that one of several clients inserts.</summary>
    public long NumberOf(long key) => key < _start ? key : _firstOwn + ((key - _start) * Step);

    /// <summary>Gives out keys for inserts, each once.</summary>
    /// <param name="count">Keys wanted, 1 or more.</param>
    /// <returns>The first of them.</returns>
    public long Take(int count = 1) => Interlocked.Add(ref _next, count) - count;

    /// <summary>Says that all keys below have been taken, by somebody who hands out numbers by himself.</summary>
    public void Extend(long next)
    {
        long seen = Next;
        while (next > seen && Interlocked.CompareExchange(ref _next, next, seen) is var found && found != seen)
            seen = found;
    }

    /// <summary>Says that the inserts of these keys have been answered.</summary>
    /// <param name="first">A number as <see cref="Take"/> returned it, or above.</param>
    /// <param name="count">Keys, 1 or more.</param>
    /// <exception cref="ArgumentOutOfRangeException">They were not taken, or are acknowledged already.</exception>
    public void Acknowledge(long first, int count = 1)
    {
        lock (_lock)
        {
            if (first < _count || first + count > Next)
                throw new ArgumentOutOfRangeException(
                    nameof(first), $"keys {first} to {first + count - 1} are not under way, only {_count} to {Next - 1} are");
            if (first == _count)
                _count = AfterEarlyOnes(first + count);
            else
                MarkEarly(first, count);
        }
    }

    private long AfterEarlyOnes(long end)
    {
        // The key at the end itself may be marked; none is as far ahead as the window is long.
        while (_early.Length > 0 && _early[end & (_early.Length - 1)])
            _early[end++ & (_early.Length - 1)] = false;
        return end;
    }

    private void MarkEarly(long first, int count)
    {
        while (first + count - _count > _early.Length)
            Enlarge();
        for (long key = first; key < first + count; key++)
            _early[key & (_early.Length - 1)] = true;
    }

    private void Enlarge()
    {
        bool[] larger = new bool[Math.Max(FirstWindow, 2 * _early.Length)];
        for (long key = _count; key < _count + _early.Length; key++)
            larger[key & (larger.Length - 1)] = _early[key & (_early.Length - 1)];
        _early = larger;
    }
}
