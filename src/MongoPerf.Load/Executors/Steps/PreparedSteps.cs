using System.Runtime.CompilerServices;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Steps;

/// <summary>Carries out the steps of an operation, on whichever client: values from earlier replies, conditions, transactions.</summary>
/// <remarks>
/// A transaction is made again as MongoDB's specification has drivers do it (transactions-convenient-api.md): all of it after an error
/// labelled TransientTransactionError, only its commit after one labelled UnknownTransactionCommitResult, for 120 s at most. What is drawn
/// stays the same in each attempt. One thread.
/// </remarks>
public sealed class PreparedSteps : IPreparedOperation
{
    private const double MostRetrySeconds = 120;

    /// <summary>How long a driver looks for a server.</summary>
    private const double MostReconnectSeconds = 30;

    /// <summary>
    /// The pause that the specification sets before the first attempt that is made again; each later one waits half as long again.
    /// </summary>
    private const double FirstBackoffSeconds = 0.005;
    private const double BackoffGrowth = 1.5;
    private const double MostBackoffSeconds = 0.5;

    private const string Transient = "TransientTransactionError";

    private readonly IStepClient _client;
    private readonly StepSequence _operation;
    private readonly IClock _clock;
    private readonly StepValues _values;
    private readonly PreparedStep[] _steps;
    private readonly StepLog _log = new();
    private readonly int _thread;
    private readonly int _commit;
    private readonly int _abort;
    private readonly int _one;
    private bool _isLeft;
    private RandomStream _pauses;

    /// <param name="client">The worker's.</param>
    /// <param name="operation">The steps; their operations are bound to their keys.</param>
    /// <param name="context">What the whole operation draws from.</param>
    public PreparedSteps(IStepClient client, StepSequence operation, OperationContext context)
    {
        _client = client;
        _operation = operation;
        _clock = context.Clock;
        _thread = context.Thread;
        // The element of an each, what each step brings, and what one command of an each does.
        _values = new StepValues(operation.Sequence.Count + 2);
        _one = operation.Sequence.Count + 1;
        int timed = 0;
        _steps = [.. operation.Sequence.Select((step, place) =>
            new PreparedStep(client, step, _values, context, place, step.Operation is null ? -1 : timed++))];
        _commit = timed;
        _abort = operation.Transaction is null ? timed : timed + 1;
        _pauses = RandomStream.For(context.Seed, RandomPurpose.Thinking, context.Worker);
    }

    public ServerError? LastError { get; private set; }

    public string? Member => _client.Member;

    public StepLog Steps => _log;

    public bool Draw()
    {
        foreach (PreparedStep step in _steps)
            step.Draw();
        return true;
    }

    public OperationOutcome Execute()
    {
        _log.Clear();
        try
        {
            if (_operation.Transaction is not null)
                return RunTransaction();
            OperationOutcome outcome = RunSteps();
            if (_isLeft)
                _log.Add(_abort, 0, succeeded: true);
            return outcome;
        }
        finally
        {
            foreach (PreparedStep step in _steps)
                step.Numbers?.Acknowledge();
        }
    }

    public void Track(int documents, long ticks)
    {
        // Of a transaction that ended on purpose the server has nothing.
        if (_isLeft && _operation.Transaction is not null)
            return;
        foreach (PreparedStep step in _steps)
        {
            if (step.Step.Operation?.Tracked is { AreWatched: true } watched)
                step.Numbers?.Track(watched, _thread, ticks);
        }
    }

    /// <remarks>What steps bring depends on what others do meanwhile, so nothing is compared.</remarks>
    public VerificationOutcome Verify() => default;

    public void Complete() => _client.Complete();

    private OperationOutcome RunTransaction()
    {
        long begun = _clock.Now;
        try
        {
            return RunTransaction(begun);
        }
        finally
        {
            _log.TransactionTicks += _clock.Now - begun;
        }
    }

