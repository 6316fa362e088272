using MongoPerf.Load.Collections;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>How a plan is carried out, beside what it says.</summary>
public sealed record PlanRunOptions
{
    /// <summary>The seed of the documents and of everything drawn.</summary>
    public required ulong Seed { get; init; }

    /// <summary>
    /// How often the run's command has begun with the same work, 1-based: each time its operations ask for other documents.
    /// </summary>
    public int Repeat { get; init; } = 1;

    /// <summary>0 to 1: the share of replies whose documents are compared, where it is known what must come.</summary>
    public double VerifyShare { get; init; }

    /// <summary>Failures that the run may have: so many documents of a load, or of a growth's step, may meet a duplicate key.</summary>
    public long MaxErrors { get; init; }

    /// <summary>How long a lost server is waited for.</summary>
    public TimeSpan ReconnectFor { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Asked once a second: a sentence ends the run cleanly, null lets it continue.</summary>
    public Func<string?> ReasonToStop { get; init; } = () => null;

    /// <summary>Which of several clients' parts of the plan this is.</summary>
    public PlanShare Share { get; init; } = PlanShare.Whole;

    /// <summary>
    /// Waits until all clients have come to a point of the plan (<see cref="RunContext.Meet"/>) or beyond, or until one of them won't come,
    /// or the run is stopped; called by several threads.
    /// </summary>
    public Func<long, CancellationToken, Meeting> Meet { get; init; } = static (_, _) => new Meeting();

    /// <summary>
    /// Begins to watch a group, which is named; what it returns gets each second's samples, on the sampler's thread, and says
    /// whether that was enough.
    /// </summary>
    public Func<Until, string, Func<IReadOnlyList<Sample>, bool>> Watch { get; init; } = static (_, _) => static _ => false;

    /// <summary>Called before each phase but a load: waits until secondaries have what earlier phases wrote.</summary>
    public Action<CancellationToken> AwaitReplication { get; init; } = static _ => { };

    /// <summary>Looks into the server's data folder; null where that is not to be seen.</summary>
    public Func<DiskUse?> MeasureDisk { get; init; } = () => null;

    /// <summary>Ends the run's own server and starts it again; never called with <see cref="ServerRestart.None"/>.</summary>
    public Action<ServerRestart> Restart { get; init; } = _ =>
        throw new NotSupportedException("there is no server that could be started again");
}

/// <summary>What all parts of a run share: where it acts, where it stores, and what it has come to so far.</summary>
/// <remarks>One thread, except <see cref="Report"/> and <see cref="MayGoOn()"/>.</remarks>
public sealed class RunContext(
    IClock clock, GroupRunner groups, IDataStore data, RunStore store, IRunObserver observer, PlanRunOptions options)
{
    private static readonly Meeting Alone = new();

    public IClock Clock { get; } = clock;

    public GroupRunner Groups { get; } = groups;

    public IDataStore Data { get; } = data;

    public RunStore Store { get; } = store;

    public IRunObserver Observer { get; } = observer;

    public PlanRunOptions Options { get; } = options;

    /// <summary>An operation has failed since the last checkpoint: what it wrote may be missing.</summary>
    public bool HasFailedSinceCheckpoint { get; set; }

    /// <summary>Why the run is to end before its time; null while it may continue.</summary>
    public string? StopReason { get; private set; }

    /// <summary>The keys by collection: the numbers that are there.</summary>
    internal Dictionary<string, KeySpace> Keys { get; } = [];

    /// <summary>Collections whose documents only the server can count, since some were removed, upserted or refused.</summary>
    internal HashSet<string> Uncounted { get; } = [];

    /// <summary>Collections of which inserts have failed: nobody knows which of their documents are there.</summary>
    internal HashSet<string> Incomplete { get; } = [];

    /// <summary>Operations of which it was said that the server gives no plan: of a growth's it would be said at each size.</summary>
    internal HashSet<string> Unexplained { get; } = [];

    /// <summary>
    /// What is missing by the leave of <see cref="PlanRunOptions.MaxErrors"/>: nobody knows what a read of these collections brings.
    /// </summary>
    internal RefusedDocuments Refused { get; set; } = new();

    /// <summary>Waits for the other clients, where there are any.</summary>
    /// <param name="phase">Number of a record.</param>
    /// <param name="stage">The stage in the phase.</param>
    /// <param name="stop">Ends it early.</param>
    /// <returns>False when the run is to end here.</returns>
    internal bool Meet(int phase, MeetingStage stage, CancellationToken stop) => Join(phase, stage, stop) is not null;

    /// <inheritdoc cref="Meet"/>
    /// <returns>Null when the run is to end here.</returns>
    internal Meeting? Join(int phase, MeetingStage stage, CancellationToken stop)
    {
        if (Options.Share.IsWhole)
            return Alone;
        Meeting met = Options.Meet(Meeting.PositionOf(phase, stage), stop);
        StopReason ??= met.Reason;
        return StopReason is null && !stop.IsCancellationRequested ? met : null;
    }

    public bool MayGoOn() => (StopReason ??= Options.ReasonToStop()) is null;

    public bool MayGoOn(CancellationToken stop) => !stop.IsCancellationRequested && MayGoOn();

    public void Report(string kind, string text, double? seconds = null)
    {
        var happened = new RunEvent(Clock.UtcNow.ToUnixTimeMilliseconds(), kind, text, seconds);
        Store.AddEvent(happened);
        Observer.OnEvent(happened);
    }

    /// <summary>Goes on without documents that a unique index has refused.</summary>
    /// <param name="collection">The collection in which they are missing.</param>
    /// <param name="numbers">
    /// The numbers of these documents; they are stored with the run, so that a resumed one knows them, too, and in the marker where
    /// documents can be found by their numbers.
    /// </param>
    /// <param name="why">What the server says of one.</param>
    internal void GoOnWithout(PlanCollection collection, IReadOnlyList<NumberRange> numbers, string why)
    {
        long count = numbers.Sum(range => range.Count);
        AddRefused(collection, numbers);
        if (Data.FindsDocuments(collection))
            Data.NoteRefused(collection, numbers);
        Report("refused", $"{count:N0} {(count == 1 ? "document" : "documents")} of {collection.Name} can't be stored: {why}");
    }

    /// <summary>Learns which documents the run's other clients, or the runs before it, went on without.</summary>
    internal void LearnRefused(PlanCollection collection)
    {
        if (Data.FindsDocuments(collection) && Data.Inspect(collection.Stored[^1]).Marker is { Refused: { Count: > 0 } refused })
            AddRefused(collection, refused);
    }

    private void AddRefused(PlanCollection collection, IReadOnlyList<NumberRange> numbers)
    {
        Refused.Add(collection.Name, numbers);
        Store.SetNote(RefusedDocuments.Note, Refused.ToText());
    }

    /// <summary>The collection is made anew.</summary>
    internal void ForgetRefused(string collection)
    {
        if (Refused.Remove(collection))
            Store.SetNote(RefusedDocuments.Note, Refused.ToText());
    }

    /// <returns>False when the run was stopped meanwhile.</returns>
    internal bool Wait(double seconds, CancellationToken stop)
    {
        long until = Clock.Now + Clock.TicksOf(seconds);
        while (seconds > 0 && Clock.Now < until && !stop.IsCancellationRequested)
            Clock.SleepUntil(Math.Min(until, Clock.Now + (Clock.TicksPerSecond / 20)));
        return !stop.IsCancellationRequested;
    }
}
