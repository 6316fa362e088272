using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>What came of waiting for the other clients.</summary>
/// <param name="Reason">Why the run is to end here, in a sentence; null when all have come, or when the run was stopped.</param>
public sealed record Meeting(string? Reason = null)
{
    /// <summary>When all of them begin, ticks of the clock; null where nothing was agreed on.</summary>
    public long? StartAt { get; init; }

    /// <inheritdoc cref="PhaseRecord.Clock"/>
    public ClientClock? Clock { get; init; }

    /// <summary>The position of the client that has come farthest.</summary>
    public long Farthest { get; init; }

    /// <summary>A point of the plan as a number that only grows.</summary>
    internal static long PositionOf(int phase, MeetingStage stage) => (phase * 8L) + (int)stage;

    /// <summary>All are ready for the first operation and wait for nothing but the time.</summary>
    public static bool IsStart(long position) => position % 8 == (int)MeetingStage.Start;
}

/// <summary>Where in a phase several clients wait for one another. In order.</summary>
internal enum MeetingStage
{
    /// <summary>What came before is done; the first client makes the collections of the round that begins.</summary>
    Before,
    Prepared,

    /// <summary>Nobody inserts: what earlier attempts at the phase have left can be looked for.</summary>
    Look,

    /// <summary>All are ready for the first operation.</summary>
    Start,

    /// <summary>All documents of the phase are written, or what one client does for all is done.</summary>
    End,
}
