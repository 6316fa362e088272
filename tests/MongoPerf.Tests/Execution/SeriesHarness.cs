using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Execution;

/// <summary>One small series over a collection in memory, which can be broken off and gone on with.</summary>
internal sealed class SeriesHarness : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public ManualClock Clock { get; } = new();

    public MemoryCollection Collection { get; } = new();

    public Listener Heard { get; } = new();

    /// <summary>Two steps of 12: 2 unacknowledged, a batch of 5, one of 3 and 2 acknowledged; then q4 for two operations.</summary>
    public SeriesSettings Settings { get; init; } = RunParts.Settings(24) with
    {
        StepDocumentCount = 12,
        Shares = [20, 60, 20],
        Tests = ["unack", "batch", "safe", "q4", "size"],
        BatchSize = 5,
        Threads = [1],
        WindowSeconds = 2,
        WarmupSeconds = 0,
        VerifyShare = 0,
    };

    public Func<string?> ReasonToStop { get; set; } = () => null;

    /// <summary>Operations that have been started, over all executions.</summary>
    public int Operations { get; private set; }

    public void Dispose() => _folder.Dispose();

    /// <summary>Starts the series, or goes on with it, as the program's sessions do.</summary>
    /// <param name="script">Of each operation, numbered over all executions.</param>
    /// <param name="stop">Ctrl+C.</param>
    public SeriesOutcome Run(Func<int, Scripted> script, CancellationToken stop = default) => RunWith(script, int.MaxValue, stop);

    /// <param name="script">As in <see cref="Run"/>.</param>
    /// <param name="connectionsFailFrom">Once this operation has been started, nobody can connect any more.</param>
    /// <param name="stop">Ctrl+C.</param>
    public SeriesOutcome RunWith(Func<int, Scripted> script, int connectionsFailFrom, CancellationToken stop = default)
    {
        string folder = _folder.At("run");
        IReadOnlyList<StepResult> steps = [];
        long checkpoint = 0;
        RunStore store;
        if (Directory.Exists(folder))
        {
            using StoredRun stored = StoredRun.Open(folder);
            steps = stored.Steps;
            checkpoint = stored.Checkpoints.Count > 0 ? stored.Checkpoints[^1].Documents : 0;
            store = RunStore.Open(folder);
        }
        else
        {
            store = RunStore.Create(folder, RunParts.Run(), Settings);
        }

        using (store)
        {
            var phases = new PhaseRunner(Clock, () =>
            {
                ScriptedExecutor? executor = null;
                executor = new ScriptedExecutor(Clock, _ =>
                {
                    executor!.ConnectFailures = Operations >= connectionsFailFrom ? int.MaxValue : 0;
                    return script(Operations++);
                })
                { Store = Collection.Insert };
                return executor;
            });
            var request = new SeriesRequest { Settings = Settings, Seed = 42, ValueRange = 1_000_000, ReasonToStop = ReasonToStop };
            return new SeriesRunner(Clock, phases, Collection, store, Heard, request).Run(steps, checkpoint, stop);
        }
    }

    public StoredRun OpenStored() => StoredRun.Open(_folder.At("run"));

    internal sealed class Listener : ISeriesObserver
    {
        public List<string> Started { get; } = [];

        public List<TestResult> Finished { get; } = [];

        public List<StepResult> Steps { get; } = [];

        public List<RunEvent> Events { get; } = [];

        public void OnTestStarted(TestProgress test) => Started.Add($"{test.Step} {test.Test} {test.Range}".TrimEnd());

        public void OnSample(PhaseSample sample)
        {
        }

        public void OnTestFinished(int step, TestResult result) => Finished.Add(result);

        public void OnStepFinished(StepResult step) => Steps.Add(step);

        public void OnEvent(RunEvent happened) => Events.Add(happened);
    }
}
