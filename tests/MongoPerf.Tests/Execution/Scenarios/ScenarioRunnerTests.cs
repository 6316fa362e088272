using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Execution.Scenarios;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Execution.Scenarios;

/// <summary>A scenario from loading to its last phase, with scripted operations on a manual clock.</summary>
public sealed class ScenarioRunnerTests : IDisposable
{
    private const string Users = "data:\n  users: {count: 100, document: {n: ^number}}\n";

    private readonly TemporaryFolder _folder = new();
    private readonly ManualClock _clock = new();
    private readonly MemoryData _data;
    private readonly List<OperationSpecification> _prepared = [];

    public ScenarioRunnerTests() => _data = new MemoryData(_clock);

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Phases_run_in_order_and_are_stored_with_their_parameters()
    {
        (ScenarioOutcome outcome, StoredRun run) = Run(Users + "phases:\n  - {name: read, threads: [1, 2], count: 10, operations: [{find: users}]}\n");
        Assert.True(outcome.IsComplete);
        Assert.Equal(["load users", "read", "read"], run.Points.Select(p => p.Phase));
        Assert.Equal(["", "threads=1", "threads=2"], run.Points.Select(p => string.Join(',', p.Parameters.Select(v => $"{v.Name}={v.Value}"))));
        Assert.Equal([1, 10, 10], run.Steps.Select(s => s.Tests.Single().Operations));
        Assert.Equal(["create users", "loaded users 100", "sizes users"], _data.Calls);
        Assert.Equal([10, 10], run.Points.Skip(1).Select(p => p.Groups.Single().Operations));
        run.Dispose();
    }

    [Fact]
    public void Documents_that_did_not_arrive_are_counted_as_missing()
    {
        _data.Lost = 7;
        (ScenarioOutcome outcome, StoredRun run) = Run(Users + "phases: [{load: users}]\n");
        Assert.Equal(7, outcome.Missing);
        Assert.Contains(run.Events, e => e.Kind == "missing" && e.Text == "7 of 100 documents did not arrive in users");
        run.Dispose();
    }

    [Fact]
    public void Keys_of_inserted_documents_are_asked_for_later()
    {
        (_, StoredRun run) = Run(Users + "phases:\n  - {name: add, count: 50, operations: [{insert: users}]}\n  - {name: read, count: 5, operations: [{find: users}]}\n");
        Assert.Equal([100, 150, 150], run.Steps.Select(s => s.Documents));
        run.Dispose();
    }

    /// <summary>Found in CI: a delete that came before the first insert was acknowledged ended the run.</summary>
    [Fact]
    public void Mix_may_begin_on_an_empty_collection()
    {
        (ScenarioOutcome outcome, StoredRun run) = Run("data:\n  log: {}\nphases:\n  - {name: work, count: 20, operations: [{insert: log}, {find: log, key: zipfian}, {delete: log}]}\n");
        Assert.Equal((true, 0L, 0L), (outcome.IsComplete, outcome.Wrong, outcome.Failed));
        Assert.Equal(20, run.Steps.Single().Tests.Sum(t => t.Operations));
        run.Dispose();
    }

    /// <summary>Found in o2: a tenth was removed, and its table showed all of them still.</summary>
    [Fact]
    public void Documents_are_counted_where_some_were_removed()
    {
        (_, StoredRun run) = Run(Users + "phases:\n  - {name: add, count: 50, operations: [{insert: users}]}\n  - {name: remove, count: 5, operations: [{delete: users}]}\n  - {name: read, count: 5, operations: [{find: users}]}\n");
        // The scripted data hold what was loaded, whatever was inserted.
        Assert.Equal([100, 150, 100, 100], run.Steps.Select(s => s.Documents));
        run.Dispose();
    }

    [Fact]
    public void Sweep_of_the_data_makes_them_anew_each_time()
    {
        (_, StoredRun run) = Run("parameters: {count: [10, 20]}\ndata:\n  users: {count: $(count), document: {n: ^number}}\nphases: [{load: users}]\n");
        Assert.Equal(["create users", "loaded users 10", "sizes users", "create users", "loaded users 20", "sizes users"], _data.Calls);
        Assert.Equal([10, 20], run.Steps.Select(s => s.Documents));
        run.Dispose();
    }

    [Fact]
    public void Pause_is_waited_for_and_assertions_are_checked()
    {
        (ScenarioOutcome outcome, StoredRun run) = Run(
            Users + "phases:\n  - {name: read, pause: 5s, count: 10, operations: [{find: users}], assert: ['find.p99 < 2ms', 'find.p99 < 500us', 'total.operations == 10']}\n");
        Assert.True(_clock.Seconds >= 5);
        Assert.Equal(["read: find.p99 < 500us"], outcome.FailedAssertions);
        Assert.Equal([true, false, true], run.Points[1].Assertions.Select(a => a.Holds));
        run.Dispose();
    }

