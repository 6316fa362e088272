using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;

namespace MongoPerf.Load.Phases;

/// <summary>What the threads of one group do, for a count or a time.</summary>
public sealed record GroupPlan
{
    /// <summary>Number of the phase's record, under which samples are stored.</summary>
    public int Phase { get; init; } = 1;

    /// <summary>The name for events, such as read, or read.writers.</summary>
    public required string Name { get; init; }

    /// <summary>One or more; several are drawn by their weights, and those of one name are counted together.</summary>
    public required IReadOnlyList<WeightedOperation> Operations { get; init; }

    public required int Threads { get; init; }

    /// <summary>
    /// Threads of the phase's groups before this one: which of several equal servers a worker uses goes by its number among all.
    /// </summary>
    public int FirstThread { get; init; }

    /// <summary>Which of several clients' this is: arrivals are shared among them, and their workers draw from different streams.</summary>
    public PlanShare Share { get; init; } = PlanShare.Whole;

    /// <summary>
    /// Called when all connections are open and all threads wait; returns when the group is to begin, ticks of the clock.
    /// Null begins at once.
    /// </summary>
    public Func<long?> BeforeStart { get; init; } = static () => null;

    /// <summary>The seed of the group's streams: of its arrivals, and of each worker's operations, weights and times to think.</summary>
    public required ulong Seed { get; init; }

    /// <summary>Where inserts take their numbers; the group ends when they run out.</summary>
    public NumberSource? Numbers { get; init; }

    /// <summary>Each thread takes its numbers from an unbroken range of its own, not whichever comes next.</summary>
    public bool HasRanges { get; init; }

    /// <summary>
    /// Each thread notes when it has done so many: documents where the group has <see cref="Numbers"/>, operations otherwise.
    /// Null notes nothing.
    /// </summary>
    public long? Lap { get; init; }

    /// <summary>Warm-up included; null has no limit of time. Limits starts, not ends: an operation under way is waited for.</summary>
    public double? Seconds { get; init; }

    /// <summary>The warm-up in seconds, from the start; operations that end in it are counted apart.</summary>
    public double WarmupSeconds { get; init; }

    /// <summary>Operations over all threads, warm-up included; null has no limit of number.</summary>
    public long? Count { get; init; }

    /// <summary>When operations are due; null starts each when the one before has ended.</summary>
    public RatePlan? Rate { get; init; }

    /// <inheritdoc cref="PhaseGroup.Script"/>
    public ScriptPlan? Script { get; init; }

    /// <summary>Operations are due at times of their own.</summary>
    internal bool IsPaced => Rate is not null || Script is { IsPaced: true };

    /// <summary>The pause between a reply and the next operation of the same thread; null for none. There is none with a rate.</summary>
    public ThinkTime? Think { get; init; }

    /// <summary>How the threads come by their connections; null where each has its own throughout.</summary>
    public ConnectionUse? Connections { get; init; }

    /// <summary>How many of the threads are at work from when on; empty for all of them throughout.</summary>
    public IReadOnlyList<ThreadStep> ThreadSteps { get; init; } = [];

    /// <summary>0 to 1: the share of replies whose documents are compared.</summary>
    public double VerifyShare { get; init; }

    /// <summary>
    /// For a group that fills a collection: beyond so many documents that the server refuses it ends; null for any other group.
    /// </summary>
    public long? MaxRefused { get; init; }

    /// <summary>How long a worker tries to connect again before the group is given up.</summary>
    public TimeSpan ReconnectFor { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>How many documents the collection has when the group starts, as far as the client knows.</summary>
    public long CollectionDocuments { get; init; }

    /// <summary>Which of the streams under <see cref="Seed"/> are a worker's: of several clients each worker draws differently.</summary>
    /// <remarks>
    /// All clients have as many threads, but where connections that are opened at once are divided among them: the first ones may have one
    /// more.
    /// </remarks>
    /// <param name="worker">0-based.</param>
    internal int StreamOf(int worker) => worker + (Connections is { Kind: ConnectionKind.Storm, Count: var all }
        ? (int)Share.Of(new NumberRange(0, all)).First : Share.Index * Threads);

    /// <summary>The operations that are counted apart, by name.</summary>
    public IReadOnlyList<Operation> Parts => [.. Operations.Select(o => o.Operation).DistinctBy(o => o.Name)];

    /// <summary>All that is counted apart: <see cref="Parts"/>, and behind them what it takes to have a connection.</summary>
    public IReadOnlyList<Operation> Counted => Connections is null ? Parts : [.. Parts, Connections];
}
