using MongoPerf.Load.Growth;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Reports.Forecasts;
using MongoPerf.Storage;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Running.Progress;

/// <summary>What there is to tell about a run at one moment.</summary>
public sealed record ProgressSnapshot
{
    public required string RunId { get; init; }
    public required string Deployment { get; init; }
    public required long Documents { get; init; }
    public required long Target { get; init; }
    public required TimeSpan Elapsed { get; init; }

    /// <summary>The phase that is at work; null between two phases.</summary>
    public PhaseRecord? Phase { get; init; }

    /// <summary>The latest of each operation of the phase.</summary>
    public IReadOnlyList<Sample> Last { get; init; } = [];
    public Eta? Eta { get; init; }

    /// <summary>NaN where the server does not say.</summary>
    public double CacheUsedBytes { get; init; } = double.NaN;
    public double CacheLimitBytes { get; init; } = double.NaN;
    public double CacheDirtyBytes { get; init; } = double.NaN;
    public double ServerResidentBytes { get; init; } = double.NaN;
    public double DiskFreeBytes { get; init; } = double.NaN;

    /// <summary>Where the disk will be full, as a forecast from the sizes so far says; null where it says nothing.</summary>
    public long? DocumentsWhenDiskFull { get; init; }
    public long Failed { get; init; }

    /// <summary>Operations per second of all that runs, in each of the last seconds; the latest last.</summary>
    public IReadOnlyList<double> Rates { get; init; } = [];

    /// <summary>Where the run stands among those of its command.</summary>
    public RunPlace Place { get; init; } = new(1, 1);

    /// <summary>
    /// The time left until the last run of the command is done, if all take as long as this one; null when it is the last.
    /// </summary>
    public TimeSpan? LeftOfAll => Eta is { } eta && Place.Number < Place.Count
        ? TimeSpan.FromSeconds(eta.LikelySeconds + ((Elapsed.TotalSeconds + eta.LikelySeconds) * (Place.Count - Place.Number)))
        : null;
}

/// <param name="Number">1-based.</param>
/// <param name="Count">How many runs the command makes.</param>
public readonly record struct RunPlace(int Number, int Count);

/// <summary>Collects what the engine tells, for views that look at it when they like. Safe for all threads.</summary>
internal sealed class ProgressState(string runId, Plan plan, RunPlace place) : IRunObserver
{
    /// <summary>Seconds.</summary>
    private const int KeptRates = 60;

    /// <summary>Lines of events of one kind in so many milliseconds.</summary>
    private const int LinesOfEvents = 10;

    private const long LinesOfEventsMilliseconds = 10_000;

    /// <summary>An operation that has not been sampled for so long has ended before the others of its phase.</summary>
    private const long LongestSilence = 3000;

    /// <summary>Characters.</summary>
    private const int LongestLine = 2000;

    /// <summary>A folder that hardly grows says nothing of where the disk ends.</summary>
    private const double MostDocuments = 1e15;

    private static readonly int CacheUsed = MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_used");
    private static readonly int CacheMax = MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_max");
    private static readonly int CacheDirty = MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_dirty");
    private static readonly int Resident = MetricCatalogue.IndexOf(MetricCatalogue.Server, "mem_resident");
    private static readonly int DiskFree = MetricCatalogue.IndexOf(MetricCatalogue.Host, "disk_free");

    private readonly Lock _lock = new();
    private readonly Dictionary<int, double[]> _servers = [];
    private readonly TimeEstimator _time = new(plan);
    private readonly SortedDictionary<long, double> _rates = [];
    private readonly Dictionary<string, (long Since, int Count)> _events = [];
    private readonly List<(long Documents, SizeResult Sizes)> _dataFolder = [];
    private readonly long _start = Environment.TickCount64;
    private string? _growth;
    private ProgressSnapshot _now = new()
    {
        RunId = runId,
        Deployment = "",
        Documents = 0,
        Target = plan.TargetDocuments,
        Place = place,
        Elapsed = TimeSpan.Zero,
    };

    /// <summary>Whole lines worth telling at once: phases and steps that ended, and events.</summary>
    public event Action<string>? Line;

    /// <summary>Seconds since the run's start.</summary>
    private double Now => (Environment.TickCount64 - _start) / 1000.0;

    public ProgressSnapshot Snapshot()
    {
        lock (_lock)
        {
            return _now with
            {
                Elapsed = TimeSpan.FromSeconds(Now),
                Eta = _time.Estimate(Now),
                Rates = [.. _rates.Values],
            };
        }
    }

    public void SetDeployment(string text) => Change(s => s with { Deployment = text });

    /// <param name="server">Which sampler's: a server that was started again may have another address.</param>
    /// <param name="sample">Its latest.</param>
    public void OnServerSample(int server, MetricSample sample) => Change(s =>
    {
        _servers[server] = sample.Values;
        return s with
        {
            CacheUsedBytes = SumOf(CacheUsed),
            CacheLimitBytes = SumOf(CacheMax),
            CacheDirtyBytes = SumOf(CacheDirty),
            ServerResidentBytes = SumOf(Resident) * 1024 * 1024,
        };
    });