    private OperationOutcome RunTransaction(long begun)
    {
        for (int attempt = 1; ; attempt++)
        {
            long started = _clock.Now;
            _client.Begin();
            OperationOutcome outcome = RunAttempt();
            if (_isLeft)
            {
                Leave();
                return outcome;
            }

            if (outcome.Succeeded && (!_client.HasBegun || Commit(begun)))
            {
                _log.Committed += _client.HasBegun ? 1 : 0;
                return outcome;
            }

            if (_log.Unknown > 0)
                return default;
            if (!outcome.Succeeded && _client.HasBegun)
                Abort();
            _log.Aborted++;
            ServerError error = LastError!;
            if (!error.Labels.Contains(Transient) || error.MeansNoPrimary || _client.IsAborted
                || _clock.SecondsBetween(begun, _clock.Now) > MostRetrySeconds)
                return default;
            _log.Retried++;
            Pause(_pauses.NextDouble() * Math.Min(MostBackoffSeconds, FirstBackoffSeconds * Math.Pow(BackoffGrowth, attempt - 1)));
            _log.RetryTicks += _clock.Now - started;
        }
    }

    /// <remarks>A connection that breaks before the commit was sent leaves nothing: the server aborts what nobody commits.</remarks>
    private OperationOutcome RunAttempt()
    {
        try
        {
            return RunSteps();
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e))
        {
            _log.Aborted++;
            throw;
        }
    }

    /// <summary>The transaction ends on purpose.</summary>
    private void Leave()
    {
        if (_client.HasBegun)
            Abort();
        else
            _log.Add(_abort, 0, succeeded: true);
        _log.RolledBack++;
    }

    private OperationOutcome RunSteps()
    {
        _values.Clear();
        LastError = null;
        _isLeft = false;
        foreach (PreparedStep step in _steps)
            step.Numbers?.Restart();
        int documents = 0;
        long bytes = 0;
        (int Documents, long Bytes) written = default;
        foreach (PreparedStep step in _steps)
        {
            bool isMet = step.Step.ChoosesElements || step.IsMet;
            if (_values.Problem is { } problem)
                return Fail(step, problem);
            if (!isMet)
                continue;
            if (step.Step.Aborts)
            {
                _isLeft = true;
                // Of a transaction the server has nothing that was written.
                if (_operation.Transaction is not null)
                    (documents, bytes) = (documents - written.Documents, bytes - written.Bytes);
                break;
            }

            OperationOutcome outcome = step.Step.Think is not null ? Think(step)
                : step.Step.Each is { } array ? RunEach(step, array)
                : RunOne(step, 0);
            documents += outcome.Documents;
            bytes += outcome.Bytes;
            if (step.Step.Operation is { IsWrite: true })
                written = (written.Documents + outcome.Documents, written.Bytes + outcome.Bytes);
            if (!outcome.Succeeded)
                return new OperationOutcome(false, documents, bytes);
        }

        return new OperationOutcome(true, documents, bytes);
    }

    private OperationOutcome RunEach(PreparedStep step, ValuePath array)
    {
        try
        {
            return RunElements(step, array);
        }
        finally
        {
            _values.Element = -1;
        }
    }

    private OperationOutcome RunElements(PreparedStep step, ValuePath array)
    {
        if (step.Step.Keeps is { } kept)
            _values.StartArray(kept);
        int documents = 0;
        long bytes = 0;
        if (!_values.TryFind(array, out BsonType type, out ReadOnlySpan<byte> value) || type != BsonType.Array)
            return new OperationOutcome(true, documents, bytes);
        // They stay where they are: what the step keeps has a buffer of its own.
        var elements = new BsonReader(value);
        for (int i = 0; elements.Read(); i++)
        {
            // Elements that are left out send nothing that could fail when the run is stopped.
            if (_client.IsAborted)
                throw Stopped();
            _values.Set(Step.ElementSlot, elements.Type, elements.Value);
            _values.Element = i;
            bool isMet = !step.Step.ChoosesElements || step.IsMet;
            if (_values.Problem is { } problem)
                return Fail(step, problem);
            if (!isMet)
            {
                // What the step keeps has an element for each of the array's.
                _values.Forget(_one);
                if (step.Step.Keeps is { } skipped)
                    _values.AppendFrom(skipped, _one);
                continue;
            }

            OperationOutcome outcome = RunOne(step, i);
            documents += outcome.Documents;
            bytes += outcome.Bytes;
            if (!outcome.Succeeded)
                return new OperationOutcome(false, documents, bytes);
        }

        return new OperationOutcome(true, documents, bytes);
    }

    private OperationOutcome RunOne(PreparedStep step, int iteration)
    {
        step.Stage(iteration);
        if (_values.Problem is { } problem)
            return Fail(step, problem);
        if (step.Command is null)
        {
            Keep(step, step.Step.Keeps!.Value);
            return new OperationOutcome(true, 0, 0);
        }

        long started = _clock.Now;
        OperationOutcome outcome;
        try
        {
            outcome = step.Command.Execute();
        }
        catch (Exception)
        {
            _log.Add(step.Timed, _clock.Now - started, succeeded: false);
            throw;
        }

        _log.Add(step.Timed, _clock.Now - started, outcome.Succeeded, outcome);
        if (!outcome.Succeeded)
            LastError = step.Command.LastError;
        else if (step.Step.Keeps is { } slot)
            Keep(step, slot);
        return outcome;
    }

    private void Keep(PreparedStep step, int slot)
    {
        if (step.Step.Each is null)
        {
            step.Keep(slot);
            return;
        }

        _values.Forget(_one);
        step.Keep(_one);
        _values.AppendFrom(slot, _one);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private OperationOutcome Fail(PreparedStep step, string problem)
    {
        LastError = new ServerError(0, ErrorCount.NoValue, $"step '{step.Label}' {problem}", []);
        if (step.Timed >= 0)
            _log.Add(step.Timed, 0, succeeded: false);
        return default;
    }

    private OperationOutcome Think(PreparedStep step)
    {
        Pause(step.ThinkSeconds());
        return _client.IsAborted ? throw Stopped() : new OperationOutcome(true, 0, 0);
    }

    private static ConnectionFailedException Stopped() => new(new ServerAddress("", 0), "stopped");

    /// <summary>Waits in pieces, so that whoever ends the run is not kept waiting.</summary>
    private void Pause(double seconds)
    {
        long until = _clock.Now + _clock.TicksOf(seconds);
        while (!_client.IsAborted && _clock.Now < until)
            _clock.SleepUntil(Math.Min(until, _clock.Now + (_clock.TicksPerSecond / 5)));
    }

    /// <returns>False when the server says that it has not committed, or when nobody knows.</returns>
    private bool Commit(long begun)
    {
        bool isRetry = false;
        while (true)
        {
            long started = _clock.Now;
            ServerError? error;
            try
            {
                error = _client.Commit(isRetry);
                _log.Add(_commit, _clock.Now - started, error is null);
                if (error is null)
                    return true;
            }
            catch (Exception e) when (ErrorTally.BreaksConnection(e))
            {
                _log.Add(_commit, _clock.Now - started, succeeded: false);
                _log.Unknown = 1;
                LastError = ErrorTally.Describe(e);
                ReconnectOr(e);
                _log.Unknown = 0;
                error = null;
            }

            LastError = error ?? LastError;
            if (error is not null && !TransactionAnswers.IsUnknown(error))
                return false;
            // Drivers do not ask again where the server had no more time.
            if (error is { Code: TransactionAnswers.TimeExpired } || _client.IsAborted
                || _clock.SecondsBetween(begun, _clock.Now) > MostRetrySeconds)
            {
                _log.Unknown = 1;
                return false;
            }

            if (error is { MeansNoPrimary: true })
            {
                _log.Unknown = 1;
                ReconnectOr(new ServerCommandException("commitTransaction", error));
                _log.Unknown = 0;
            }

            _log.CommitRetried++;
            isRetry = true;
        }
    }

    /// <summary>
    /// Connects again: a server that has the session, be it the one that comes back or the next primary, can tell whether it committed.
    /// </summary>
    private void ReconnectOr(Exception failure)
    {
        long giveUpAt = _clock.Now + _clock.TicksOf(MostReconnectSeconds);
        var backoff = new Backoff(_clock, 0.05, 2);
        while (!_client.IsAborted && _clock.Now < giveUpAt)
        {
            try
            {
                _client.Reconnect();
                return;
            }
            catch (Exception e) when (ErrorTally.IsServerAway(e))
            {
                backoff.Wait(() => _client.IsAborted);
            }
        }

        throw failure;
    }

    private void Abort()
    {
        long started = _clock.Now;
        _client.Abort();
        _log.Add(_abort, _clock.Now - started, succeeded: true);
    }

    /// <summary>One step with what it draws from.</summary>
    private sealed class PreparedStep
    {
        private readonly StepValues _values;
        private readonly DocumentValue?[] _operands;
        private readonly BsonWriter _scratch = new(64);
        private readonly DocumentValue? _drawn;
        private OperationDraws _draws;
        private RandomStream _own;
        private RandomStream _think;
        private ValueContext _context;

        public PreparedStep(IStepClient client, Step step, StepValues values, OperationContext context, int place, int timed)
        {
            Step = step;
            Timed = timed;
            _values = values;
            _operands = [.. step.Conditions.Select(condition => (DocumentValue?)condition.Operand?.Bind(values))];
            _think = RandomStream.For(context.Seed, RandomPurpose.Thinking, context.Worker);
            if (step.Operation is not { } operation)
            {
                _drawn = (DocumentValue?)step.Values?.Bind(values);
                _own = RandomStream.For(Mixing.Mix(context.Seed ^ Salt.Of($"step {place}")), RandomPurpose.Arguments, context.Worker);
                return;
            }

            Numbers = operation is InsertDocuments insert
                ? new StepNumbers(
                    insert.Keys ?? throw new ArgumentException("an insert needs a source of numbers", nameof(step)), insert.BatchSize)
                : null;
            Command = client.Prepare(step, values, Numbers);
            _draws = new OperationDraws(operation, context.Of(operation));
        }

        public Step Step { get; }

        /// <summary>Its place among the steps that are timed.</summary>
        public int Timed { get; }

        /// <summary>Null for a step without one.</summary>
        public IStepCommand? Command { get; }

        /// <summary>For messages.</summary>
        public string Label => Step.Operation?.Name ?? (Step.Aborts ? "abort" : Step.Think is null ? "values" : "think");

        public StepNumbers? Numbers { get; }

        /// <summary>Whether all its conditions hold.</summary>
        public bool IsMet
        {
            get
            {
                for (int i = 0; i < _operands.Length; i++)
                {
                    if (!Holds(Step.Conditions[i], _operands[i]))
                        return false;
                }

                return true;
            }
        }

        public void Draw() => _context = Command is null ? new ValueContext(0, _own.Next()) : _draws.Next();

        public void Stage(int iteration)
        {
            ValueContext context = iteration == 0 ? _context : _context.Element(0, iteration);
            if (Command is null)
            {
                _scratch.Clear();
                _drawn!.WriteRoot(_scratch, context);
                return;
            }

            Numbers?.Next();
            Command.Stage(context);
        }

        /// <summary>Keeps what its command brought, or the values that it draws itself.</summary>
        public void Keep(int slot)
        {
            if (Command is null)
                _values.Set(slot, BsonType.Document, _scratch.Written);
            else
                Command.Keep(_values, slot);
        }

        public double ThinkSeconds() => Step.Think!.Draw(ref _think);

        private bool Holds(StepCondition condition, DocumentValue? operand)
        {
            bool isThere = _values.TryFind(condition.Path, out BsonType type, out ReadOnlySpan<byte> value);
            if (operand is null)
                return isThere && StepComparison.IsAnything(type, value);
            _scratch.Clear();
            operand.WriteRoot(_scratch, _context);
            var expected = new BsonReader(_scratch.Written);
            expected.Read();
            return StepComparison.Holds(condition.Comparison!, isThere, type, value, expected.Type, expected.Value);
        }
    }
}
