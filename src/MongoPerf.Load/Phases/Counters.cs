using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>What was counted of one operation in one part of a group's time (warm-up, or measured).</summary>
/// <remarks>
/// A worker writes its own, and the sampler reads it meanwhile: counts only grow. The same type adds up those of several workers.
/// </remarks>
/// <param name="isPaced">Operations are due at times of their own.</param>
/// <param name="steps">How many of the operation's steps are timed by themselves; 0 for an operation without steps.</param>
/// <param name="watches">The operation watches a collection.</param>
/// <param name="isRecorded">The operation comes from a recording.</param>
internal sealed class Counters(bool isPaced, int steps = 0, bool watches = false, bool isRecorded = false)
{
    /// <summary>Succeeded.</summary>
    public long Operations;

    /// <summary>Inserted, changed or returned; also what a refused batch got in.</summary>
    public long Documents;

    /// <summary>The bytes of these documents.</summary>
    public long Bytes;

    /// <summary>Operations.</summary>
    public long Failed;

    /// <summary>Replies with fewer documents than the query's limit.</summary>
    public long Short;

    /// <summary>Succeeded operations without a document in their reply, or that they matched.</summary>
    public long Empty;

    /// <summary>Succeeded operations that left what they matched as it was.</summary>
    public long Unchanged;

    /// <summary>Documents that succeeded operations changed.</summary>
    public long Modified;

    /// <summary>Documents that were compared with what must have come.</summary>
    public long Verified;

    /// <summary>Those among them that differed.</summary>
    public long Wrong;

    /// <summary>Succeeded operations that began before this part and ended in it.</summary>
    public InFlight AtStart;

    /// <summary>Operations that this program ended without a reply.</summary>
    public InFlight AtEnd;

    /// <summary>Service times of succeeded operations.</summary>
    public LatencyHistogram Service { get; } = new();

    /// <summary>What a rate adds; null in a closed loop.</summary>
    public PacedCounters? Paced { get; } = isPaced ? new() : null;

    /// <summary>What steps add; null for an operation without steps.</summary>
    public StepCounters? Steps { get; } = steps > 0 ? new(steps) : null;

    /// <summary>What watching a collection adds; null for any other operation.</summary>
    public ChangeCounters? Changes { get; } = watches ? new() : null;

    /// <summary>What a recording adds; null for any other operation.</summary>
    public ReplyCounters? Replies { get; } = isRecorded ? new() : null;

    public static Counters Of(Operation operation, bool isPaced) =>
        new(isPaced && operation is not ConnectionUse, operation.TimedSteps.Count, operation is WatchChanges,
            operation is RecordedOperation);

    public static Counters Sum(IEnumerable<Counters> all, Operation operation, bool isPaced)
    {
        Counters sum = Of(operation, isPaced);
        foreach (Counters counters in all)
        {
            sum.Add(counters);
            if (sum.Paced is { } paced)
                counters.Paced?.ClientLateness.AddTo(paced.ClientLateness);
        }

        return sum;
    }

    public void Clear()
    {
        Operations = Documents = Bytes = Failed = Short = Empty = Unchanged = Modified = Verified = Wrong = 0;
        AtStart = AtEnd = default;
        Service.Clear();
        Paced?.Clear();
        Steps?.Clear();
        Changes?.Clear();
        Replies?.Clear();
    }

    /// <param name="outcome">Of an operation that succeeded.</param>
    public void CountEffect(in OperationOutcome outcome)
    {
        Modified += outcome.Modified;
        if (outcome.Documents == 0)
            Empty++;
        else if (outcome.ChangedNothing)
            Unchanged++;
    }

    /// <summary>What came to nothing; null where no reply of the operation tells.</summary>
    public EffectResult? EffectOf(Operation operation) => operation.Finds || operation.Matches || operation.Modifies
        ? new EffectResult(operation.Finds ? Empty : null, operation.Matches ? Empty : null, operation.Modifies ? Unchanged : null)
        {
            Modified = operation.Modifies ? Modified : null,
        }
        : null;

    /// <summary>All but the client's own lateness, which is reported for whole phases only.</summary>
    public void Add(Counters counters)
    {
        Operations += Volatile.Read(ref counters.Operations);
        Documents += Volatile.Read(ref counters.Documents);
        Bytes += Volatile.Read(ref counters.Bytes);
        Failed += Volatile.Read(ref counters.Failed);
        Short += Volatile.Read(ref counters.Short);
        Empty += Volatile.Read(ref counters.Empty);
        Unchanged += Volatile.Read(ref counters.Unchanged);
        Modified += Volatile.Read(ref counters.Modified);
        Verified += Volatile.Read(ref counters.Verified);
        Wrong += Volatile.Read(ref counters.Wrong);
        AtStart.Add(in counters.AtStart);
        AtEnd.Add(in counters.AtEnd);
        counters.Service.AddTo(Service);
        if (Paced is not null)
            counters.Paced?.AddTo(Paced);
        if (Steps is not null)
            counters.Steps?.AddTo(Steps);
        if (Changes is not null)
            counters.Changes?.AddTo(Changes);
        if (Replies is not null)
            counters.Replies?.AddTo(Replies);
    }
}

