using MongoPerf.Engine.Runs;

namespace MongoPerf.Engine.Phases;

/// <summary>What a run had stored when it was interrupted.</summary>
public sealed class RunProgress
{
    private readonly Dictionary<int, PhaseRecord> _phases;
    private readonly IReadOnlyList<Checkpoint> _checkpoints;

    /// <param name="phases">Stored records; empty for a new run.</param>
    /// <param name="checkpoints">Stored checkpoints.</param>
    /// <param name="startDocuments">That were there before the run, by collection: whole and durable.</param>
    public RunProgress(IReadOnlyList<PhaseRecord> phases, IReadOnlyList<Checkpoint> checkpoints, IReadOnlyDictionary<string, long> startDocuments)
    {
        _phases = phases.ToDictionary(phase => phase.Number);
        _checkpoints = checkpoints;
        StartDocuments = startDocuments;
        IsResumed = phases.Count > 0;
    }

    public IReadOnlyDictionary<string, long> StartDocuments { get; }

    /// <summary>It was interrupted and continues.</summary>
    public bool IsResumed { get; }

    public PhaseRecord? Find(int number) => _phases.GetValueOrDefault(number);

    public PhaseRecord? FindComplete(int number) => Find(number) is { IsComplete: true } record ? record : null;

    /// <summary>The last complete record of some.</summary>
    internal PhaseRecord? FindLastComplete(int first, int end) => _phases.Values.Where(p => p.IsComplete && p.Number >= first && p.Number < end).MaxBy(p => p.Number);

    /// <summary>Any of the records was begun.</summary>
    internal bool HasBegun(int first, int end) => _phases.Keys.Any(number => number >= first && number < end);

    /// <summary>All of a phase was done.</summary>
    internal bool IsDone(PhaseNumbers phase) => phase.IsOfGrowth
        ? FindCheckpoint(phase) is { } checkpoint && checkpoint.Phase == phase.End - 1
        : FindComplete(phase.First) is not null;

    /// <summary>The last checkpoint among the records of a growth.</summary>
    internal Checkpoint? FindCheckpoint(PhaseNumbers growth) =>
        _checkpoints.Where(c => c.Phase >= growth.First && c.Phase < growth.End).MaxBy(c => c.Phase);
}