    [Fact]
    public void Stop_ends_the_scenario_and_keeps_what_there_is()
    {
        using var stop = new CancellationTokenSource();
        (ScenarioOutcome outcome, StoredRun run) = Run(
            Users + "phases:\n  - {name: read, count: 100, operations: [{find: users}]}\n  - {name: never, count: 1, operations: [{find: users}]}\n",
            i =>
            {
                if (i == 20)
                    stop.Cancel();
                return Scripted.Ok();
            },
            stop.Token);
        Assert.False(outcome.IsComplete);
        Assert.Equal(["load users", "read"], run.Points.Select(p => p.Phase));
        Assert.True(run.Points[1].Groups.Single().Accounting.Skipped > 0);
        run.Dispose();
    }

    [Fact]
    public void Error_that_ends_a_worker_comes_out_after_the_results_are_stored()
    {
        Assert.Throws<InvalidOperationException>(() => Run(Users + "phases:\n  - {name: read, count: 100, operations: [{find: users}]}\n", i => i == 20 ? Scripted.Dies() : Scripted.Ok()));
        using StoredRun run = StoredRun.Open(_folder.At("run"));
        Assert.Equal(["load users", "read"], run.Points.Select(p => p.Phase));
    }

    [Fact]
    public void Mix_is_one_operation_for_the_executors()
    {
        (_, StoredRun run) = Run(Users + "phases:\n  - {name: mix, count: 40, operations: [{find: users}, {update: users, with: {$set: {n: 1}}}]}\n");
        Assert.Equal(["find", "load", "update"], _prepared.Select(p => p.Test).Distinct().Order());
        Assert.Equal(["find", "update"], run.Steps[1].Tests.Select(t => t.Test));
        Assert.Equal(40, run.Steps[1].Tests.Sum(t => t.Operations));
        run.Dispose();
    }

    [Fact]
    public void Collection_of_a_create_phase_is_made_by_it_and_timed()
    {
        _data.CreateSeconds = 2.5;
        (ScenarioOutcome outcome, StoredRun run) = Run(
            "data:\n  users: {count: 100, document: {n: ^number}}\n  log: {}\n"
            + "phases:\n  - {name: log, count: 5, operations: [{insert: log}]}\n  - {name: init, create: users, assert: [create.max < 3s, create.min > 2s]}\n  - {load: users, threads: 2}\n");
        Assert.Equal(["create log", "create users", "loaded users 100", "sizes users"], _data.Calls);
        Assert.Equal(["log", "init", "load users"], run.Points.Select(p => p.Phase));
        Assert.Equal([false, true, false], run.Points.Select(p => p.IsCreate));
        TestResult created = Assert.Single(run.Steps[1].Tests);
        Assert.Equal(("create", 1L, 1, 2.5), (created.Test, created.Operations, created.Threads, created.Seconds));
        Assert.Equal(2_500_000, created.LatencyMicroseconds.P50!.Value, 5_000d);
        Assert.Empty(outcome.FailedAssertions);
        run.Dispose();
    }

    [Fact]
    public void Collection_that_can_not_be_made_ends_the_run_with_the_reason_and_its_phase_is_stored()
    {
        _data.CreateFailure = new OperationLimitException("an index of several fields");
        Assert.Throws<OperationLimitException>(() => Run(Users + "phases:\n  - {name: init, create: users}\n  - {load: users}\n"));
        using StoredRun run = StoredRun.Open(_folder.At("run"));
        Assert.Equal(["init"], run.Points.Select(p => p.Phase));
        Assert.Equal(1, run.Steps.Single().Tests.Single().Failed);
    }

    [Fact]
    public void Laps_of_each_thread_are_stored_with_their_phase()
    {
        (_, StoredRun run) = Run(Users + "phases:\n  - {load: users, batch: 1}\n  - {name: read, count: 10, lap: 4, operations: [{find: users}]}\n", script: _ => Scripted.Ok(0.002) with { Found = 1 });
        Assert.Equal([null, 4L], run.Points.Select(p => p.Lap));
        Assert.All(run.Laps, lap => Assert.Equal((2, 0), (lap.Step, lap.Thread)));
        Assert.Equal([(1, 4L, 0.008), (2, 8L, 0.016)], run.Laps.Select(lap => (lap.Number, lap.Done, lap.Seconds)));
        run.Dispose();
    }

