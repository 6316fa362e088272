using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>
/// The numbers of what one worker inserts: of a load's source, or the collection's next keys, which are given back when the
/// insert was answered.
/// </summary>
/// <remarks>One thread.</remarks>
public sealed class InsertNumbers
{
    private readonly NumberSource? _numbers;
    private readonly KeySpace? _keys;
    private readonly TrackedWrites? _watched;
    private readonly int _thread;
    private long _first;
    private bool _isTaken;

    public InsertNumbers(Operation operation, OperationContext context)
    {
        _numbers = context.Numbers;
        _keys = context.Numbers is { } numbers
            ? numbers.Keys
            : operation.Keys ?? throw new ArgumentException("an insert needs a source of numbers", nameof(operation));
        _watched = operation is { Tracked: { AreWatched: true } tracked, Concerns.IsUnacknowledged: false } ? tracked : null;
        _thread = context.Thread;
    }

    /// <summary>Number of a document of those that were taken last, from 0.</summary>
    public long this[int i] => _keys is null ? _first + i : _keys.NumberOf(_first + i);

    /// <summary>How many were taken last; 0 when there are none left.</summary>
    public int Count { get; private set; }

    /// <summary>Takes the next ones, 1 or more; those before count as answered.</summary>
    /// <returns>False when there are none left.</returns>
    public bool Take(int count)
    {
        Acknowledge();
        if (_numbers is not null)
        {
            Count = _numbers.Take(count, out _first);
        }
        else
        {
            (_first, Count) = (_keys!.Take(count), count);
        }

        _isTaken = _keys is not null && Count > 0;
        return Count > 0;
    }

    /// <summary>
    /// Readers may ask for these keys now; also for those of an insert whose connection broke, without which no later one
    /// would ever be asked for.
    /// </summary>
    public void Acknowledge()
    {
        if (_isTaken)
            _keys!.Acknowledge(_first, Count);
        _isTaken = false;
    }

    /// <summary>Tells those who watch when the inserts were acknowledged.</summary>
    /// <param name="ticks">When the reply had come.</param>
    public void Track(long ticks)
    {
        if (_watched is null)
            return;
        for (int i = 0; i < Count; i++)
            _watched.Inserts.Add(this[i], _thread, ticks);
    }
}