    public void OnHostSample(MetricSample sample) => Change(s => s with { DiskFreeBytes = sample.Values[DiskFree] });

    public void OnPhaseStarted(PhaseRecord phase, IReadOnlyList<string> operations) => Change(s =>
    {
        _time.Begin(phase, Now);
        return s with { Phase = phase, Last = [] };
    });

    public void OnSample(Sample sample) => Change(s =>
    {
        _time.Add(sample);
        AddRate(sample);
        return s with
        {
            Last =
            [
                .. s.Last.Where(last => last.Operation != sample.Operation && sample.AtMilliseconds - last.AtMilliseconds < LongestSilence),
                sample,
            ],
            Documents = Math.Max(s.Documents, sample.CollectionDocuments),
            Failed = s.Failed + sample.Failed,
        };
    });

    public void OnPhaseFinished(PhaseRecord phase)
    {
        string[] more = [];
        Change(s =>
        {
            _time.End(phase, Now);
            more = [.. _events.Select(pair => MoreEvents(pair.Key, pair.Value.Count)).OfType<string>()];
            _events.Clear();
            return s with { Phase = null, Last = [], Documents = Math.Max(s.Documents, phase.Documents) };
        });
        foreach (string line in more)
            Show(line);
        foreach (OperationResult result in phase.Operations)
            Line?.Invoke(ProgressText.Finished(phase, result));
    }

    public void OnStepFinished(GrowthStep step)
    {
        long? full = DocumentsWhenDiskFull(step);
        Change(s => s with { Phase = null, Last = [], Documents = step.Documents, DocumentsWhenDiskFull = full });
        Line?.Invoke(ProgressText.Step(Snapshot(), step));
    }

    /// <summary>Says before anything is measured how long it takes at least.</summary>
    public void ShowTime() => Line?.Invoke(ProgressText.EstimatedTime(_time));

    /// <summary>
    /// Shows the first of many events of one kind, and how many more there were: a server that keeps closing connections makes hundreds of
    /// events a second. The run stores all of them.
    /// </summary>
    public void OnEvent(RunEvent happened)
    {
        string? more = null;
        bool isShown;
        lock (_lock)
        {
            (long since, int count) = _events.GetValueOrDefault(happened.Kind, (happened.AtMilliseconds, 0));
            if (happened.AtMilliseconds - since >= LinesOfEventsMilliseconds)
            {
                more = MoreEvents(happened.Kind, count);
                (since, count) = (happened.AtMilliseconds, 0);
            }

            _events[happened.Kind] = (since, count + 1);
            isShown = count < LinesOfEvents;
        }

        if (more is not null)
            Show(more);
        if (isShown)
            Show($"{happened.Kind}: {happened.Text}");
    }

    /// <summary>It may quote a server.</summary>
    public void Show(string line) => Line?.Invoke(ForeignText.OneLine(line, LongestLine));

    /// <summary>
    /// Finds when the disk is full as <c>forecast</c> does from the same sizes: what a disk loses meanwhile may be the journal's, or
    /// another program's. Called by the run's own thread only.
    /// </summary>
    private long? DocumentsWhenDiskFull(GrowthStep step)
    {
        double free = Snapshot().DiskFreeBytes;
        if (step.Sizes.MaxBy(sizes => sizes.DiskBytes) is not { DiskBytes: { } bytes } largest || !double.IsFinite(free))
            return null;
        if (step.Growth != _growth)
            _dataFolder.Clear();
        _growth = step.Growth;
        _dataFolder.Add((step.Documents, largest));
        double? full = SizeForecast.OfDisk(_dataFolder)?.Crossing(bytes + free).Value;
        return full is { } documents && documents > step.Documents && documents < MostDocuments ? (long)documents : null;
    }

    /// <summary>Operations that are sampled together share a second.</summary>
    private void AddRate(Sample sample)
    {
        long second = (long)Math.Round(sample.AtMilliseconds / 1000.0);
        _rates[second] = _rates.GetValueOrDefault(second) + (sample.Operations / Math.Max(sample.Seconds, 0.001));
        while (_rates.Count > KeptRates)
            _rates.Remove(_rates.Keys.First());
    }

    /// <summary>Adds up the parts of a cluster, as far as they say; NaN when none does.</summary>
    private double SumOf(int metric)
    {
        double[] known = [.. _servers.Values.Select(values => values[metric]).Where(double.IsFinite)];
        return known.Length == 0 ? double.NaN : known.Sum();
    }

    private static string? MoreEvents(string kind, int count) =>
        count > LinesOfEvents ? $"{kind}: {count - LinesOfEvents:N0} more like these" : null;

    private void Change(Func<ProgressSnapshot, ProgressSnapshot> change)
    {
        lock (_lock)
            _now = change(_now);
    }
}
