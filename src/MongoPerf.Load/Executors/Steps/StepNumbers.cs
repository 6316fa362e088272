using MongoPerf.Load.Keys;

namespace MongoPerf.Load.Executors.Steps;

/// <summary>The numbers of what one step inserts: taken when it first runs, and kept while a transaction is made again.</summary>
/// <remarks>One thread.</remarks>
/// <param name="keys">Of the collection.</param>
/// <param name="batch">Documents per command.</param>
public sealed class StepNumbers(KeySpace keys, int batch)
{
    private int _answered;
    private long[] _firsts = new long[4];
    private int _taken;
    private int _used;
    private int _at;

    /// <summary>Documents per command.</summary>
    public int Batch => batch;

    /// <summary>Number of one of the documents that the next command inserts.</summary>
    public long this[int index] => keys.NumberOf(_firsts[_at] + index);

    /// <summary>The operation begins, or is made again: its first command has the first numbers.</summary>
    public void Restart() => _used = 0;

    /// <summary>Goes on to the next command's numbers, which are taken if an earlier attempt has not.</summary>
    public void Next()
    {
        _at = _used++;
        if (_at < _taken)
            return;
        if (_taken == _firsts.Length)
            Array.Resize(ref _firsts, _taken * 2);
        _firsts[_taken++] = keys.Take(batch);
    }

    /// <summary>The operation has ended: readers may ask for its documents.</summary>
    public void Acknowledge()
    {
        for (int i = 0; i < _taken; i++)
            keys.Acknowledge(_firsts[i], batch);
        (_answered, _taken) = (_used, 0);
    }

    /// <summary>Tells those who watch when the operation that has ended was acknowledged.</summary>
    /// <param name="watched">Keeps the times.</param>
    /// <param name="thread">Who was told.</param>
    /// <param name="ticks">When the last reply had come.</param>
    public void Track(TrackedWrites watched, int thread, long ticks)
    {
        for (int i = 0; i < _answered; i++)
        {
            for (int place = 0; place < batch; place++)
                watched.Inserts.Add(keys.NumberOf(_firsts[i] + place), thread, ticks);
        }
    }
}
