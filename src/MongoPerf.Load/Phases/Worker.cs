using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Load.Phases;

/// <summary>One thread of load: its own connection, random streams, histograms and counters.</summary>
/// <remarks>
/// The loop holds only what every operation needs. Between the two time stamps of an operation nothing formats, logs, locks or
/// allocates; failures, reconnecting and verification are outside of it.
/// </remarks>
internal sealed class Worker : IDisposable
{
    /// <summary>How long before its time a script's operation is put together: longer than that takes for a batch.</summary>
    private const double DrawAheadSeconds = 0.005;

    /// <summary>
    /// A shorter wait ends to the microsecond, for which the thread is awake at its end; a longer one may end some 50 µs late instead:
    /// thousands that spin would take one another's processors.
    /// </summary>
    private const double PunctualSeconds = 0.01;

    private readonly GroupControl _control;
    private readonly IClock _clock;
    private readonly IOperationExecutor _executor;
    private readonly IPreparedOperation _operation;
    private readonly IChoosingOperation? _mix;
    private readonly IScriptedOperation? _script;
    private readonly bool _isPaced;
    private readonly MemberCounts _members;
    private readonly WorkerConnections? _connections;
    private readonly IParker _parker;
    private readonly FreeWorkers? _line;
    private readonly FreeWorkers.Place _place;
    private readonly WorkTimes? _times;
    private readonly LapRecorder? _laps;
    private readonly bool _lapsCountDocuments;
    private Backoff _failureBackoff;
    private bool _refusedInARow;
    private long _refusedSince;
    private long _free;
    private Outage? _outage;
    private readonly int[] _fullReplies;
    private readonly Lane _lane;
    private readonly bool _isWatched;
    private readonly ChangeLog? _changes;
    private readonly ulong _verifyBelow;
    private readonly double _ticksToNanoseconds;
    private RandomStream _verification;

    public Worker(GroupControl control, IOperationExecutor executor, int index)
    {
        GroupPlan plan = control.Plan;
        _control = control;
        _clock = control.Clock;
        _executor = executor;
        int stream = plan.StreamOf(index);
        var context = new OperationContext(plan.Seed, stream, plan.HasRanges ? plan.Numbers?.Range(index, plan.Threads) : plan.Numbers)
        {
            Clock = _clock, Thread = plan.FirstThread + index,
        };
        _script = plan.Script is null ? null : executor.PrepareScript(index);
        _mix = _script ?? (plan.Operations.Count > 1 ? new MixedOperation(executor, plan, context) : (IChoosingOperation?)null);
        _operation = _mix ?? executor.Prepare(plan.Operations[0].Operation, context.Of(plan.Operations[0].Operation));
        _changes = _operation.Changes;
        _members = _mix is null ? new MemberCounts([_operation], [0]) : new MemberCounts(_mix.Operations, _mix.Parts);
        _connections = WorkerConnections.Find(control, executor);
        _parker = control.CreateParker();
        _line = control.Free;
        _place = new FreeWorkers.Place(_parker);
        _isPaced = plan.IsPaced;
        _times = WorkTimes.Find(control, index);
        Overslept = _times is null ? null : 0;
        _laps = plan.Lap is { } lap ? new LapRecorder(lap) : null;
        _lapsCountDocuments = plan.Numbers is not null;
        _failureBackoff = new Backoff(_clock, 0.001, 0.1);
        IReadOnlyList<Operation> parts = plan.Parts;
        _fullReplies = [.. parts.Select(part => part.FullReply)];
        _verification = RandomStream.For(plan.Seed, RandomPurpose.Verification, stream);
        // All of 2^64 and more become the greatest number.
        _verifyBelow = (ulong)(plan.VerifyShare * ulong.MaxValue);
        _isWatched = plan.Operations.SelectMany(item => item.Operation.Leaves.Prepend(item.Operation))
            .Any(operation => operation.Tracked is { AreWatched: true });
        _ticksToNanoseconds = 1e9 / _clock.TicksPerSecond;
        _lane = control.Lanes[index % control.Lanes.Count];
    }

    /// <summary>Operations that succeeded in the measured part.</summary>
    public long Operations { get; private set; }

