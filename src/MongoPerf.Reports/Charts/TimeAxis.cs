namespace MongoPerf.Reports.Charts;

/// <summary>Maps wall-clock time to seconds on a chart, with the pauses between the sessions of a resumed run cut out.</summary>
internal sealed class TimeAxis
{
    private const long SlotMilliseconds = 10_000;
    private const long ShortestPauseSlots = 7;

    private readonly List<(long Start, long End, long PausedBefore)> _sessions = [];

    /// <param name="times">Unix milliseconds of all samples, in any order; memory is bounded by the run's length in 10 s slots.</param>
    public TimeAxis(IEnumerable<long> times)
    {
        var slots = new SortedSet<long>();
        long first = long.MaxValue;
        long last = long.MinValue;
        long latest = long.MinValue;
        foreach (long time in times)
        {
            // Mostly that of the sample before.
            long slot = time / SlotMilliseconds;
            if (slot != latest)
                slots.Add(latest = slot);
            first = Math.Min(first, time);
            last = Math.Max(last, time);
        }

        if (slots.Count == 0)
            return;

        // A sample stands for the second before it.
        long start = first - 1000;
        long paused = 0;
        long previous = slots.Min;
        foreach (long slot in slots)
        {
            if (slot - previous >= ShortestPauseSlots)
            {
                long end = (previous + 1) * SlotMilliseconds;
                _sessions.Add((start, end, paused));
                paused += (slot * SlotMilliseconds) - end;
                start = slot * SlotMilliseconds;
            }

            previous = slot;
        }

        _sessions.Add((start, last, paused));
    }

    private TimeAxis(List<(long Start, long End, long PausedBefore)> sessions) => _sessions = sessions;

    /// <summary>Makes the same axis with a later end.</summary>
    /// <param name="last">The end in Unix milliseconds.</param>
    /// <returns>Null where that would leave a pause out, or there is no beginning yet.</returns>
    public TimeAxis? Until(long last)
    {
        if (IsEmpty || last - _sessions[^1].End > (ShortestPauseSlots - 1) * SlotMilliseconds)
            return null;
        return new TimeAxis([.. _sessions[..^1], _sessions[^1] with { End = Math.Max(last, _sessions[^1].End) }]);
    }

    /// <summary>The Unix time at its end; 0 where it is empty.</summary>
    public long EndMilliseconds => IsEmpty ? 0 : _sessions[^1].End;

    public bool IsEmpty => _sessions.Count == 0;

    /// <summary>The seconds from the first to the last sample, without pauses.</summary>
    public double Seconds => IsEmpty ? 0 : (_sessions[^1].End - _sessions[^1].PausedBefore - _sessions[0].Start) / 1000.0;

    /// <summary>The places on the axis where a session begins after a pause, and how long the pause was.</summary>
    public IEnumerable<(double At, TimeSpan Pause)> Pauses => _sessions.Skip(1).Select(
        (session, i) => (At(session.Start), TimeSpan.FromMilliseconds(session.PausedBefore - _sessions[i].PausedBefore)));

    /// <summary>Turns a time into seconds on the axis; one inside a pause is put at the pause.</summary>
    public double At(long milliseconds)
    {
        if (IsEmpty)
            return 0;
        var session = _sessions[0];
        foreach (var candidate in _sessions)
        {
            if (candidate.Start > milliseconds)
                break;
            session = candidate;
        }

        long within = Math.Clamp(milliseconds, session.Start, session.End);
        return (within - session.PausedBefore - _sessions[0].Start) / 1000.0;
    }
}
