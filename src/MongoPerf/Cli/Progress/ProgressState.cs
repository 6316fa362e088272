using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Cli.Progress;

/// <summary>What there is to tell about a run at one moment.</summary>
internal sealed record ProgressSnapshot
{
    public required string RunId { get; init; }
    public required string Deployment { get; init; }
    public required long Documents { get; init; }
    public required long Target { get; init; }
    public required TimeSpan Elapsed { get; init; }
    public TestProgress? Test { get; init; }
    public PhaseSample? Last { get; init; }
    public Eta? Eta { get; init; }

    /// <summary>NaN where the server does not say.</summary>
    public double CacheUsedBytes { get; init; } = double.NaN;
    public double CacheLimitBytes { get; init; } = double.NaN;
    public double CacheDirtyBytes { get; init; } = double.NaN;
    public double ServerResidentBytes { get; init; } = double.NaN;
    public double DiskFreeBytes { get; init; } = double.NaN;

    /// <summary>Where the disk will be full, as things go; null when that can't be said.</summary>
    public long? DocumentsWhenDiskFull { get; init; }
    public long Failed { get; init; }
    public IReadOnlyList<TestResult> StepResults { get; init; } = [];
}

/// <summary>Collects what the engine tells, for views that look at it when they like. Safe for all threads.</summary>
internal sealed class ProgressState(string runId, SeriesSettings settings, bool showEta) : ISeriesObserver
{
    private static readonly int CacheUsed = MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_used");
    private static readonly int CacheMax = MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_max");
    private static readonly int CacheDirty = MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_dirty");
    private static readonly int Resident = MetricCatalogue.IndexOf(MetricCatalogue.Server, "mem_resident");
    private static readonly int DiskFree = MetricCatalogue.IndexOf(MetricCatalogue.Host, "disk_free");

    private readonly Lock _lock = new();
    private readonly Dictionary<int, double[]> _servers = [];
    private readonly EtaEstimator _eta = new(settings);
    private readonly long _start = Environment.TickCount64;
    private ProgressSnapshot _now = new()
    {
        RunId = runId,
        Deployment = "",
        Documents = 0,
        Target = settings.TargetDocumentCount,
        Elapsed = TimeSpan.Zero,
    };

    /// <summary>Whole lines worth telling at once: tests and steps that ended, and events.</summary>
    public event Action<string>? Line;

    public ProgressSnapshot Snapshot()
    {
        lock (_lock)
        {
            return _now with
            {
                Elapsed = TimeSpan.FromMilliseconds(Environment.TickCount64 - _start),
                Eta = showEta ? _eta.Estimate(_now.Documents) : null,
            };
        }
    }

    /// <summary>In the collection now.</summary>
    public long Documents
    {
        get
        {
            lock (_lock)
                return _now.Documents;
        }
    }

    public void SetDocumentsWhenDiskFull(long? documents) => Change(s => s with { DocumentsWhenDiskFull = documents });

    public void SetDeployment(string text) => Change(s => s with { Deployment = text });

    /// <summary>Documents that are there before the first test.</summary>
    public void SetDocuments(long documents) => Change(s => s with { Documents = documents });

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

    public void OnTestStarted(TestProgress test) => Change(s => s with { Test = test, Last = null, Documents = test.Documents });

    public void OnSample(PhaseSample sample) => Change(s =>
    {
        _eta.Add(sample);
        return s with { Last = sample, Documents = sample.CollectionDocuments, Failed = s.Failed + sample.Failed };
    });

    public void OnTestFinished(int step, TestResult result)
    {
        Change(s => s with { StepResults = [.. s.StepResults, result] });
        Line?.Invoke(ProgressText.Finished(step, Snapshot().Documents, result));
    }

    public void OnStepFinished(StepResult step)
    {
        Change(s =>
        {
            _eta.EndStep(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
            return s with { Test = null, Documents = step.Documents, StepResults = [] };
        });
        Line?.Invoke(ProgressText.Step(Snapshot(), step));
    }

    public void OnEvent(RunEvent happened) => Line?.Invoke($"{happened.Kind}: {happened.Text}");

    public void Tell(string line) => Line?.Invoke(line);

    /// <summary>Over the parts of a cluster, as far as they say; NaN when none does.</summary>
    private double SumOf(int metric)
    {
        double[] known = [.. _servers.Values.Select(values => values[metric]).Where(double.IsFinite)];
        return known.Length == 0 ? double.NaN : known.Sum();
    }

    private void Change(Func<ProgressSnapshot, ProgressSnapshot> change)
    {
        lock (_lock)
            _now = change(_now);
    }
}
