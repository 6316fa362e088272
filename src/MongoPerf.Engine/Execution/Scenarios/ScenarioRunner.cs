using System.Runtime.ExceptionServices;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Engine.Workloads.Keys;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;

namespace MongoPerf.Engine.Execution.Scenarios;

/// <summary>How a scenario runs, beside what its file says.</summary>
public sealed record ScenarioRunOptions
{
    public required ulong Seed { get; init; }

    /// <summary>0 to 1: the share of replies whose documents are compared, where it is known what must come.</summary>
    public double VerifyShare { get; init; }

    public required TimeSpan ReconnectFor { get; init; }

    /// <summary>Asked once a second; false ends the run.</summary>
    public required Func<bool> MayGoOn { get; init; }

    /// <summary>Ends the run's own server cleanly and starts it again; never called with <see cref="ServerRestart.None"/>.</summary>
    public Action<ServerRestart> Restart { get; init; } = _ => throw new NotSupportedException("there is no server that could be started again");
}

/// <summary>What a whole scenario came to.</summary>
/// <param name="Failed">Failed operations, warm-up included.</param>
/// <param name="Wrong">Documents that were not what must have come.</param>
/// <param name="Missing">Documents that were sent for loading and did not arrive.</param>
/// <param name="FailedAssertions">With the phases that they are of.</param>
/// <param name="IsComplete">Nothing stopped it.</param>
public sealed record ScenarioOutcome(long Failed, long Wrong, long Missing, IReadOnlyList<string> FailedAssertions, bool IsComplete);

/// <summary>Runs a scenario: makes its data, but for those that a phase of its own makes, then phase after phase, each stored as a step of its own.</summary>
public sealed class ScenarioRunner(IClock clock, TestRunner tests, IScenarioData data, RunStore store, ISeriesObserver observer, ScenarioRunOptions options)
{
    private readonly Dictionary<string, KeySpace> _keys = [];
    private readonly HashSet<string> _shrunk = [];
    private readonly List<string> _failedAssertions = [];
    private int _step;
    private long _failed;
    private long _wrong;
    private long _missing;

    /// <exception cref="Exception">What a worker gave up for; results up to then are stored.</exception>
    public ScenarioOutcome Run(Scenario scenario, CancellationToken stop)
    {
        bool complete = true;
        foreach (ScenarioRound round in scenario.Rounds)
            complete = complete && RunRound(round, stop);
        return new ScenarioOutcome(_failed, _wrong, _missing, _failedAssertions, complete);
    }

    private bool RunRound(ScenarioRound round, CancellationToken stop)
    {
        foreach (ScenarioCollection collection in round.Collections)
        {
            if (round.Phases.All(p => p.Creates != collection.Name))
                data.Create(collection);
            _keys[collection.Name] = new KeySpace(0);
            _shrunk.Remove(collection.Name);
        }

        foreach (ScenarioPhase phase in round.Phases)
        {
            if (!Wait(phase.PauseSeconds, stop))
                return false;
            if (phase.Restart != ServerRestart.None)
                options.Restart(phase.Restart);
            if (!RunPhase(round, phase, stop))
                return false;
        }

        return true;
    }

    private bool RunPhase(ScenarioRound round, ScenarioPhase phase, CancellationToken stop)
    {
        int step = ++_step;
        Report(RunEvent.Phase, LabelOf(phase));
        if (phase.Creates is not null)
            return CreateCollection(step, phase, round.Collections.First(c => c.Name == phase.Creates), stop);
        ScenarioCollection? loaded = phase.Loads is null ? null : round.Collections.First(c => c.Name == phase.Loads);
        (PhaseGroup Group, TestOutcome Outcome)[] outcomes = [.. RunGroups(step, phase, loaded, stop).Where(o => o.Outcome is not null).Select(o => (o.Group, o.Outcome!))];
        _shrunk.UnionWith(phase.Groups.SelectMany(g => g.Operations).Where(o => o.Operation.Removes).Select(o => o.Operation.Collection));
        long documents = CountAfter(round, loaded, outcomes);
        Store(step, phase, outcomes, documents);
        if (outcomes.Select(o => o.Outcome.Phase.GivenUp).FirstOrDefault(e => e is not null) is { } failure)
            throw failure;
        bool goesOn = !stop.IsCancellationRequested && options.MayGoOn();
        if (goesOn && phase.TakesSizes && (loaded ?? (round.Collections is [var first, ..] ? first : null)) is { } sized)
            store.AddSizes(step, data.ReadSizes(sized, documents));
        return goesOn;
    }

