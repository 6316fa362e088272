using MongoPerf.Load.Growth;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>
/// A small plan over collections in memory, with scripted operations on a manual clock; it can be broken off and gone on with.
/// </summary>
internal sealed class GrowthHarness : IDisposable
{
    public const string Users = "data:\n  users: {count: 100, document: {n: ^number}}\n";

    // Made when it is needed: a test may put another harness in the place of its class's, which never ran.
    private readonly Lazy<TemporaryFolder> _folder = new(() => new TemporaryFolder());
    private int _operations;

    public GrowthHarness() => Data = new MemoryData(Clock);

    public ManualClock Clock { get; } = new();

    public MemoryData Data { get; init; }

    public Listener Heard { get; } = new();

    /// <summary>
    /// A scenario; by default scenarios/series.yaml in two steps of 12: two unacknowledged inserts, a batch of five, one of two and three
    /// acknowledged ones; then q4 for two seconds.
    /// </summary>
    public string? Text { get; init; }

    /// <summary>Those of the series that run.</summary>
    public IReadOnlyList<string> Phases { get; init; } = ["unack", "batch", "safe", "q4", "size"];

    public string Window { get; init; } = "2s";

    /// <summary>Documents that were there before the run, by collection.</summary>
    public Dictionary<string, long> StartDocuments { get; } = [];

    public Func<string?> ReasonToStop { get; set; } = () => null;

    /// <summary>Which of several clients' parts it does.</summary>
    public PlanShare Share { get; init; } = PlanShare.Whole;

    /// <summary>As <see cref="PlanRunOptions.Repeat"/>.</summary>
    public int Repeat { get; init; } = 1;

    public long MaxErrors { get; init; }

    /// <summary>Where it waited for other clients.</summary>
    public List<long> Met { get; } = [];

    /// <summary>How it waits for them: by default they are there at once.</summary>
    public Func<long, Meeting> Meet { get; set; } = static _ => new Meeting();

    /// <summary>Of the series' collection.</summary>
    public IReadOnlyCollection<long> Numbers => Data.Numbers("series");

    /// <summary>Operations that have been started, over all executions.</summary>
    public int Operations => Volatile.Read(ref _operations);

    /// <summary>Over all executions.</summary>
    public List<ScriptedExecutor> Executors { get; } = [];

    /// <summary>What was prepared, over all executions.</summary>
    public IEnumerable<Operation> Prepared => Executors.SelectMany(executor => executor.Prepared);

    /// <summary>Of the last execution.</summary>
    public RunContext Context { get; private set; } = null!;

    /// <summary>As they are stored.</summary>
    public IReadOnlyList<PhaseRecord> Records
    {
        get
        {
            using StoredRun stored = OpenStored();
            return stored.Phases;
        }
    }

    /// <summary>Over all executions, as <see cref="StoredRun.Failures"/>.</summary>
    public long Failed
    {
        get
        {
            using StoredRun stored = OpenStored();
            return stored.Failures;
        }
    }

    public long Missing => Records.Sum(record => record.Missing);

    public long Wrong => Records.SelectMany(record => record.Operations).Sum(result => result.Wrong);

    public IEnumerable<string> FailedAssertions =>
        Records.SelectMany(record => record.Assertions.Where(one => !one.Holds).Select(one => $"{record.Phase}: {one.Text}"));

    public Plan Plan => Text is null
        ? PlanReader.Read(new ScenarioFile("series", "series.yaml", File.ReadAllText(SeriesFile.Path)), SmallSeries, 42).Plan
        : PlanReader.Read(new ScenarioFile("test", "test.yaml", Text), new PlanOverrides(), 42).Plan;

    private PlanOverrides SmallSeries => new()
    {
        Phases = Phases,
        Parameters = new Dictionary<string, string>
        {
            ["target"] = "24", ["step"] = "12", ["batch"] = "5", ["threads"] = "1", ["window"] = Window, ["warmup"] = "0s",
        },
    };

    public void Dispose()
    {
        if (_folder.IsValueCreated)
            _folder.Value.Dispose();
    }

    /// <summary>Starts the run, or continues with it, as the program's sessions do.</summary>
    /// <param name="script">Of each operation, numbered over all executions.</param>
    /// <param name="stop">Ctrl+C.</param>
    /// <returns>True when all of it was done.</returns>
    public bool Run(Func<int, Scripted> script, CancellationToken stop = default) => RunWith(script, int.MaxValue, stop: stop);