    /// <summary>The counts of the measured part, whole when the worker has ended.</summary>
    public MemberCounts Members => _members;

    /// <summary>When it woke for the group's start.</summary>
    public DateTimeOffset StartedAt { get; private set; }

    /// <summary>Operations that were started.</summary>
    public long Scheduled { get; private set; }

    /// <summary>With a rate, the arrivals that it had taken and that were due before the group's end, but not started: 1 at most.</summary>
    public long Missed { get; private set; }

    /// <summary>Ticks at the start of the last operation; 0 in a closed loop.</summary>
    public long LastPacedStart { get; private set; }

    /// <summary>How much longer it thought than it was to, in the measured part, ticks; null where it does not think.</summary>
    public long? Overslept { get; private set; }

    /// <summary>When nothing was left to send; ticks.</summary>
    public long SentAt { get; private set; }

    /// <summary>When the fence was done, in ticks.</summary>
    public long CompletedAt { get; private set; }

    /// <summary>Why the worker gave up; null when it did not.</summary>
    public Exception? GivenUp { get; private set; }

    /// <summary>Empty when the plan asks for none.</summary>
    public IReadOnlyList<LapTime> Laps => _laps?.Times ?? [];

    /// <summary>Set while the worker has no connection.</summary>
    public bool IsDown { get; private set; }

    /// <summary>It opens a connection between operations. For any thread.</summary>
    public bool IsOpening => _connections is { IsOpening: true };

    /// <summary>It waits for the last events of a change stream. For any thread.</summary>
    public bool IsDraining { get; private set; }

    /// <inheritdoc cref="IOperationExecutor.Traffic"/>
    public TrafficCounters? Traffic => _executor.Traffic;

    /// <inheritdoc cref="IOperationExecutor.Compressor"/>
    public string? Compressor => _executor.Compressor;

    /// <summary>Waits for the start and runs to the group's end.</summary>
    public void Run(long start)
    {
        // To the microsecond: clients of several machines begin together.
        if (WaitUntil(start - _clock.TicksOf(DrawAheadSeconds)))
            _clock.SleepUntil(start);
        StartedAt = _clock.UtcNow;
        SentAt = CompletedAt = _free = start;
        try
        {
            _connections?.Begin();
            long due = 0;
            // The end of one operation is when the next may start: the clock is read twice an operation, not three times. Numbers that
            // were drawn are always sent: nothing may come between drawing and starting.
            while (HasConnection() && (_times is null || WaitForTurn(_times)) && _control.MayStart(_free)
                && (_script is not null ? DrawNextOfScript(_script, start, out due)
                    : _line is null ? _operation.Draw() : DrawNextArrival(_line, out due)))
            {
                if (_changes is not null)
                    Watch(_changes);
                else if (_connections is null)
                    RunOne(due);
                else
                    RunOne(due, _connections);
            }

            Complete();
        }
        catch (Exception e)
        {
            GivenUp = e;
            _control.Stop();
        }

        _members.Flush();
    }

    public void Dispose()
    {
        _connections?.Dispose();
        _executor.Dispose();
    }

    public void Abort() => _executor.Abort();

    /// <summary>Where all connections are opened at once: opens its own.</summary>
    /// <returns>True, unless the group was stopped before it had one.</returns>
    private bool HasConnection()
    {
        if (_connections is not { MustOpen: true } connections)
            return true;
        connections.Join();
        bool isOpen;
        try
        {
            isOpen = Connect() > 0;
        }
        finally
        {
            CountConnections(connections);
        }

        if (isOpen)
            connections.CountOpen();
        _free = Math.Max(_free, _clock.Now);
        return isOpen;
    }

    /// <param name="ticks">Until when it waits.</param>
    /// <param name="isWorthIt">Whether there is still a reason to wait; whoever takes that away wakes all workers.</param>
    /// <returns>False when there is none any more.</returns>
    private bool Wait(long ticks, Func<Worker, bool> isWorthIt)
    {
        while (isWorthIt(this))
        {
            long left = ticks - _clock.Now;
            if (left <= 0)
                return true;
            if (left < _clock.TicksOf(PunctualSeconds))
                _clock.SleepUntil(ticks);
            else
                _parker.ParkUntil(ticks);
        }

        return false;
    }

