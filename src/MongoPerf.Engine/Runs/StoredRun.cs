namespace MongoPerf.Engine.Runs;

/// <summary>A run as it stands on disk: finished, broken off, or still going. Reads only; a writer may be at work meanwhile.</summary>
public sealed class StoredRun : IDisposable
{
    /// <exception cref="RunStoreException">No run.db, not a run's, half-written, or of a newer format.</exception>
    public static StoredRun Open(string runFolder) => throw new NotImplementedException();

    public string Folder => throw new NotImplementedException();

    public RunInfo Run => throw new NotImplementedException();

    public SeriesSettings Settings => throw new NotImplementedException();

    /// <summary>Null when the run ended before it reached a server.</summary>
    public DeploymentInfo? Deployment => throw new NotImplementedException();

    public EnvironmentInfo? Environment => throw new NotImplementedException();

    public IReadOnlyList<StepResult> Steps => throw new NotImplementedException();

    public IReadOnlyList<ErrorCount> Errors => throw new NotImplementedException();

    public IReadOnlyList<RunEvent> Events => throw new NotImplementedException();

    public IReadOnlyList<Finding> Findings => throw new NotImplementedException();

    public IReadOnlyList<Checkpoint> Checkpoints => throw new NotImplementedException();

    /// <summary>The sum over all tests of all steps.</summary>
    public Accounting Accounting => throw new NotImplementedException();

    /// <summary>In time order, streamed; without the histogram bytes unless asked for.</summary>
    public IEnumerable<PhaseSample> ReadSamples(bool withHistograms = false) => throw new NotImplementedException();

    public IEnumerable<MetricSample> ReadServerSamples() => throw new NotImplementedException();

    public IEnumerable<MetricSample> ReadHostSamples() => throw new NotImplementedException();

    public string? FindNote(string name) => throw new NotImplementedException();

    public void Dispose() => throw new NotImplementedException();
}