/// <summary>What was counted of an operation's steps, and of its transactions; as <see cref="Counters"/>.</summary>
internal sealed class StepCounters(int count)
{
    public long Committed;
    public long Aborted;
    public long RolledBack;
    public long Retried;
    public long CommitRetried;
    public long Unknown;
    public long RetryTicks;
    public long TransactionTicks;

    /// <summary>Those of each step, however often an operation does it.</summary>
    public IReadOnlyList<Counters> Each { get; } = [.. Enumerable.Range(0, count).Select(_ => new Counters(isPaced: false))];

    /// <param name="log">Of one operation.</param>
    /// <param name="ticksToNanoseconds">Of the clock.</param>
    public void Add(StepLog log, double ticksToNanoseconds)
    {
        foreach ((int step, long ticks, bool succeeded, OperationOutcome outcome) in log.Entries)
        {
            Counters counters = Each[step];
            if (succeeded)
            {
                counters.Service.RecordNanoseconds((long)(ticks * ticksToNanoseconds));
                counters.Operations++;
                counters.CountEffect(outcome);
            }
            else
            {
                counters.Failed++;
            }
        }

        Committed += log.Committed;
        Aborted += log.Aborted;
        RolledBack += log.RolledBack;
        Retried += log.Retried;
        CommitRetried += log.CommitRetried;
        Unknown += log.Unknown;
        RetryTicks += log.RetryTicks;
        TransactionTicks += log.TransactionTicks;
    }

    public void Clear()
    {
        Committed = Aborted = RolledBack = Retried = CommitRetried = Unknown = RetryTicks = TransactionTicks = 0;
        foreach (Counters counters in Each)
            counters.Clear();
    }

    public void AddTo(StepCounters sum)
    {
        sum.Committed += Volatile.Read(ref Committed);
        sum.Aborted += Volatile.Read(ref Aborted);
        sum.RolledBack += Volatile.Read(ref RolledBack);
        sum.Retried += Volatile.Read(ref Retried);
        sum.CommitRetried += Volatile.Read(ref CommitRetried);
        sum.Unknown += Volatile.Read(ref Unknown);
        sum.RetryTicks += Volatile.Read(ref RetryTicks);
        sum.TransactionTicks += Volatile.Read(ref TransactionTicks);
        for (int i = 0; i < Each.Count; i++)
            sum.Each[i].Add(Each[i]);
    }
}

/// <summary>What watchers have seen; as <see cref="Counters"/>.</summary>
internal sealed class ChangeCounters
{
    public long Followed;
    public long Duplicated;
    public long Misordered;
    public long Resumed;
    public long Missing;
    public long Unsettled;

    public void Add(ChangeLog log)
    {
        Followed += log.Delays.Length;
        Duplicated += log.Duplicated;
        Misordered += log.Misordered;
        Resumed += log.Resumed;
        Missing += log.Missing;
        Unsettled += log.Unsettled;
    }

    public void Clear() => Followed = Duplicated = Misordered = Resumed = Missing = Unsettled = 0;

    public void AddTo(ChangeCounters sum)
    {
        sum.Followed += Volatile.Read(ref Followed);
        sum.Duplicated += Volatile.Read(ref Duplicated);
        sum.Misordered += Volatile.Read(ref Misordered);
        sum.Resumed += Volatile.Read(ref Resumed);
        sum.Missing += Volatile.Read(ref Missing);
        sum.Unsettled += Volatile.Read(ref Unsettled);
    }
}

/// <summary>How many operations were under way at one end of a part, and how long the slowest of them lasted.</summary>
internal struct InFlight
{
    public long Operations;
    public long LongestNanoseconds;

    public void Note(long nanoseconds)
    {
        Operations++;
        LongestNanoseconds = Math.Max(LongestNanoseconds, nanoseconds);
    }

    public void Add(in InFlight other)
    {
        Operations += Volatile.Read(in other.Operations);
        LongestNanoseconds = Math.Max(LongestNanoseconds, Volatile.Read(in other.LongestNanoseconds));
    }
}

/// <summary>How late operations were that had a time to start at; as <see cref="Counters"/>, and of succeeded ones.</summary>
internal sealed class PacedCounters
{
    /// <summary>The response times, from when operations were due to their replies.</summary>
    public LatencyHistogram Response { get; } = new();

    /// <summary>The lateness, from when operations were due to their starts.</summary>
    public LatencyHistogram Lateness { get; } = new();

    /// <summary>The lateness of those for which a connection was free when they were due.</summary>
    public LatencyHistogram ClientLateness { get; } = new();

    public void Clear()
    {
        Response.Clear();
        Lateness.Clear();
        ClientLateness.Clear();
    }

    /// <summary>All but the client's own.</summary>
    public void AddTo(PacedCounters sum)
    {
        Response.AddTo(sum.Response);
        Lateness.AddTo(sum.Lateness);
    }
}