    /// <param name="script">As in <see cref="Run"/>.</param>
    /// <param name="connectionsFailFrom">Once this operation has been started, nobody can connect any more.</param>
    /// <param name="fenceSeconds">How long the fence takes.</param>
    /// <param name="stop">Ctrl+C.</param>
    public bool RunWith(Func<int, Scripted> script, int connectionsFailFrom, double fenceSeconds = 0, CancellationToken stop = default)
    {
        string folder = _folder.Value.At("run");
        RunProgress before;
        RunStore store;
        if (Directory.Exists(folder))
        {
            using StoredRun stored = StoredRun.Open(folder);
            before = new RunProgress(stored, StartDocuments);
            store = RunStore.Open(folder);
        }
        else
        {
            before = new RunProgress(StartDocuments);
            store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings());
        }

        using (store)
        {
            var groups = new GroupRunner(Clock, (group, _) => Open(group, script, connectionsFailFrom, fenceSeconds));
            Context = ContextOf(groups, store);
            return new PlanRunner(Context, before).Run(Plan, isExisting: false, stop);
        }
    }

    public StoredRun OpenStored() => StoredRun.Open(_folder.Value.At("run"));

    /// <summary>For parts of the engine that no plan is needed for.</summary>
    public void WithContext(Action<RunContext> use)
    {
        using RunStore store = RunStore.Create(_folder.Value.At("parts"), RunParts.Run(), RunParts.Settings());
        use(ContextOf(new GroupRunner(Clock, (_, _) => new ScriptedExecutor(Clock, _ => Scripted.Ok())), store));
    }

    private RunContext ContextOf(GroupRunner groups, RunStore store) => new(Clock, groups, Data, store, Heard, new PlanRunOptions
    {
        MaxErrors = MaxErrors,
        Seed = 42,
        ReasonToStop = () => ReasonToStop(),
        Share = Share,
        Repeat = Repeat,
        Meet = (position, _) =>
        {
            Met.Add(position);
            return Meet(position);
        },
        Restart = how => Data.Calls.Add($"restart {how}"),
    });

    private ScriptedExecutor Open(GroupPlan group, Func<int, Scripted> script, int connectionsFailFrom, double fenceSeconds)
    {
        ScriptedExecutor? executor = null;
        executor = new ScriptedExecutor(Clock, _ =>
        {
            executor!.ConnectFailures = Operations >= connectionsFailFrom ? int.MaxValue : 0;
            return script(Interlocked.Increment(ref _operations) - 1);
        })
        {
            Group = group, Store = Data.Insert, Remove = Data.Remove, CompleteSeconds = fenceSeconds,
        };
        lock (Executors)
            Executors.Add(executor);
        return executor;
    }

    internal sealed class Listener : IRunObserver
    {
        private readonly Lock _lock = new();

        /// <summary>Such as "1 unack", or "read" for a phase that is no part of a growth.</summary>
        public List<string> Started { get; } = [];

        public List<PhaseRecord> Finished { get; } = [];

        public List<GrowthStep> Steps { get; } = [];

        public List<RunEvent> Events { get; } = [];

        /// <summary>Called with each record that is begun.</summary>
        public Action<PhaseRecord> Before { get; set; } = _ => { };

        /// <summary>Called with each record that is complete.</summary>
        public Action<PhaseRecord> Then { get; set; } = _ => { };

        /// <summary>Those that tell of trouble.</summary>
        public IEnumerable<RunEvent> Troubles => Events.Where(e => e.Kind != RunEvent.Phase);

        public void OnPhaseStarted(PhaseRecord phase, IReadOnlyList<string> operations)
        {
            Started.Add($"{phase.Growth?.Step} {phase.Phase}".Trim());
            Before(phase);
        }

        public void OnSample(Sample sample)
        {
        }

        public void OnPhaseFinished(PhaseRecord phase)
        {
            Finished.Add(phase);
            Then(phase);
        }

        public void OnStepFinished(GrowthStep step) => Steps.Add(step);

        public void OnEvent(RunEvent happened)
        {
            lock (_lock)
                Events.Add(happened);
        }
    }
}
