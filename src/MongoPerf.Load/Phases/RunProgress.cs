using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>What a run had stored when it was interrupted.</summary>
public sealed class RunProgress
{
    private readonly Dictionary<int, PhaseRecord> _phases;
    private readonly IReadOnlyList<Checkpoint> _checkpoints;

    /// <summary>Makes the progress of a new run.</summary>
    /// <param name="startDocuments">Documents that were there before the run, by collection: whole and durable.</param>
    public RunProgress(IReadOnlyDictionary<string, long> startDocuments)
    {
        _phases = [];
        _checkpoints = [];
        StartDocuments = startDocuments;
        Refused = new RefusedDocuments();
    }

    /// <param name="stored">The run as it was interrupted.</param>
    /// <param name="startDocuments">The documents that <see cref="RunProgress(IReadOnlyDictionary{string, long})"/> takes.</param>
    /// <exception cref="RunStoreException">It is damaged.</exception>
    public RunProgress(StoredRun stored, IReadOnlyDictionary<string, long> startDocuments)
    {
        _phases = stored.Phases.ToDictionary(phase => phase.Number);
        _checkpoints = stored.Checkpoints;
        StartDocuments = startDocuments;
        Refused = RefusedDocuments.Of(stored);
    }

    public IReadOnlyDictionary<string, long> StartDocuments { get; }

    /// <summary>What it went on without.</summary>
    public RefusedDocuments Refused { get; }

    /// <summary>It was interrupted and continues.</summary>
    public bool IsResumed => _phases.Count > 0;

    public PhaseRecord? Find(int number) => _phases.GetValueOrDefault(number);

    public PhaseRecord? FindComplete(int number) => Find(number) is { IsComplete: true } record ? record : null;

    /// <summary>The last complete record of some.</summary>
    internal PhaseRecord? FindLastComplete(int first, int end) =>
        _phases.Values.Where(p => p.IsComplete && p.Number >= first && p.Number < end).MaxBy(p => p.Number);

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
