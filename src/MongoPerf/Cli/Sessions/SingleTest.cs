using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Cli.Sessions;

/// <summary>The work of <c>run TEST</c>: one test on a collection that is there, stored as the run's only step.</summary>
internal sealed class SingleTest
{
    private const int OnlyStep = 1;

    private readonly RunSession _session;
    private readonly RunStore _store;
    private readonly SingleTestLimits _limits;
    private readonly StopSignals _signals;
    private readonly TestRunner _tests;
    private readonly InsertTest _inserts;
    private ExitCode _code = ExitCode.Done;
    private long _failed;

    /// <summary>Known to be there without holes.</summary>
    private long _wholeDocuments;

    public SingleTest(RunSession session, RunStore store, CollectionMarker marker, SingleTestLimits limits, StopSignals signals)
    {
        _session = session;
        _store = store;
        _wholeDocuments = marker.Documents;
        _limits = limits;
        _signals = signals;
        _tests = new TestRunner(RunSession.Clock, session.Phases, store, session.Progress);
        _inserts = new InsertTest(RunSession.Clock, session.Collection, Report);
        session.Collection.Stop = signals.Token;
    }

    /// <summary>Why the test was stopped before its end, other than by a signal; null when it was not.</summary>
    public string? StopReason { get; private set; }

    public ExitCode Run(string test)
    {
        long end = _session.Collection.FindEnd();
        if (_limits.Records is { } records && end < records)
            end = Load(end, records);
        if (_code != ExitCode.Done)
            return _code;
        _session.Progress.SetDocuments(end);
        if (test == SeriesTests.Size)
        {
            _store.AddSizes(OnlyStep, _session.Collection.ReadSizes(end) with { DiskBytes = _session.MeasureDisk() });
            return Checkpoint(end);
        }

        return SeriesTests.IsInsert(test) ? Insert(test, end) : Query(test, end);
    }

    /// <summary>Loads documents that are no part of the result.</summary>
    private long Load(long end, long records)
    {
        // An earlier run that was killed may have left holes behind its last checkpoint: all below must be whole before it is called so.
        _inserts.Repair(new NumberRange(_wholeDocuments, end));
        var range = new NumberRange(end, records);
        var tests = new TestRunner(RunSession.Clock, _session.Phases, null, _session.Progress);
        InsertSpecification operation = SeriesTests.Insert(SeriesTests.Batch, _session.Settings.BatchSize, false, _session.Settings.OrderedBatches);
        TestOutcome outcome = tests.Run(OnlyStep, Plan(operation, 1, end) with { Numbers = new NumberSource(range.First, range.End) }, MayGoOn, _signals.Token);
        if (_signals.WasStopped)
            throw new UserException(ExitCode.Interrupted, "interrupted while loading");
        if (outcome.Phase.GivenUp is { } failure)
            throw failure;
        if (StopReason is not null)
            return end + outcome.Phase.AllDocuments;
        _inserts.Settle(outcome, operation, range);
        MakeCheckpoint(records);
        return records;
    }

    private ExitCode Insert(string test, long first)
    {
        foreach (int threads in _session.Settings.Threads)
        {
            first = Insert(test, first, threads);
            if (_signals.WasStopped || _code != ExitCode.Done)
                break;
        }

        return Checkpoint(first);
    }

    /// <returns>One beyond the last number that was written.</returns>
    private long Insert(string test, long first, int threads)
    {
        InsertSpecification operation = SeriesTests.Insert(test, _session.Settings.BatchSize, _session.Settings.Journal, _session.Settings.OrderedBatches);
        long last = _limits.Operations is { } operations ? first + (operations * operation.BatchSize) : DocumentNumbers.Limit - 1;
        var numbers = new NumberSource(first, last);
        TestOutcome outcome = _tests.Run(OnlyStep, Plan(operation, threads, first) with
        {
            Numbers = numbers,
            Seconds = _limits.Seconds,
            WarmupSeconds = _limits.WarmupSeconds,
        }, MayGoOn, _signals.Token);
        if (outcome.Phase.GivenUp is { } failure)
            throw failure;
        long end = numbers.Next;
        Store(_inserts.Settle(outcome, operation, new NumberRange(first, end)), end);
        // Only a collection that was whole before is known to be whole now.
        if (_wholeDocuments == first)
            MakeCheckpoint(end);
        Judge(outcome);
        return end;
    }

    /// <summary>A server that was started again meanwhile may have lost what it had acknowledged: that is written again first.</summary>
    private void MakeCheckpoint(long end)
    {
        while (true)
        {
            long lost = _session.Collection.LostConnections;
            _session.Collection.Checkpoint(end);
            if (_session.Collection.LostConnections == lost)
                break;
            _inserts.Repair(new NumberRange(_wholeDocuments, end));
        }

        _wholeDocuments = end;
    }

    private ExitCode Query(string test, long documents)
    {
        var queries = new QueryTest(_tests, _session.Collection);
        foreach (int threads in _session.Settings.Threads)
        {
            FindSpecification operation = SeriesTests.Find(test, DocumentGenerator.ValueRange);
            TestOutcome outcome = queries.Run(OnlyStep, Plan(operation, threads, documents) with
            {
                Seconds = _limits.Seconds,
                Operations = _limits.Operations,
                WarmupSeconds = _limits.WarmupSeconds,
                VerifyShare = _session.Settings.VerifyShare,
                Rate = _session.Settings.Rate,
            }, MayGoOn, _signals.Token);
            if (outcome.Phase.GivenUp is { } failure)
                throw failure;
            Store(outcome.Result, documents);
            Judge(outcome);
            if (_signals.WasStopped || StopReason is not null)
                break;
        }

        return Checkpoint(documents);
    }

    private PhasePlan Plan(OperationSpecification operation, int threads, long documents) => new()
    {
        Operation = operation,
        Threads = threads,
        Seed = _session.Request.Seed,
        CollectionDocuments = documents,
        ReconnectFor = RunSession.ReconnectFor,
    };

    private void Store(TestResult result, long documents)
    {
        _store.AddTestResult(OnlyStep, documents, result);
        _session.Progress.OnTestFinished(OnlyStep, result);
    }

    private ExitCode Checkpoint(long documents)
    {
        _store.AddCheckpoint(new Checkpoint(OnlyStep, documents, RunSession.Clock.UtcNow.ToUnixTimeMilliseconds()));
        return _code;
    }

    /// <summary>The first thing that went wrong decides the exit code.</summary>
    private void Judge(TestOutcome outcome)
    {
        _failed += outcome.Phase.Accounting.Failed;
        if (_code != ExitCode.Done)
            return;
        _code = outcome.Phase.Wrong > 0 ? ExitCode.VerificationFailed
            : _failed > _session.Settings.MaxErrors ? ExitCode.TooManyErrors
            : ExitCode.Done;
    }

    private bool MayGoOn()
    {
        StopReason ??= _session.ReasonToStop();
        if (StopReason is not null)
            _code = ExitCode.Refused;
        return StopReason is null;
    }

    private void Report(RunEvent happened)
    {
        _store.AddEvent(happened);
        _session.Progress.OnEvent(happened);
    }
}
