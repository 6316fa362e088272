namespace MongoPerf.Load.Keys;

/// <summary>When writes with consecutive numbers were acknowledged, and to which worker. Safe for all threads.</summary>
/// <remarks>
/// An acknowledgement is two stores into an array. Pages of arrays are made as numbers come, and let go of once all watchers have seen the
/// events of all their writes.
/// </remarks>
/// <param name="first">The first number; those below belong to somebody else.</param>
/// <param name="watchers">How many watchers look them up, 1 or more.</param>
public sealed class AcknowledgedTimes(long first, int watchers)
{
    /// <summary>Numbers of a page, a power of two.</summary>
    public const int PageLength = 1 << 16;

    private static readonly Page Seen = new(0, 0);

    private readonly Lock _lock = new();
    private Page?[] _pages = new Page?[16];

    /// <summary>The first number.</summary>
    public long First => first;

    /// <param name="number">The first number or above.</param>
    /// <param name="worker">Who was told; 0-based, among all workers of the phase.</param>
    /// <param name="ticks">When, in ticks of the clock; not 0.</param>
    public void Add(long number, int worker, long ticks)
    {
        Page page = PageOf((number - first) / PageLength);
        if (ReferenceEquals(page, Seen))
            return;
        int place = (int)((number - first) % PageLength);
        page.Workers[place] = worker;
        Volatile.Write(ref page.Ticks[place], ticks);
    }

    /// <returns>False while it has not been acknowledged.</returns>
    public bool TryFind(long number, out long ticks, out int worker)
    {
        (ticks, worker) = (0, 0);
        long index = (number - first) / PageLength;
        Page?[] pages = Volatile.Read(ref _pages);
        if (number < first || index >= pages.Length || Volatile.Read(ref pages[index]) is not { Ticks.Length: > 0 } page)
            return false;
        int place = (int)((number - first) % PageLength);
        ticks = Volatile.Read(ref page.Ticks[place]);
        worker = page.Workers[place];
        return ticks != 0;
    }

    /// <summary>The numbers that have been acknowledged, in their order; without those of pages that were let go of.</summary>
    public IEnumerable<long> All()
    {
        Page?[] pages = Volatile.Read(ref _pages);
        for (int i = 0; i < pages.Length; i++)
        {
            if (Volatile.Read(ref pages[i]) is not { } page)
                continue;
            for (int place = 0; place < page.Ticks.Length; place++)
            {
                if (Volatile.Read(ref page.Ticks[place]) != 0)
                    yield return first + ((long)i * PageLength) + place;
            }
        }
    }

    /// <summary>Says that one watcher has seen the events of all numbers of a page.</summary>
    /// <param name="index">The page's, from 0.</param>
    public void Release(int index)
    {
        if (Interlocked.Decrement(ref PageOf(index).Watchers) > 0)
            return;
        lock (_lock)
            _pages[index] = Seen;
    }

    private Page PageOf(long index)
    {
        Page?[] pages = Volatile.Read(ref _pages);
        return index < pages.Length && Volatile.Read(ref pages[index]) is { } page ? page : Make(index);
    }

    private Page Make(long index)
    {
        lock (_lock)
        {
            if (index >= _pages.Length)
            {
                Page?[] longer = new Page?[Math.Max(index + 1, _pages.Length * 2)];
                _pages.CopyTo(longer, 0);
                Volatile.Write(ref _pages, longer);
            }

            return _pages[index] ??= new Page(PageLength, watchers);
        }
    }

    private sealed class Page(int length, int watchers)
    {
        public int Watchers = watchers;

        public long[] Ticks { get; } = new long[length];

        public int[] Workers { get; } = new int[length];
    }
}
