namespace MongoPerf.Load.Keys;

/// <summary>
/// The writes of one phase to one collection: numbers for those that carry one, and when each was acknowledged, for those who watch the
/// collection.
/// </summary>
/// <remarks>Safe for all threads.</remarks>
/// <param name="keys">Where inserts beside other work take their numbers; null for a collection without documents of the run.</param>
/// <param name="load">What fills the collection; null when nothing does.</param>
/// <param name="watchers">How many workers watch; 0 keeps nothing.</param>
public sealed class TrackedWrites(KeySpace? keys, NumberSource? load, int watchers)
{
    private long _last;

    /// <summary>Whether anybody watches.</summary>
    public bool AreWatched => watchers > 0;

    /// <summary>Inserts, by the numbers of their documents.</summary>
    public AcknowledgedTimes Inserts { get; } = new(Math.Min(keys?.Next ?? long.MaxValue, load?.Next ?? long.MaxValue), watchers);

    /// <summary>Updates, by the numbers that they write themselves.</summary>
    public AcknowledgedTimes Updates { get; } = new(1, watchers);

    /// <summary>Whether a document of this number was inserted in the phase, or is being inserted.</summary>
    public bool IsInsert(long number) => number >= Inserts.First && number < Math.Max(keys?.Next ?? 0, load?.End ?? 0);

    /// <summary>Whether an update of this number was sent.</summary>
    public bool IsUpdate(long number) => number >= 1 && number <= Volatile.Read(ref _last);

    /// <summary>The number of an update; from 1 in each phase.</summary>
    public long Take() => Interlocked.Increment(ref _last);
}
