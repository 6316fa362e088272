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
    private readonly CollectionMarker _marker;
    private readonly SingleTestLimits _limits;
    private readonly StopSignals _signals;
    private readonly TestRunner _tests;
    private readonly InsertTest _inserts;

    public SingleTest(RunSession session, RunStore store, CollectionMarker marker, SingleTestLimits limits, StopSignals signals)
    {
        _session = session;
        _store = store;
        _marker = marker;
        _limits = limits;
        _signals = signals;
        _tests = new TestRunner(RunSession.Clock, session.Phases, store, session.Progress);
        _inserts = new InsertTest(RunSession.Clock, session.Collection, Report);
    }

    public ExitCode Run(string test)
    {
        long end = _session.Collection.FindEnd();
        if (_limits.Records is { } records && end < records)
            end = Load(end, records);
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
        var range = new NumberRange(end, records);
        var tests = new TestRunner(RunSession.Clock, _session.Phases, null, _session.Progress);
        InsertSpecification operation = SeriesTests.Insert(SeriesTests.Batch, _session.Settings.BatchSize, false, _session.Settings.OrderedBatches);
        TestOutcome outcome = tests.Run(OnlyStep, Plan(operation, 1, end) with { Numbers = new NumberSource(range.First, range.End) }, () => true, _signals.Token);
        if (_signals.WasStopped)
            throw new UserException(ExitCode.Interrupted, "interrupted while loading");
        if (outcome.Phase.GivenUp is { } failure)
            throw failure;
        _inserts.Settle(outcome, operation, range);
        _session.Collection.Checkpoint(records);
        return records;
    }

    private ExitCode Insert(string test, long first)
    {
        InsertSpecification operation = SeriesTests.Insert(test, _session.Settings.BatchSize, _session.Settings.Journal, _session.Settings.OrderedBatches);
        long last = _limits.Operations is { } operations ? first + (operations * operation.BatchSize) : DocumentNumbers.Limit - 1;
        var numbers = new NumberSource(first, last);
        int threads = _session.Settings.Threads[0];
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
        if (_marker.Documents == first)
            _session.Collection.Checkpoint(end);
        Checkpoint(end);
        return Judge(outcome);
    }

    private ExitCode Query(string test, long documents)
    {
        var queries = new QueryTest(_tests, _session.Collection);
        ExitCode code = ExitCode.Done;
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
            ExitCode judged = Judge(outcome);
            code = code == ExitCode.Done ? judged : code;
            if (_signals.WasStopped)
                break;
        }

        Checkpoint(documents);
        return code;
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
        return ExitCode.Done;
    }

    private ExitCode Judge(TestOutcome outcome) =>
        outcome.Phase.Wrong > 0 ? ExitCode.VerificationFailed
        : outcome.Phase.Accounting.Failed > _session.Settings.MaxErrors ? ExitCode.TooManyErrors
        : ExitCode.Done;

    private bool MayGoOn() => _session.ReasonToStop() is null;

    private void Report(RunEvent happened)
    {
        _store.AddEvent(happened);
        _session.Progress.OnEvent(happened);
    }
}
