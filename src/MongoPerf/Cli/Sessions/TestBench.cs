using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Cli.Sessions;

/// <summary>Runs tests on a collection that is there and stores them as the run's only step.</summary>
/// <remarks>One thread. What goes wrong is kept in <see cref="Code"/>; a server that stays away is thrown.</remarks>
internal sealed class TestBench
{
    private const int OnlyStep = 1;

    private readonly RunStore _store;
    private readonly StopSignals _signals;
    private readonly TestRunner _tests;
    private readonly InsertTest _inserts;
    private long _failed;

    /// <summary>Known to be there without holes.</summary>
    private long _wholeDocuments;

    public TestBench(RunSession session, RunStore store, CollectionMarker marker, SingleTestLimits limits, StopSignals signals)
    {
        Session = session;
        _store = store;
        _wholeDocuments = marker.Documents;
        Limits = limits;
        _signals = signals;
        _tests = new TestRunner(RunSession.Clock, session.Phases, store, session.Progress);
        _inserts = new InsertTest(RunSession.Clock, session.Collection, Report);
        session.Collection.Stop = signals.Token;
        Documents = session.Collection.FindEnd();
    }

    public RunSession Session { get; }

    public SeriesSettings Settings => Session.Settings;

    public SingleTestLimits Limits { get; }

    /// <summary>One beyond the greatest number that is in the collection.</summary>
    public long Documents { get; private set; }

    /// <summary>The first thing that went wrong decides the exit code.</summary>
    public ExitCode Code { get; private set; } = ExitCode.Done;

    /// <summary>Why the run was stopped before its end, other than by a signal; null when it was not.</summary>
    public string? StopReason { get; private set; }

    /// <summary>By a signal or for a reason.</summary>
    public bool WasStopped => _signals.WasStopped || StopReason is not null;

    /// <summary>Loads documents that are no part of the result, until the collection holds this many.</summary>
    public void Load(long records)
    {
        if (Documents >= records)
            return;
        // An earlier run that was killed may have left holes behind its last checkpoint: all below must be whole before it is called so.
        _inserts.Repair(new NumberRange(_wholeDocuments, Documents));
        var range = new NumberRange(Documents, records);
        var tests = new TestRunner(RunSession.Clock, Session.Phases, null, Session.Progress);
        InsertSpecification operation = SeriesTests.Insert(SeriesTests.Batch, Settings.BatchSize, false, Settings.OrderedBatches);
        TestOutcome outcome = tests.Run(OnlyStep, Plan(operation, 1) with { Numbers = new NumberSource(range.First, range.End) }, MayGoOn, _signals.Token);
        if (_signals.WasStopped)
            throw new UserException(ExitCode.Interrupted, "interrupted while loading");
        ThrowIfGivenUp(outcome);
        if (StopReason is not null)
        {
            Documents += outcome.Phase.AllDocuments;
            return;
        }

        _inserts.Settle(outcome, operation, range);
        Documents = records;
        MakeCheckpoint();
    }

    /// <summary>Inserts for the time or the number of operations that was asked for, and sees to it that all of it arrived.</summary>
    public void Insert(InsertSpecification operation, int threads)
    {
        long first = Documents;
        long last = Limits.Operations is { } operations ? first + (operations * operation.BatchSize) : DocumentNumbers.Limit - 1;
        var numbers = new NumberSource(first, last);
        TestOutcome outcome = _tests.Run(OnlyStep, Plan(operation, threads) with
        {
            Numbers = numbers,
            Seconds = Limits.Seconds,
            WarmupSeconds = Limits.WarmupSeconds,
        }, MayGoOn, _signals.Token);
        ThrowIfGivenUp(outcome);
        Documents = numbers.Next;
        Store(_inserts.Settle(outcome, operation, new NumberRange(first, Documents)));
        // Only a collection that was whole before is known to be whole now.
        if (_wholeDocuments == first)
            MakeCheckpoint();

        Judge(outcome);
    }

    /// <summary>Queries for the time or the number of operations that was asked for.</summary>
    /// <param name="operation">What.</param>
    /// <param name="threads">By how many.</param>
    /// <param name="hasWarmup">False measures from the first operation on.</param>
    public void Query(FindSpecification operation, int threads, bool hasWarmup = true)
    {
        TestOutcome outcome = new QueryTest(_tests, Session.Collection).Run(OnlyStep, Plan(operation, threads) with
        {
            Seconds = Limits.Seconds,
            Operations = Limits.Operations,
            WarmupSeconds = hasWarmup ? Limits.WarmupSeconds : 0,
            VerifyShare = Settings.VerifyShare,
            Rate = Settings.Rate,
        }, MayGoOn, _signals.Token);
        ThrowIfGivenUp(outcome);
        Store(outcome.Result);
        Judge(outcome);
    }

    /// <summary>Takes the sizes of collection and indexes.</summary>
    public void Measure() => _store.AddSizes(OnlyStep, Session.Collection.ReadSizes(Documents) with { DiskBytes = Session.MeasureDisk() });

    /// <summary>Writes again what a server that was killed has lost of the documents that are known to be durable.</summary>
    /// <returns>How many were missing: none, if the server keeps its word.</returns>
    public long RepairWhole() => _inserts.Repair(new NumberRange(0, _wholeDocuments));

    /// <summary>Marks the step complete.</summary>
    public void Complete() => _store.AddCheckpoint(new Checkpoint(OnlyStep, Documents, RunSession.Clock.UtcNow.ToUnixTimeMilliseconds()));

    public void Report(string kind, string text, double? seconds) =>
        Report(new RunEvent(RunSession.Clock.UtcNow.ToUnixTimeMilliseconds(), kind, text, seconds));

    /// <summary>Ends the run with this code, unless something went wrong before.</summary>
    public void Fail(ExitCode code) => Code = Code == ExitCode.Done ? code : Code;

    /// <summary>A server that was started again meanwhile may have lost what it had acknowledged: that is written again first.</summary>
    private void MakeCheckpoint()
    {
        while (true)
        {
            long lost = Session.Collection.LostConnections;
            Session.Collection.Checkpoint(Documents);
            if (Session.Collection.LostConnections == lost)
                break;
            _inserts.Repair(new NumberRange(_wholeDocuments, Documents));
        }

        _wholeDocuments = Documents;
    }

    private static void ThrowIfGivenUp(TestOutcome outcome)
    {
        if (outcome.Phase.GivenUp is { } failure)
            throw failure;
    }

    private PhasePlan Plan(OperationSpecification operation, int threads) => new()
    {
        Operation = operation,
        Threads = threads,
        Seed = Session.Request.Seed,
        CollectionDocuments = Documents,
        ReconnectFor = RunSession.ReconnectFor,
    };

    private void Store(TestResult result)
    {
        _store.AddTestResult(OnlyStep, Documents, result);
        Session.Progress.OnTestFinished(OnlyStep, result);
    }

    private void Judge(TestOutcome outcome)
    {
        _failed += outcome.Phase.Errors.Sum(e => e.Count);
        if (outcome.Phase.Wrong > 0)
            Fail(ExitCode.VerificationFailed);
        else if (_failed > Settings.MaxErrors)
            Fail(ExitCode.TooManyErrors);
    }

    private bool MayGoOn()
    {
        StopReason ??= Session.ReasonToStop();
        if (StopReason is not null)
            Code = ExitCode.Refused;
        return StopReason is null;
    }

    private void Report(RunEvent happened)
    {
        _store.AddEvent(happened);
        Session.Progress.OnEvent(happened);
    }
}
