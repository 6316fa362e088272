using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Workloads;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Execution;

/// <summary>A phase of scripted operations on a manual clock.</summary>
public abstract class PhaseTest
{
    protected const double MillisecondSeconds = 0.001;

    private protected ManualClock Clock { get; } = new();

    private protected List<ScriptedExecutor> Executors { get; } = [];

    private protected PhaseLog Log { get; }

    protected PhaseTest() => Log = new PhaseLog(Clock);

    private protected static PhasePlan Queries { get; } = new() { Operation = SeriesTests.Find("q4", 1_000_000), Threads = 1, Seed = 42 };

    private protected static PhasePlan Inserts(string test, long documents, int batch = 1) => new()
    {
        Operation = SeriesTests.Insert(test, batch, journal: false, ordered: true),
        Threads = 1,
        Seed = 42,
        Numbers = new NumberSource(0, documents),
    };

    private protected PhaseResult Run(PhasePlan plan, Func<int, Scripted> script, CancellationToken stop = default) =>
        Run(plan, () => new ScriptedExecutor(Clock, script), stop);

    private protected PhaseResult Run(PhasePlan plan, Func<ScriptedExecutor> open, CancellationToken stop = default)
    {
        var runner = new PhaseRunner(Clock, () =>
        {
            Executors.Add(open());
            return Executors[^1];
        });
        return runner.Run(plan, Log, stop);
    }
}