    [Fact]
    public void Server_is_started_again_before_the_phases_that_ask_for_it()
    {
        (_, StoredRun run) = Run(
            Users + "phases:\n  - {load: users}\n  - {name: a, restart: cold, count: 1, operations: [{find: users}]}\n  - {name: b, restart: none, count: 1, operations: [{find: users}]}\n"
            + "  - {name: c, restart: warm, count: 1, operations: [{find: users}]}\n");
        Assert.Equal(["create users", "loaded users 100", "sizes users", "restart Cold", "restart Warm"], _data.Calls);
        run.Dispose();
    }

    private (ScenarioOutcome Outcome, StoredRun Run) Run(string text, Func<int, Scripted>? script = null, CancellationToken stop = default)
    {
        int operation = 0;
        var phases = new PhaseRunner(_clock, () => new NumberedExecutor(this, new ScriptedExecutor(_clock, _ => (script ?? (_ => Scripted.Ok()))(operation++))));
        using (RunStore store = RunStore.Create(_folder.At("run"), RunParts.Run() with { Kind = "scenario" }, RunParts.Settings()))
        {
            var observer = new Observer();
            var runner = new ScenarioRunner(_clock, new TestRunner(_clock, phases, store, observer), _data, store, observer, new ScenarioRunOptions
            {
                Seed = 42, ReconnectFor = TimeSpan.FromSeconds(1), MayGoOn = () => true, Restart = how => _data.Calls.Add($"restart {how}"),
            });
            ScenarioOutcome outcome = runner.Run(ScenarioTexts.Scenario(text), stop);
            store.Flush();
            return (outcome, StoredRun.Open(_folder.At("run")));
        }
    }

    /// <summary>Takes numbers for inserts as real executors do, and remembers what was prepared.</summary>
    private sealed class NumberedExecutor(ScenarioRunnerTests test, ScriptedExecutor inner) : IOperationExecutor
    {
        public void Connect() => inner.Connect();

        public IPreparedOperation Prepare(OperationSpecification specification, OperationContext context)
        {
            test._prepared.Add(specification);
            return new Prepared(inner.Prepare(specification, context), specification as InsertDocuments, context.Numbers);
        }

        public void Abort() => inner.Abort();

        public void Dispose() => inner.Dispose();

        private sealed class Prepared(IPreparedOperation inner, InsertDocuments? insert, NumberSource? numbers) : IPreparedOperation
        {
            public ServerError? LastError => inner.LastError;

            public bool Draw()
            {
                if (insert is null)
                    return inner.Draw();
                if (numbers is not null)
                    return numbers.Take(insert.BatchSize, out _) > 0 && inner.Draw();
                insert.Keys!.Acknowledge(insert.Keys.Take());
                return inner.Draw();
            }

            public OperationOutcome Execute() => inner.Execute();

            public VerificationOutcome Verify() => inner.Verify();

            public void Complete() => inner.Complete();
        }
    }

    private sealed class MemoryData(ManualClock clock) : IScenarioData
    {
        public List<string> Calls { get; } = [];

        /// <summary>Documents of a load that do not arrive.</summary>
        public long Lost { get; set; }

        public CancellationToken Stop { get; set; }

        public CollectionState Inspect(StoredCollection collection) => new(false, null);

        /// <summary>What each collection takes to be made.</summary>
        public double CreateSeconds { get; set; }

        /// <summary>Why none can be made.</summary>
        public Exception? CreateFailure { get; set; }

        public void Create(ScenarioCollection collection)
        {
            clock.Advance(CreateSeconds);
            if (CreateFailure is not null)
                throw CreateFailure;
            Calls.Add($"create {collection.Name}");
        }

        public long Count(ScenarioCollection collection) => collection.Count - Lost;

        public void SetLoaded(ScenarioCollection collection, long documents) => Calls.Add($"loaded {collection.Name} {documents}");

        public SizeResult ReadSizes(ScenarioCollection collection, long documents)
        {
            Calls.Add($"sizes {collection.Name}");
            return new SizeResult { Documents = documents, DataBytes = 1, StorageBytes = 1, IndexBytes = 1, Indexes = new Dictionary<string, long>() };
        }

        public long? ReadAvailableConnections() => null;

        public void Dispose()
        {
        }
    }

    private sealed class Observer : ISeriesObserver
    {
        public void OnTestStarted(TestProgress test)
        {
        }

        public void OnSample(PhaseSample sample)
        {
        }

        public void OnTestFinished(int step, TestResult result)
        {
        }

        public void OnStepFinished(StepResult step)
        {
        }

        public void OnEvent(RunEvent happened)
        {
        }
    }
}
