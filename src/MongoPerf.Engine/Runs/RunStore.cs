namespace MongoPerf.Engine.Runs;

/// <summary>Writes runs/ID/run.db (SQLite, WAL) while a run goes on.</summary>
/// <remarks>
/// Safe to call from several threads (one lock; nothing here is on the measured path). Samples are committed once a second at the latest,
/// checkpoints and results at once: a kill -9 at any moment loses at most the last second of samples and no checkpoint.
/// </remarks>
public sealed class RunStore : IDisposable
{
    /// <summary>The layout of run.db. A program reads this and older ones.</summary>
    public const int FormatVersion = 1;

    /// <summary>Makes the folder and run.db.</summary>
    /// <exception cref="RunStoreException">The folder is there already, or can't be made.</exception>
    public static RunStore Create(string runFolder, RunInfo run, SeriesSettings settings) => throw new NotImplementedException();

    /// <summary>Opens an existing run to go on with it.</summary>
    /// <exception cref="RunStoreException">No run.db, not a run's, half-written, or of a newer format.</exception>
    public static RunStore Open(string runFolder) => throw new NotImplementedException();

    public string Folder => throw new NotImplementedException();

    public void SetDeployment(DeploymentInfo deployment) => throw new NotImplementedException();

    public void SetEnvironment(EnvironmentInfo environment) => throw new NotImplementedException();

    /// <summary>Ends or re-opens the run.</summary>
    public void SetState(RunState state, string? because, DateTimeOffset? endedAt) => throw new NotImplementedException();

    public void AddSample(PhaseSample sample) => throw new NotImplementedException();

    public void AddServerSample(MetricSample sample) => throw new NotImplementedException();

    public void AddHostSample(MetricSample sample) => throw new NotImplementedException();

    public void AddEvent(RunEvent happened) => throw new NotImplementedException();

    /// <summary>Adds to the count of that code and name; the first message is kept.</summary>
    public void AddErrors(IEnumerable<ErrorCount> errors) => throw new NotImplementedException();

    /// <summary>Stores a test's result, in place of one with the same step, test and threads.</summary>
    public void AddTestResult(int step, long documents, TestResult result) => throw new NotImplementedException();

    /// <summary>Whole-window histograms in HdrHistogram V2 compressed encoding (microseconds).</summary>
    public void AddHistogram(int step, string test, int threads, bool isWarmup, ReadOnlyMemory<byte> encoded) => throw new NotImplementedException();

    public void AddSizes(int step, SizeResult sizes) => throw new NotImplementedException();

    /// <summary>Marks the step complete; on disk (synced) when this returns.</summary>
    public void AddCheckpoint(Checkpoint checkpoint) => throw new NotImplementedException();

    /// <summary>Forgets results of a step that was broken off, so that it can be run again. Samples stay.</summary>
    public void DiscardStep(int step) => throw new NotImplementedException();

    /// <summary>Free-form values that the engine keeps with a run (such as the server's data folder and process), by name.</summary>
    public void SetNote(string name, string value) => throw new NotImplementedException();

    /// <summary>Writes what is still buffered.</summary>
    public void Flush() => throw new NotImplementedException();

    public void Dispose() => throw new NotImplementedException();
}
