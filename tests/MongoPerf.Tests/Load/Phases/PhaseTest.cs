using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>A phase of scripted operations on a manual clock.</summary>
public abstract class PhaseTest
{
    protected const double MillisecondSeconds = 0.001;

    private protected ManualClock Clock { get; } = new();

    private protected List<ScriptedExecutor> Executors { get; } = [];

    private protected PhaseLog Log { get; }

    protected PhaseTest() => Log = new PhaseLog(Clock);

    private protected static GroupPlan Queries { get; } = new()
    {
        Name = "q4", Operations = [new(SeriesFile.Find("q4"), 1)], Threads = 1, Seed = 42,
    };

    private protected static GroupPlan Inserts(string write, long documents, int batch = 1) => new()
    {
        Name = write,
        Operations = [new(SeriesFile.Insert(write, batch), 1)],
        Threads = 1,
        Seed = 42,
        Numbers = new NumberSource(0, documents),
    };

    private protected GroupResult Run(GroupPlan plan, Func<int, Scripted> script, CancellationToken stop = default) =>
        Run(plan, () => new ScriptedExecutor(Clock, script), stop);

    private protected GroupResult Run(GroupPlan plan, Func<ScriptedExecutor> open, CancellationToken stop = default)
    {
        var runner = new GroupRunner(Clock, (_, _) =>
        {
            Executors.Add(open());
            return Executors[^1];
        });
        return runner.Run(plan, Log, stop);
    }
}
