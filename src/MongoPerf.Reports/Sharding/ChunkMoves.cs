using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>Migrations added up.</summary>
internal sealed record MoveSum
{
    public static MoveSum None { get; } = new();

    /// <summary>How many were done.</summary>
    public int Done { get; init; }
    public int Failed { get; init; }

    /// <summary>How many were under way when the run looked last.</summary>
    public int Running { get; init; }

    /// <summary>Moved by those done.</summary>
    public long Documents { get; init; }

    /// <summary>Moved by those done, uncompressed.</summary>
    public long Bytes { get; init; }

    /// <summary>The seconds of those that ended, one after the other; several may have been at the same time.</summary>
    public double Seconds { get; init; }
    public double LongestSeconds { get; init; }

    public MoveSum Plus(ChunkEvent migration)
    {
        bool isDone = migration.Outcome == ChunkEventOutcome.Done;
        return new MoveSum
        {
            Done = Done + (isDone ? 1 : 0),
            Failed = Failed + (migration.Outcome == ChunkEventOutcome.Failed ? 1 : 0),
            Running = Running + (migration.Outcome == ChunkEventOutcome.Running ? 1 : 0),
            Documents = Documents + (isDone ? migration.Documents ?? 0 : 0),
            Bytes = Bytes + (isDone ? migration.Bytes ?? 0 : 0),
            Seconds = Seconds + (migration.Seconds ?? 0),
            LongestSeconds = Math.Max(LongestSeconds, migration.Seconds ?? 0),
        };
    }
}

/// <summary>The chunk events of a run in sums, however many they were.</summary>
internal sealed class ChunkMoves
{
    private readonly SortedDictionary<(string From, string To), MoveSum> _routes = [];
    private readonly List<ChunkEvent> _reshardings = [];
    private readonly long[] _stepEnds;
    private readonly MoveSum[] _steps;

    private ChunkMoves(StoredRun run)
    {
        _stepEnds = [.. run.Checkpoints.Select(static checkpoint => checkpoint.AtMilliseconds)];
        _steps = new MoveSum[_stepEnds.Length];
        Array.Fill(_steps, MoveSum.None);
        foreach (ChunkEvent happened in run.ReadChunkEvents())
            Add(happened);
    }

    public static ChunkMoves Of(StoredRun run) => new(run);

    public MoveSum All { get; private set; } = MoveSum.None;

    public int Splits { get; private set; }

    public int Merges { get; private set; }

    /// <summary>The reshardings in the order in which they began.</summary>
    public IReadOnlyList<ChunkEvent> Reshardings => _reshardings;

    /// <summary>The keys that a collection had before its reshardings, the first one first; empty for none.</summary>
    public IEnumerable<string> KeysBefore(string collection) => _reshardings
        .Where(one => one is { Outcome: ChunkEventOutcome.Done, KeyBefore: not null } && one.Collection == collection
            && one.KeyBefore != one.KeyAfter)
        .Select(one => one.KeyBefore!);

    /// <summary>The routes by donor and recipient.</summary>
    public IEnumerable<((string From, string To) Route, MoveSum Sum)> Routes => _routes.Select(static pair => (pair.Key, pair.Value));

    /// <summary>Those that began in the step; in the order of the run's checkpoints.</summary>
    public IReadOnlyList<MoveSum> Steps => _steps;

    private void Add(ChunkEvent happened)
    {
        if (happened.Kind != ChunkEventKind.Migration)
        {
            if (happened.Kind == ChunkEventKind.Resharding)
                _reshardings.Add(happened);
            Splits += happened.Kind == ChunkEventKind.Split ? 1 : 0;
            Merges += happened.Kind == ChunkEventKind.Merge ? 1 : 0;
            return;
        }

        (string, string) route = (happened.From, happened.To ?? "");
        _routes[route] = _routes.GetValueOrDefault(route, MoveSum.None).Plus(happened);
        All = All.Plus(happened);
        int step = Array.FindIndex(_stepEnds, end => happened.AtMilliseconds <= end);
        if (step >= 0)
            _steps[step] = _steps[step].Plus(happened);
    }
}
