using MongoPerf.Load.Failures;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>What the workers of one group share: its limits, its end, its errors.</summary>
internal sealed class GroupControl(GroupPlan plan, IClock clock, IGroupObserver observer)
{
    /// <summary>
    /// An arrival that is due just before the end may start a moment after it, so that it does not count as skipped for a reply that
    /// took a little longer.
    /// </summary>
    private const double GraceSeconds = 0.05;

    private readonly List<IParker> _parkers = [];
    private long _refused;
    private long _operationsLeft = plan.Count ?? long.MaxValue;
    private volatile bool _stopped;
    private volatile bool _aborted;
    private long _stoppedAt = long.MaxValue;
    private long _startsUntil = long.MaxValue;

    public GroupPlan Plan { get; } = plan;

    public IClock Clock { get; } = clock;

    public IGroupObserver Observer { get; } = observer;

    /// <summary>Its threads that have no server just now.</summary>
    public LostThreads Lost { get; } = new(clock, observer);

    /// <summary>One for each of <see cref="GroupPlan.Counted"/>.</summary>
    public IReadOnlyList<ErrorTally> Errors { get; } = [.. plan.Counted.Select(_ => new ErrorTally())];

    /// <summary>Whose connections its threads borrow; null where each has its own, or a client with a pool.</summary>
    public ConnectionPool? Pool { get; set; }

    /// <summary>When all connections are opened at once; null where they are not.</summary>
    public ConnectionStorms? Storms => field ??=
        Plan.Connections is { Kind: ConnectionKind.Storm } ? new ConnectionStorms(Plan.Threads, Clock, Observer, WakeAll) : null;

    /// <summary>Documents that the server refused while a collection was filled, of all workers.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <returns>How many there are with these.</returns>
    public long CountRefused(int documents) => Interlocked.Add(ref _refused, documents);

    /// <summary>Operations that end after this are measured; ticks.</summary>
    public long MeasureFrom { get; private set; }

    /// <summary>Nothing starts from here on; ticks.</summary>
    public long EndAt { get; private set; } = long.MaxValue;

    public bool IsStopped => _stopped;

    /// <summary>What is counted of its operations: each worker counts in one of these.</summary>
    public IReadOnlyList<Lane> Lanes { get; } = Lane.Of(plan);

    /// <summary>When the operations of a rate are due; null in a closed loop.</summary>
    public ArrivalStream? Arrivals { get; } =
        plan.Rate is { } rate ? new ArrivalStream(rate, clock.TicksPerSecond, plan.Seed, plan.Share) : null;

    /// <summary>Its workers that are free for one of <see cref="Arrivals"/>; null in a closed loop.</summary>
    public FreeWorkers? Free => field ??= Arrivals is null ? null : new FreeWorkers(Arrivals, Clock);

    /// <summary>
    /// Arrivals from here on belong to the group no more: its end, or a moment before it was stopped, so that none counts as skipped that
    /// was about to start; ticks.
    /// </summary>
    public long DueBefore => Math.Min(
        EndAt, Volatile.Read(ref _stoppedAt) is var stopped && stopped == long.MaxValue ? stopped : stopped - Clock.TicksOf(GraceSeconds));

    /// <summary>The numbers that it inserts ran out: there is nothing left to do for arrivals.</summary>
    public bool HasRunOut { get; set; }

    /// <summary>Operations under way are ended by their connections.</summary>
    public bool IsAborted => _aborted;

    /// <summary>Ticks.</summary>
    public long StartedAt { get; private set; }

    public void Begin(long start)
    {
        StartedAt = start;
        MeasureFrom = start + Clock.TicksOf(Plan.WarmupSeconds);
        if (Plan.Seconds is { } seconds)
            EndAt = start + Clock.TicksOf(seconds);
        _startsUntil = Arrivals is null || EndAt == long.MaxValue ? EndAt : EndAt + Clock.TicksOf(GraceSeconds);
        Arrivals?.Start(start, MeasureFrom);
        Free?.Begin(EndAt);
        Storms?.Start(start);
    }

    /// <summary>Workers end after the operation they are at; those that wait end at once.</summary>
    public void Stop()
    {
        Interlocked.CompareExchange(ref _stoppedAt, Clock.Now, long.MaxValue);
        _stopped = true;
        WakeAll();
    }

    /// <returns>Where a worker waits.</returns>
    public IParker CreateParker()
    {
        IParker parker = Clock.CreateParker();
        lock (_parkers)
            _parkers.Add(parker);
        return parker;
    }

    /// <summary>Has all workers that wait look again whether they need to.</summary>
    public void WakeAll()
    {
        lock (_parkers)
            _parkers.ForEach(static parker => parker.Unpark());
    }

    /// <summary>Does the same as <see cref="Stop"/>, after the patience for the operations under way.</summary>
    public void Abort()
    {
        Stop();
        _aborted = true;
    }

    /// <summary>It is not stopped, and a count leaves something to do.</summary>
    public bool HasOperationsLeft => !_stopped && (Plan.Count is null || Volatile.Read(ref _operationsLeft) > 0);

    /// <summary>Takes one operation from those left.</summary>
    public bool MayStart(long now)
    {
        if (_stopped || now >= _startsUntil)
            return false;
        if (Plan.Count is null)
            return true;
        long left = Interlocked.Decrement(ref _operationsLeft);
        // Whoever waits for its turn when others do the last operation would only make the group longer.
        if (left == 0)
            WakeAll();
        return left >= 0;
    }
}