    private bool WaitUntil(long ticks) => Wait(ticks, static worker => !worker._control.IsStopped);

    private bool WaitForTurn(WorkTimes times)
    {
        long free = _free;
        if (times.NextTurn(free, _mix?.Part ?? 0) is not { } turn
            || !Wait(turn, static worker => worker._control.HasOperationsLeft && worker.HasConnection()) || turn >= _control.EndAt)
            return false;
        // While it had no turn it was not free for arrivals.
        long now = Math.Max(_free, _clock.Now);
        // Where it opened its connection meanwhile, it is free from then on.
        if (turn > free && now > _control.MeasureFrom)
            Overslept += now - Math.Max(turn, _free);
        _free = now;
        return true;
    }

    /// <summary>
    /// Takes an arrival that is nearly due, and puts its operation together before it is, so that this makes it no later.
    /// </summary>
    /// <returns>False when the group ends before that, or has run out of numbers.</returns>
    private bool DrawNextArrival(FreeWorkers line, out long due)
    {
        if (!TakeArrival(line, out due))
            return false;
        if (_control.IsStopped || due >= _control.EndAt || !HasConnection())
        {
            if (due < _control.DueBefore)
                Missed++;
            return false;
        }

        if (!_operation.Draw())
        {
            _control.HasRunOut = true;
            return false;
        }

        // What was drawn is always sent.
        _clock.SleepUntil(due);
        return true;
    }

    /// <returns>False when the group was stopped before there was one.</returns>
    private bool TakeArrival(FreeWorkers line, out long due)
    {
        while (!line.TryTake(_place, _free, out due, out long wakeAt))
        {
            if ((_control.IsStopped || _connections is { MustOpen: true }) && line.TryLeave(_place))
            {
                if (_control.IsStopped || !HasConnection())
                    return false;
            }
            else
            {
                _parker.ParkUntil(wakeAt);
            }
        }

        return true;
    }

    /// <summary>Takes what the script has next, and waits for its time where it has one.</summary>
    /// <returns>False when there is nothing left, or the group ends.</returns>
    private bool DrawNextOfScript(IScriptedOperation script, long start, out long due)
    {
        due = 0;
        if (!script.TryTake(out double seconds))
            return false;
        if (!_isPaced)
            return script.Draw();
        due = start + _clock.TicksOf(seconds);
        if (!WaitUntil(due - _clock.TicksOf(DrawAheadSeconds)) || !script.Draw())
            return false;
        _clock.SleepUntil(due);
        return true;
    }

    /// <summary>Runs one operation on a connection that is borrowed or opened for it.</summary>
    private void RunOne(long due, WorkerConnections connections)
    {
        try
        {
            RunOne(due);
        }
        finally
        {
            connections.Release();
            CountConnections(connections);
            // The next connection may lead to another server.
            _members.Flush();
            _free = _clock.Now;
        }
    }

    private void CountConnections(WorkerConnections connections) =>
        connections.CountInto(_fullReplies.Length, _lane);

