using System.Runtime.ExceptionServices;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution;

/// <summary>How a series ended.</summary>
public enum SeriesEnd
{
    TargetReached,

    /// <summary>Ctrl+C.</summary>
    Interrupted,

    /// <summary>Something outside asked it to stop, such as a disk that is nearly full.</summary>
    Stopped,

    /// <summary>The server stayed away, or refused everything, for longer than reconnecting is tried; or it refused what a series can't do without.</summary>
    ServerLost,
}

/// <param name="End">How.</param>
/// <param name="Documents">In the collection.</param>
/// <param name="Why">In words, when it did not reach its target.</param>
/// <param name="Failed">Operations that failed, over this execution.</param>
/// <param name="Wrong">Returned documents that were not the generator's.</param>
public sealed record SeriesOutcome(SeriesEnd End, long Documents, string? Why, long Failed, long Wrong);

/// <summary>Grows a collection to its target and runs the tests at each step; goes on from any point.</summary>
public sealed class SeriesRunner
{
    private readonly IClock _clock;
    private readonly SeriesSettings _settings;
    private readonly ulong _seed;
    private readonly int _valueRange;
    private readonly ISeriesCollection _collection;
    private readonly RunStore _store;
    private readonly ISeriesObserver _observer;
    private readonly Func<long?> _measureDisk;
    private readonly Func<string?> _reasonToStop;
    private readonly TimeSpan _reconnectFor;
    private readonly TestRunner _tests;
    private readonly InsertTest _inserts;
    private readonly QueryTest _queries;

    private long _documents;
    private long _checkpointDocuments;
    private long _failed;
    private long _wrong;
    private bool _anyFailureSinceCheckpoint;
    private long _lostConnections;
    private string? _stopReason;

    /// <param name="clock">Time.</param>
    /// <param name="phases">Runs the phases.</param>
    /// <param name="collection">The collection, there with its indexes.</param>
    /// <param name="store">Of this run.</param>
    /// <param name="observer">Whoever watches.</param>
    /// <param name="request">What to do.</param>
    public SeriesRunner(IClock clock, PhaseRunner phases, ISeriesCollection collection, RunStore store, ISeriesObserver observer, SeriesRequest request)
    {
        _clock = clock;
        _settings = request.Settings;
        _seed = request.Seed;
        _valueRange = request.ValueRange;
        _measureDisk = request.MeasureDisk;
        _reasonToStop = request.ReasonToStop;
        _reconnectFor = request.ReconnectFor;
        _collection = collection;
        _store = store;
        _observer = observer;
        _tests = new TestRunner(clock, phases, store, observer);
        _inserts = new InsertTest(clock, collection, Report);
        _queries = new QueryTest(_tests, collection);
    }

