using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>One run, or several repeats of it, that stand against others.</summary>
public sealed class ComparedSide
{
    private readonly Lazy<OtherLoad?> _other;

    /// <param name="runs">One at least, in the order in which they ran.</param>
    public ComparedSide(IReadOnlyList<StoredRun> runs)
    {
        Stored = runs;
        _other = new Lazy<OtherLoad?>(() =>
            runs.Select(run => ClientLimit.Of(run).Other).OfType<OtherLoad>().MaxBy(load => load.Cores / load.Of));
        // Repeats are judged run by run, which needs no latencies of single seconds.
        Windows = new SideWindows([.. runs.Select(run => RunWindows.Of(run, withHistograms: runs.Count == 1))]);
    }

    public IReadOnlyList<StoredRun> Stored { get; }

    public SideWindows Windows { get; }

    /// <summary>
    /// The most that programs which have nothing to do with it used of the client's machine in any of its runs; null when that was too
    /// little to matter.
    /// </summary>
    public OtherLoad? Other => _other.Value;

    public StoredRun First => Stored[0];

    /// <summary>The id of the first run.</summary>
    public string Id => First.Run.Id;

    /// <summary>Short: what the deployment is called, or the id.</summary>
    public string Label => First.DeploymentName ?? Id;

    /// <summary>"2026-11-21-a", "2026-11-21-a (2 shards)" where the deployment has a name, or "2026-11-21-a and 4 repeats".</summary>
    public string Name => Stored.Count switch
    {
        1 => Known,
        2 => Known + Words.Of(" and 1 repeat"),
        _ => Words.Of($"{Known} and {Stored.Count - 1} repeats"),
    };

    private string Known => First.DeploymentName is { } name ? $"{Id} ({name})" : Id;

    /// <summary>"2026-11-21-a: mongod 6.0.5, standalone", with the address of one that was given.</summary>
    public string Title
    {
        get
        {
            string address = First.Deployment is { } given && given.Kind.IsGiven() ? Words.Of($" at {given.Address}") : "";
            return $"{Name}: {ChartText.DeploymentText(First)}{address}";
        }
    }
}

/// <summary>What the runs of one side measured, in the order in which they ran.</summary>
public sealed record SideWindows(IReadOnlyList<RunWindows> Runs)
{
    /// <summary>A window per run; empty unless every run has it.</summary>
    public IReadOnlyList<RateWindow> At(WindowKey key)
    {
        RateWindow[] windows = [.. Runs.Select(run => run.Find(key)).OfType<RateWindow>()];
        return windows.Length == Runs.Count ? windows : [];
    }

    /// <summary>What every run has, in the order of the plan.</summary>
    public IEnumerable<WindowKey> Keys => Runs[0].Keys.Where(key => At(key).Count > 0);
}