    /// <param name="due">When it was meant to start; only where operations are paced.</param>
    private void RunOne(long due)
    {
        Scheduled++;
        long free = _free;
        long start = _clock.Now;
        bool answered = TryExecute(out OperationOutcome outcome, out Exception? failure);
        long end = _clock.Now;
        if (_isPaced)
            LastPacedStart = start;
        _free = end;

        int part = _mix is null ? 0 : _mix.Part;
        // Where it ends: what lies across the end of the warm-up would else be in the samples of the measured part, but in
        // none of its figures.
        bool isMeasured = end > _control.MeasureFrom || start >= _control.MeasureFrom;
        bool succeeded = answered && outcome.Succeeded;
        // What this program has ended itself neither succeeded nor failed: it counts as skipped.
        bool failed = !succeeded && (failure is null || !_control.IsAborted);
        Lane lane = _lane.Enter();
        Counters counters = lane.CountersOf(part, isMeasured);
        counters.Steps?.Add(_operation.Steps!, _ticksToNanoseconds);
        counters.Replies?.Add(_operation.Comparison);
        if (succeeded)
        {
            counters.Service.RecordNanoseconds((long)((end - start) * _ticksToNanoseconds));
            if (counters.Paced is { } paced)
                RecordLateness(paced, due, start, end, free);
            counters.Operations++;
            if (isMeasured && start < _control.MeasureFrom)
                counters.AtStart.Note(ReportedNanoseconds(due, start, end));
            if (outcome.Documents < _fullReplies[part])
                counters.Short++;
            counters.CountEffect(outcome);
        }

        if (succeeded || failed)
        {
            // What a refused batch got in all the same counts as documents, not as a succeeded operation.
            counters.Documents += outcome.Documents;
            counters.Bytes += outcome.Bytes;
        }

        if (failed)
            counters.Failed++;
        else if (!succeeded)
            counters.AtEnd.Note(ReportedNanoseconds(due, start, end));
        lane.Exit();

        if (succeeded)
        {
            if (isMeasured)
            {
                Operations++;
                _members.Count(_mix is null ? 0 : _mix.Drawn);
            }

            _laps?.Add(_lapsCountDocuments ? outcome.Documents : 1, end);
            if (_isWatched)
                _operation.Track(outcome.Documents, end);
            _refusedInARow = false;
            if (_outage is not null)
                EndOutage("answered again", end);
            if (_verifyBelow != 0 && _verification.Next() <= _verifyBelow)
                Verify(part, isMeasured);
        }
        else if (failed)
        {
            if (_lapsCountDocuments)
                _laps?.Add(outcome.Documents, end);
            HandleFailure(failure, start, ReportedNanoseconds(due, start, end), part);
            _free = _clock.Now;
        }
    }

    /// <summary>Waits for changes: each event counts as an operation, with its delay as latency.</summary>
    private void Watch(ChangeLog changes)
    {
        long start = _clock.Now;
        bool answered = TryExecute(out OperationOutcome outcome, out Exception? failure);
        long end = _free = _clock.Now;
        bool isMeasured = end > _control.MeasureFrom;
        CountChanges(changes, isMeasured);
        if (answered && outcome.Succeeded)
        {
            _refusedInARow = false;
            if (_outage is not null)
                EndOutage("answered again", end);
        }
        else if (failure is null || !_control.IsAborted)
        {
            Scheduled++;
            Lane lane = _lane.Enter();
            lane.CountersOf(0, isMeasured).Failed++;
            lane.Exit();
            HandleFailure(failure, start, ReportedNanoseconds(0, start, end), 0);
            _free = _clock.Now;
        }
    }

    private void CountChanges(ChangeLog changes, bool isMeasured)
    {
        Lane lane = _lane.Enter();
        Counters counters = lane.CountersOf(0, isMeasured);
        foreach (long delay in changes.Delays)
            counters.Service.RecordNanoseconds((long)(delay * _ticksToNanoseconds));
        counters.Operations += changes.Events;
        counters.Documents += changes.Events;
        counters.Bytes += changes.Bytes;
        counters.Changes!.Add(changes);
        lane.Exit();
        Scheduled += changes.Events;
        if (isMeasured)
            Operations += changes.Events;
        for (int i = 0; i < changes.Events; i++)
            _members.Count(0);
    }

    private long ReportedNanoseconds(long due, long start, long end) =>
        (long)((end - (_isPaced ? due : start)) * _ticksToNanoseconds);

    /// <param name="paced">How the operation is paced.</param>
    /// <param name="due">When it was meant to start, ticks.</param>
    /// <param name="start">When the operation started, in ticks.</param>
    /// <param name="end">When the operation ended, in ticks.</param>
    /// <param name="free">When this worker was free for it, ticks.</param>
    private void RecordLateness(PacedCounters paced, long due, long start, long end, long free)
    {
        paced.Response.RecordNanoseconds((long)((end - due) * _ticksToNanoseconds));
        long lateness = (long)((start - due) * _ticksToNanoseconds);
        paced.Lateness.RecordNanoseconds(lateness);
        if (free <= due)
            paced.ClientLateness.RecordNanoseconds(lateness);
    }