    /// <summary>Runs until the target is reached, or something ends it.</summary>
    /// <param name="completed">Steps that this run has stored already; empty for a new one.</param>
    /// <param name="checkpointDocuments">Documents that are known to be whole and durable.</param>
    /// <param name="stop">Ctrl+C.</param>
    public SeriesOutcome Run(IReadOnlyList<StepResult> completed, long checkpointDocuments, CancellationToken stop)
    {
        _checkpointDocuments = checkpointDocuments;
        _collection.Stop = stop;
        try
        {
            _documents = FindWholeEnd();
            foreach (SeriesStep step in SeriesSchedule.Steps(
                _settings.TargetDocumentCount, _settings.StepDocumentCount, _settings.Shares, _settings.Tests, checkpointDocuments))
            {
                StepResult? before = completed.FirstOrDefault(s => s.Step == step.Step);
                if (!RunStep(step, before?.Tests ?? [], stop))
                    return End(stop);
            }

            return new SeriesOutcome(SeriesEnd.TargetReached, _documents, null, _failed, _wrong);
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e) || e is ServerRefusesException or ServerCommandException)
        {
            // What breaks after a stop was broken by it.
            if (stop.IsCancellationRequested || _stopReason is not null)
                return End(stop);
            return new SeriesOutcome(SeriesEnd.ServerLost, _documents, e.Message, _failed, _wrong);
        }
        finally
        {
            _collection.Stop = default;
        }
    }

    private SeriesOutcome End(CancellationToken stop) => stop.IsCancellationRequested
        ? new SeriesOutcome(SeriesEnd.Interrupted, _documents, "interrupted", _failed, _wrong)
        : new SeriesOutcome(SeriesEnd.Stopped, _documents, _stopReason, _failed, _wrong);

    /// <summary>Where writing goes on: everything below is made whole first.</summary>
    private long FindWholeEnd()
    {
        long end = Math.Max(_checkpointDocuments, _collection.FindEnd());
        long missing = _inserts.Repair(new NumberRange(_checkpointDocuments, end));
        if (missing > 0)
            Report("repair", $"{missing:N0} documents after the last checkpoint were lost and are written again");
        return end;
    }

    /// <returns>False when the series must end here.</returns>
    private bool RunStep(SeriesStep step, IReadOnlyList<TestResult> there, CancellationToken stop)
    {
        foreach (InsertRange insert in step.Inserts)
        {
            if (!RunInsert(step, insert, there, stop))
                return false;
        }

        foreach (string test in SeriesTests.Queries.Where(_settings.Tests.Contains))
        {
            foreach (int threads in _settings.Threads)
            {
                if (there.Any(t => t.Test == test && t.Threads == threads))
                    continue;
                if (!RunQuery(step, test, threads, stop))
                    return false;
            }
        }

        CompleteStep(step);
        return MayGoOn(stop);
    }

    private bool RunInsert(SeriesStep step, InsertRange insert, IReadOnlyList<TestResult> there, CancellationToken stop)
    {
        var left = new NumberRange(Math.Max(insert.Range.First, _documents), insert.Range.End);
        if (left.Count == 0)
        {
            ReportLostResult(step, insert, there);
            return true;
        }

        InsertSpecification operation = SeriesTests.Insert(insert.Test, _settings.BatchSize, _settings.Journal, _settings.OrderedBatches);
        var numbers = new NumberSource(left.First, left.End);
        TestOutcome outcome = _tests.Run(step.Step, Plan(operation, 1) with { Numbers = numbers }, MayGoOn, stop);
        Count(outcome);
        if (outcome.Phase.GivenUp is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        // Numbers that were handed out were sent: a stop that came with the last of them left nothing out.
        bool isWhole = numbers.Next == left.End && outcome.Phase.Accounting.Failed == 0;
        if (outcome.Phase.WasStopped && !isWhole)
        {
            // Not settled: what is there is counted and repaired when the run goes on.
            _documents = Math.Min(left.End, left.First + outcome.Phase.AllDocuments);
            return false;
        }

        TestResult result = _inserts.Settle(outcome, operation, left);
        _documents = left.End;
        if (_settings.Tests.Contains(insert.Test))
            Store(step.Step, result);
        return MayGoOn(stop);
    }

    /// <summary>The last documents of an insert test and its result are not stored at one moment.</summary>
    private void ReportLostResult(SeriesStep step, InsertRange insert, IReadOnlyList<TestResult> there)
    {
        // What was there before this run began has no result in it.
        bool isOfThisRun = insert.Range.End > _checkpointDocuments;
        if (!isOfThisRun || !_settings.Tests.Contains(insert.Test) || there.Any(t => t.Test == insert.Test))
            return;
        string text = $"{insert.Test} of step {step.Step} was written but its result was lost when the run broke off";
        using StoredRun stored = StoredRun.Open(_store.Folder);
        if (stored.Events.All(e => e.Text != text))
            Report("resumed", text);
    }

    private bool RunQuery(SeriesStep step, string test, int threads, CancellationToken stop)
    {
        PhasePlan phase = Plan(SeriesTests.Find(test, _valueRange), threads) with
        {
            Seconds = _settings.WindowSeconds,
            WarmupSeconds = _settings.WarmupSeconds,
            VerifyShare = _settings.VerifyShare,
            Rate = _settings.Rate,
        };
        TestOutcome outcome = _queries.Run(step.Step, phase, MayGoOn, stop);
        Count(outcome);
        if (outcome.Phase.GivenUp is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        if (outcome.Phase.WasStopped)
            return false;
        Store(step.Step, outcome.Result);
        return MayGoOn(stop);
    }

    private void CompleteStep(SeriesStep step)
    {
        RepairWhatACrashTook();
        if (_settings.Tests.Contains(SeriesTests.Size))
            _store.AddSizes(step.Step, _collection.ReadSizes(_documents) with { DiskBytes = _measureDisk() });
        do
        {
            RepairWhatACrashTook();
            _collection.Checkpoint(_documents);
        }
        while (_collection.LostConnections > _lostConnections);
        _checkpointDocuments = _documents;
        _store.AddCheckpoint(new Checkpoint(step.Step, _documents, _clock.UtcNow.ToUnixTimeMilliseconds()));
        using StoredRun stored = StoredRun.Open(_store.Folder);
        if (stored.Steps.FirstOrDefault(s => s.Step == step.Step) is { } result)
            _observer.OnStepFinished(result);
    }

    /// <summary>A server that came back may have lost what it had acknowledged but not journaled; operations need not have failed for that.</summary>
    private void RepairWhatACrashTook()
    {
        while (_anyFailureSinceCheckpoint || _collection.LostConnections > _lostConnections)
        {
            _anyFailureSinceCheckpoint = false;
            _lostConnections = _collection.LostConnections;
            _inserts.Repair(new NumberRange(_checkpointDocuments, _documents));
        }
    }

    private PhasePlan Plan(OperationSpecification operation, int threads) => new()
    {
        Operation = operation,
        Threads = threads,
        Seed = _seed,
        CollectionDocuments = _documents,
        ReconnectFor = _reconnectFor,
    };

    private void Store(int step, TestResult result)
    {
        _store.AddTestResult(step, _documents, result);
        _observer.OnTestFinished(step, result);
    }

    private void Count(TestOutcome outcome)
    {
        _failed += outcome.Phase.Accounting.Failed;
        _wrong += outcome.Phase.Wrong;
        _anyFailureSinceCheckpoint |= outcome.Phase.Accounting.Failed > 0;
    }

    private bool MayGoOn(CancellationToken stop) => !stop.IsCancellationRequested && MayGoOn();

    private bool MayGoOn() => _stopReason is null && (_stopReason = _reasonToStop()) is null;

    private void Report(string kind, string text) => Report(new RunEvent(_clock.UtcNow.ToUnixTimeMilliseconds(), kind, text));

    private void Report(RunEvent happened)
    {
        _store.AddEvent(happened);
        _observer.OnEvent(happened);
    }
}

/// <summary>What a series is asked to do, beside the server and the store.</summary>
public sealed record SeriesRequest
{
    public required SeriesSettings Settings { get; init; }

    public required ulong Seed { get; init; }

    /// <summary>Number and Number1 lie below it.</summary>
    public required int ValueRange { get; init; }

    /// <summary>Bytes under the server's data folder; null where that is not to be seen.</summary>
    public Func<long?> MeasureDisk { get; init; } = () => null;

    /// <summary>Asked every second: a sentence ends the series cleanly, null lets it go on.</summary>
    public Func<string?> ReasonToStop { get; init; } = () => null;

    /// <summary>How long a lost server is waited for.</summary>
    public TimeSpan ReconnectFor { get; init; } = TimeSpan.FromSeconds(60);
}
