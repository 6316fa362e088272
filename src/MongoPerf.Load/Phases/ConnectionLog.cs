namespace MongoPerf.Load.Phases;

/// <summary>What it took a worker to have its connections since it was asked last: waits for one of a pool, or openings.</summary>
/// <remarks>One thread. Nothing allocates once its array has grown.</remarks>
public sealed class ConnectionLog
{
    private (long Start, long End, Exception? Failure)[] _entries = new (long, long, Exception?)[4];
    private int _count;

    /// <summary>Ticks of the clock by which the worker runs; a failure where it came to nothing.</summary>
    public ReadOnlySpan<(long Start, long End, Exception? Failure)> Entries => _entries.AsSpan(0, _count);

    public void Clear() => _count = 0;

    public void Add(long start, long end, Exception? failure = null)
    {
        if (_count == _entries.Length)
            Array.Resize(ref _entries, _count * 2);
        _entries[_count++] = (start, end, failure);
    }
}