    private bool TryExecute(out OperationOutcome outcome, out Exception? failure)
    {
        try
        {
            _connections?.Acquire();
            outcome = _operation.Execute();
            failure = null;
            return true;
        }
        catch (Exception e)
        {
            outcome = default;
            failure = e;
            return false;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void HandleFailure(Exception? failure, long start, long nanoseconds, int part)
    {
        ServerError error = failure is null ? _operation.LastError! : ErrorTally.Describe(failure);
        _control.Errors[part].Add(error, Math.Round(nanoseconds / 1000.0, 1));
        if (failure is null)
        {
            // It refuses nothing: whatever comes next may well succeed.
            if (ErrorCount.IsWrongEffect(error.Code, error.Name) || error is { Code: 0, Name: ErrorCount.NoValue })
                return;
            HandleRefusal(error, start);
            if (error.MeansShardAway)
                NoteOutage(error, start);
            else if (!error.MeansNoPrimary)
                return;
        }
        else if (!ErrorTally.BreaksConnection(failure))
        {
            ExceptionDispatchInfo.Throw(failure);
        }

        if (_control.IsStopped)
            return;
        long lost = _clock.Now;
        Reconnect(failure?.Message ?? error.Message, mayBeUp: failure is null && error.MeansInterrupted);
        // While it was away the server refused nothing.
        _refusedSince += _clock.Now - lost;
    }

    /// <summary>The server answers, but refuses: a pause keeps a client that fails from drowning the server that refuses.</summary>
    /// <param name="error">The error of the last operation.</param>
    /// <param name="start">When that began, ticks.</param>
    /// <exception cref="ServerRefusesException">
    /// It has refused everything for as long as a lost server is waited for, or for what no waiting mends.
    /// </exception>
    /// <exception cref="RefusedDocumentsException">
    /// A collection is filled, and the server refuses more of its documents than may fail.
    /// </exception>
    private void HandleRefusal(ServerError error, long start)
    {
        if (ServerError.IsOfDocument(error.Code) && _control.Plan.MaxRefused is { } most && _control.CountRefused(error.Documents) > most)
            throw new RefusedDocumentsException(_control.Plan.Operations[0].Operation.Collection, _control.Refused, error.Message);
        if (ErrorTally.NeverPasses(error) && HasOnlyFailed)
            throw new ServerRefusesException(error, 0);
        if (!_refusedInARow)
        {
            _refusedInARow = true;
            _refusedSince = start;
            _failureBackoff = new Backoff(_clock, 0.001, 0.1);
            return;
        }

        double seconds = _clock.SecondsBetween(_refusedSince, _clock.Now);
        if (seconds >= _control.Plan.ReconnectFor.TotalSeconds)
            throw new ServerRefusesException(error, seconds);
        _failureBackoff.Wait(() => _control.IsStopped);
    }

    /// <summary>Each operation has been tried, and none has ever succeeded.</summary>
    private bool HasOnlyFailed => _lane.Warmup.Zip(_lane.Measured).Take(_fullReplies.Length)
        .All(part => part.First.Failed + part.Second.Failed > 0 && part.First.Operations + part.Second.Operations == 0);

    /// <param name="reason">Why the connection is of no use any more.</param>
    /// <param name="mayBeUp">The server has answered: if it takes the next connection at once, it was not away.</param>
    private void Reconnect(string reason, bool mayBeUp = false)
    {
        IsDown = true;
        _members.Flush();
        _control.Lost.Lose(reason);
        _connections?.Lose();
        bool isBack = false;
        try
        {
            int tries = Connect();
            if (tries > 0)
                _connections?.CountOpen();
            isBack = tries > 0 && _outage is null && !(mayBeUp && tries == 1);
        }
        finally
        {
            _control.Lost.Return(isBack);
        }
    }

    /// <returns>How many tries it took; 0 when the group was stopped meanwhile.</returns>
    private int Connect()
    {
        var backoff = new Backoff(_clock, 0.05, 2);
        long giveUpAt = _clock.Now + _clock.TicksOf(_control.Plan.ReconnectFor.TotalSeconds);
        for (int tries = 1; !_control.IsStopped && (_control.Storms is null || _clock.Now < _control.EndAt); tries++)
        {
            try
            {
                if (_connections is null)
                    _executor.Connect();
                else
                    _connections.Connect();
                IsDown = _outage is not null;
                return tries;
            }
            catch (Exception e) when (ErrorTally.BreaksConnection(e) || e is ServerCommandException)
            {
                if (_clock.Now >= giveUpAt)
                    throw;
                backoff.Wait(() => _control.IsStopped);
            }
        }

        return 0;
    }

    /// <summary>
    /// The router answers, a shard behind it does not: that lasts from the first operation that failed to the first that succeeds.
    /// </summary>
    private void NoteOutage(ServerError error, long start)
    {
        _outage ??= new Outage(start, error);
        _outage.Failed++;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void EndOutage(string how, long end)
    {
        Outage outage = _outage!;
        _outage = null;
        IsDown = false;
        double seconds = _clock.SecondsBetween(outage.Since, end);
        _control.Observer.OnEvent(
            RunEvent.Outage, $"{outage.First.Message} (code {outage.First.Code}); {how} after {seconds:0.00} s, {outage.Failed} failed",
            seconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Verify(int part, bool isMeasured)
    {
        VerificationOutcome outcome = _operation.Verify();
        Lane lane = _lane.Enter();
        Counters counters = lane.CountersOf(part, isMeasured);
        counters.Verified += outcome.Checked;
        counters.Wrong += outcome.Wrong;
        lane.Exit();
        _free = _clock.Now;
    }

    private void Complete()
    {
        SentAt = _clock.Now;
        IsDraining = _changes is not null;
        try
        {
            // Whoever watches ends by counting what has not come, whether the server is there or not.
            if (!IsDown || _changes is not null)
                _operation.Complete();
            if (_changes is not null)
                CountChanges(_changes, isMeasured: true);
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e) && !_control.IsStopped)
        {
            _control.Errors[0].Add(ErrorTally.Describe(e), Math.Round(_clock.SecondsBetween(SentAt, _clock.Now) * 1e6, 1));
            Reconnect(e.Message);
        }

        IsDraining = false;
        CompletedAt = _clock.Now;
        if (_outage is not null)
            EndOutage("not yet over when the test ended", CompletedAt);
    }

    private sealed class Outage(long since, ServerError first)
    {
        public long Since { get; } = since;

        public ServerError First { get; } = first;

        public long Failed { get; set; }
    }
}

/// <summary>
/// A server that answers, but has refused everything: not the primary, read-only, its disk full, nothing that this client may do.
/// </summary>
/// <param name="error">The last one.</param>
/// <param name="seconds">How long to wait; 0 when waiting could not help.</param>
public sealed class ServerRefusesException(ServerError error, double seconds)
    : MongoPerfException(FaultOf(error),
        $"the server {(seconds > 0 ? $"has rejected every operation for {seconds:0} s; last error" : "rejects every operation")}: "
        + $"{error.Text}", HintFor(error))
{
    public ServerError Error { get; } = error;

    private static Fault FaultOf(ServerError error) => error.MeansDiskFull || IsAway(error) ? error.Fault : Fault.RejectedByServer;

    private static string? HintFor(ServerError error) => error.MeansForbidden || error.MeansDiskFull ? error.Hint
        : IsAway(error) ? "is it the primary, and may this client write?" : null;

    private static bool IsAway(ServerError error) => error.MeansForbidden || error.MeansNoPrimary || error.MeansShardAway;
}

/// <summary>
/// Documents that are to fill a collection can't be stored: a unique index holds their keys already, or they don't pass its validator.
/// </summary>
/// <param name="collection">Its name.</param>
/// <param name="count">How many such documents there are so far.</param>
/// <param name="error">The server's words; of a duplicate key they name the index and the key.</param>
public sealed class RefusedDocumentsException(string collection, long count, string error)
    : MongoPerfException(
        Fault.TooManyErrors, $"{collection}: {count:N0} {(count == 1 ? "document" : "documents")} can't be stored: {error}",
        (error.StartsWith("E11000", StringComparison.Ordinal)
            ? "make the values of that index different in every document, or remove unique; "
            : "make documents that pass the collection's validator, or change that; ")
        + "--max-errors N (maxErrors in a file) goes on without up to N such documents");
