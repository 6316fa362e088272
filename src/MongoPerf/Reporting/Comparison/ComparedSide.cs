using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Comparison;

/// <summary>One run, or several repeats of it, that stand against others.</summary>
internal sealed class ComparedSide
{
    /// <param name="runs">One at least, in the order in which they ran.</param>
    public ComparedSide(IReadOnlyList<StoredRun> runs)
    {
        Runs = [.. runs.Select(run => new RunWindows(run))];
    }

    public IReadOnlyList<RunWindows> Runs { get; }

    public StoredRun First => Runs[0].Run;

    /// <summary>Of the first run.</summary>
    public string Id => First.Run.Id;

    /// <summary>"2026-11-21-a", or "2026-11-21-a and 4 repeats".</summary>
    public string Name => Runs.Count switch
    {
        1 => Id,
        2 => Id + " and 1 repeat",
        _ => $"{Id} and {Runs.Count - 1} repeats",
    };

    /// <summary>"2026-11-21-a: mongod 6.0.5, standalone".</summary>
    public string Title => $"{Name}: {ChartText.DeploymentText(First.Deployment)}";

    /// <summary>Of one test at one size, a window per run; empty unless every run has it.</summary>
    public IReadOnlyList<RateWindow> Windows(WindowKey key)
    {
        RateWindow[] windows = [.. Runs.Select(run => run.Find(key)).OfType<RateWindow>()];
        return windows.Length == Runs.Count ? windows : [];
    }
}
