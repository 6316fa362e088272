using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Forecasts;

/// <summary>
/// Made-up growths whose laws are known: each document takes 1,024 bytes, 1,100 in storage, 60 in indexes, 1,300 on disk.
/// </summary>
internal sealed record GrownRun
{
    public const double FileBytes = 1160;

    public int Steps { get; init; } = 10;

    public long DocumentsPerStep { get; init; } = 1_000_000;

    public long CacheBytes { get; init; } = 1L << 40;

    public long MemoryLimitBytes { get; init; } = 1L << 41;

    /// <summary>Operations per second of q4 with so many documents.</summary>
    public Func<double, double> Rate { get; init; } = _ => 8000;

    public void Write(string folder)
    {
        RunSettings settings = RunParts.Settings(Steps * DocumentsPerStep);
        using RunStore store = RunStore.Create(
            folder,
            RunParts.Run(Path.GetFileName(folder)),
            settings with { Deployment = settings.Deployment with { MemoryLimitBytes = MemoryLimitBytes } });
        store.SetDeployment(RunParts.Deployment() with { CacheBytes = CacheBytes });
        store.SetEnvironment(RunParts.Environment());
        int number = 0;
        for (int step = 1; step <= Steps; step++)
        {
            long documents = step * DocumentsPerStep;
            double rate = Rate(documents);
            store.EndPhase(RunParts.Grown(++number, "q4", step, documents, RunParts.Result("q4", 8) with
            {
                Documents = 1000,
                OperationsPerSecond = rate,
                LatencyMicroseconds = RunParts.Latency(8e6 / rate),
            }));
            store.EndPhase(RunParts.Grown(++number, "size", step, documents) with { Sizes = [RunParts.Sizes(documents)] });
            store.AddCheckpoint(new Checkpoint(number, documents, RunParts.Start.AddSeconds(step).ToUnixTimeMilliseconds()));
        }

        store.SetState(RunState.Finished, null, RunParts.Start.AddSeconds(Steps));
    }
}
