using System.Runtime.CompilerServices;

namespace MongoPerf.Load.Phases;

/// <summary>Notes when one thread of a phase had done so many documents, twice as many, and so on.</summary>
/// <remarks>
/// Written by its worker behind an operation's second time stamp; read when the worker has ended. Usually one addition and one comparison.
/// </remarks>
internal sealed class LapRecorder
{
    private readonly List<LapTime> _times = [];
    private readonly long _length;
    private long _done;
    private long _next;

    /// <param name="length">Documents or operations of a lap, 1 or more.</param>
    public LapRecorder(long length) => _next = _length = length;

    /// <summary>What was done by the end of each operation, and when that was, in ticks; at most one entry for each operation.</summary>
    public IReadOnlyList<LapTime> Times => _times;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(long count, long now)
    {
        _done += count;
        if (_done >= _next)
            Note(now);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Note(long now)
    {
        _times.Add(new LapTime(_done, now));
        // A batch may reach over several borders: what lies between is not known.
        _next = ((_done / _length) + 1) * _length;
    }
}

/// <param name="Done">What was done since the phase's start.</param>
/// <param name="At">Ticks.</param>
internal readonly record struct LapTime(long Done, long At);
