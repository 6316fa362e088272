namespace MongoPerf.Load.Phases;

/// <summary>What a watcher has seen since its worker asked last, for the worker to count.</summary>
/// <remarks>One thread. Nothing allocates once its array has grown.</remarks>
public sealed class ChangeLog
{
    private long[] _delays = new long[64];
    private int _count;

    /// <summary>Events, those of other writes too.</summary>
    public int Events { get; set; }

    /// <summary>The bytes of these events.</summary>
    public long Bytes { get; set; }

    /// <summary>Events that came again.</summary>
    public int Duplicated { get; set; }

    /// <summary>Events of a writer behind the event of a later write of the same writer.</summary>
    public int Misordered { get; set; }

    /// <summary>How often the stream was opened again where it had broken off.</summary>
    public int Resumed { get; set; }

    /// <summary>Acknowledged writes without an event, known at the end.</summary>
    public long Missing { get; set; }

    /// <summary>Acknowledged writes without an event so far, when the server could not be asked to the end.</summary>
    public long Unsettled { get; set; }

    /// <summary>From the acknowledgements of writes to their events, ticks; 0 for an event that came first.</summary>
    public ReadOnlySpan<long> Delays => _delays.AsSpan(0, _count);

    public void Clear()
    {
        _count = 0;
        (Events, Duplicated, Misordered, Resumed) = (0, 0, 0, 0);
        (Bytes, Missing, Unsettled) = (0, 0, 0);
    }

    public void Add(long delay)
    {
        if (_count == _delays.Length)
            Array.Resize(ref _delays, _count * 2);
        _delays[_count++] = delay;
    }
}