    private bool CreateCollection(int step, ScenarioPhase phase, ScenarioCollection collection, CancellationToken stop)
    {
        PhaseGroup group = phase.Groups[0];
        using var executor = new CreateExecutor(data, collection);
        TestOutcome outcome = new TestRunner(clock, new PhaseRunner(clock, () => executor), store, observer).Run(step, new PhasePlan
        {
            Operation = group.Operations[0].Operation, Threads = group.Threads, Operations = group.Count, Seed = options.Seed, ReconnectFor = options.ReconnectFor,
        }, options.MayGoOn, stop);
        _keys[collection.Name] = new KeySpace(0);
        Store(step, phase, [(group, outcome)], 0);
        if ((executor.Failure ?? outcome.Phase.GivenUp) is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        return !stop.IsCancellationRequested && options.MayGoOn();
    }

    /// <summary>Runs the groups of a phase at once; those without a limit end with the last that has one.</summary>
    private IEnumerable<(PhaseGroup Group, TestOutcome? Outcome)> RunGroups(int step, ScenarioPhase phase, ScenarioCollection? loaded, CancellationToken stop)
    {
        if (phase.Groups.Count == 1)
            return [(phase.Groups[0], RunGroup(step, phase, phase.Groups[0], loaded, stop))];
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        Task<TestOutcome?>[] tasks =
        [
            .. phase.Groups.Select(group => Task.Factory.StartNew(
                () =>
                {
                    TestOutcome? outcome = RunGroup(step, phase, group, loaded, ended.Token);
                    if (outcome?.Phase.GivenUp is not null)
                        ended.Cancel();
                    return outcome;
                },
                CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default)),
        ];
        WaitForAll(tasks.Where((_, i) => phase.Groups[i].IsLimited));
        ended.Cancel();
        WaitForAll(tasks);
        return [.. phase.Groups.Select((group, i) => (group, tasks[i].GetAwaiter().GetResult()))];
    }

    /// <summary>Also for those that fail: their exceptions come when results are taken.</summary>
    private static void WaitForAll(IEnumerable<Task> tasks) => Task.WhenAny(Task.WhenAll(tasks)).Wait(CancellationToken.None);

    /// <returns>Null when the phase ended before the group began.</returns>
    private TestOutcome? RunGroup(int step, ScenarioPhase phase, PhaseGroup group, ScenarioCollection? loaded, CancellationToken stop)
    {
        if (!Wait(group.AfterSeconds, stop))
            return null;
        OperationSpecification operation = Bind(phase, group);
        return tests.Run(step, new PhasePlan
        {
            Operation = operation,
            Threads = group.Threads,
            Seed = options.Seed,
            Numbers = loaded is null ? null : new NumberSource(0, loaded.Count),
            HasRanges = phase.HasRanges,
            Lap = phase.Lap,
            Seconds = group.Seconds,
            WarmupSeconds = group.WarmupSeconds,
            Operations = loaded is null ? group.Count : null,
            Rate = group.Rate,
            VerifyShare = options.VerifyShare,
            ReconnectFor = options.ReconnectFor,
            CollectionDocuments = loaded is null && operation.Parts[0] is CollectionOperation first && _keys.TryGetValue(first.Collection, out KeySpace? keys) ? keys.Count : 0,
        }, options.MayGoOn, stop);
    }

    /// <summary>Ties the group's operations to the keys that are there now.</summary>
    private OperationSpecification Bind(ScenarioPhase phase, PhaseGroup group)
    {
        long inserts = ExpectedInserts(group);
        WeightedOperation[] bound = [.. group.Operations.Select(o => new WeightedOperation(Bind(o, inserts), o.Weight))];
        return bound.Length == 1 ? bound[0].Operation : new OperationMix(group.Name.Length > 0 ? $"{phase.Name}.{group.Name}" : phase.Name, bound);
    }

    private CollectionOperation Bind(PhaseOperation item, long inserts)
    {
        KeySpace? keys = _keys.GetValueOrDefault(item.Operation.Collection);
        if (item.Operation.Inserts)
            return item.Operation with { Keys = keys };
        if (item.Keys is null || keys is null)
            return item.Operation;
        CollectionOperation bound = item.Operation with { Chooser = item.Keys.Open(keys, inserts) };
        // What a read of an empty collection brings depends on how far the inserts beside it are.
        return keys.Count == 0 && bound is FindDocuments find ? find with { Expected = null } : bound;
    }

    private static long ExpectedInserts(PhaseGroup group)
    {
        double weights = group.Operations.Sum(o => o.Weight);
        return group.Count is not { } count
            ? 0
            : (long)group.Operations.Where(o => o.Operation.Inserts).Sum(o => count * o.Weight / weights * o.Operation.DocumentsPerCommand);
    }

    /// <summary>Looks whether what was loaded has arrived, and lets later phases see what was inserted.</summary>
    private long CountAfter(ScenarioRound round, ScenarioCollection? loaded, (PhaseGroup Group, TestOutcome Outcome)[] outcomes)
    {
        if (loaded is null)
        {
            // Keys that a broken connection left unanswered are there as far as later phases go.
            foreach (ScenarioCollection collection in round.Collections.Where(c => _keys[c.Name].Next != _keys[c.Name].Count))
                _keys[collection.Name] = new KeySpace(_keys[collection.Name].Next);
            return round.Collections is not [var counted, ..] ? 0 : _shrunk.Contains(counted.Name) ? data.Count(counted) : _keys[counted.Name].Next;
        }

        if (outcomes.Any(o => o.Outcome.Phase.WasStopped || o.Outcome.Phase.GivenUp is not null))
            return outcomes.Sum(o => o.Outcome.Phase.AllDocuments);
        long there = data.Count(loaded);
        long missing = Math.Max(0, loaded.Count - there);
        if (missing > 0)
            Report("missing", $"{missing:N0} of {loaded.Count:N0} documents did not arrive in {loaded.Name}");
        _missing += missing;
        _keys[loaded.Name] = new KeySpace(loaded.Count);
        data.SetLoaded(loaded, there);
        return there;
    }

    private void Store(int step, ScenarioPhase phase, (PhaseGroup Group, TestOutcome Outcome)[] outcomes, long documents)
    {
        var results = new List<TestResult>();
        foreach ((_, TestOutcome outcome) in outcomes)
        {
            results.AddRange(outcome.Results);
            store.AddLaps(step, outcome.Phase.Laps);
            _failed += outcome.Phase.Accounting.Failed;
            _wrong += outcome.Phase.Wrong;
        }

        AssertionResult[] assertions = [.. phase.Assertions.Select(a => AssertionCheck.Check(a, [.. outcomes.Select(o => o.Outcome)]))];
        _failedAssertions.AddRange(assertions.Where(a => !a.Holds).Select(a => $"{LabelOf(phase)}: {a.Text}"));
        foreach (TestResult result in results)
        {
            store.AddTestResult(step, documents, result);
            observer.OnTestFinished(step, result);
        }

        store.AddPoint(new ScenarioPoint
        {
            Step = step,
            Phase = phase.Name,
            IsLoad = phase.Loads is not null,
            IsCreate = phase.Creates is not null,
            Lap = phase.Lap,
            Parameters = [.. phase.Parameters.Select(p => new ParameterValue(p.Key, p.Value))],
            Groups = [.. outcomes.Select(o => GroupShare.Of(o.Group.Name, o.Outcome.Phase.Seconds, o.Outcome.Phase.ThreadOperations, o.Outcome.Phase.Accounting))],
            Assertions = assertions,
        });
        store.AddCheckpoint(new Checkpoint(step, documents, clock.UtcNow.ToUnixTimeMilliseconds()));
    }

    private static string LabelOf(ScenarioPhase phase) =>
        phase.Parameters.Count == 0 ? phase.Name : $"{phase.Name} ({string.Join(", ", phase.Parameters.Select(p => $"{p.Key}={p.Value}"))})";

    private void Report(string kind, string text)
    {
        var happened = new RunEvent(clock.UtcNow.ToUnixTimeMilliseconds(), kind, text);
        store.AddEvent(happened);
        observer.OnEvent(happened);
    }

    /// <returns>False when the run was stopped meanwhile.</returns>
    private bool Wait(double seconds, CancellationToken stop)
    {
        long until = clock.Now + clock.TicksOf(seconds);
        while (seconds > 0 && clock.Now < until && !stop.IsCancellationRequested)
            clock.SleepUntil(Math.Min(until, clock.Now + (clock.TicksPerSecond / 20)));
        return !stop.IsCancellationRequested;
    }
}
