using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting.Comparison;

/// <summary>Stores a made-up run whose seconds have real noise, with latencies that go with the rates.</summary>
internal sealed record NoisyRun
{
    public string Id { get; init; } = "2026-11-21-a";
    public ulong NoiseSeed { get; init; } = 1;
    public string Kind { get; init; } = "series";
    public int Steps { get; init; } = 10;
    public int Seconds { get; init; } = 4;
    public IReadOnlyList<string> Tests { get; init; } = TestOrder.Names;
    public IReadOnlyList<int> Threads { get; init; } = [8];

    /// <summary>1 leaves a test as it is, 0.9 makes it a tenth slower.</summary>
    public Func<string, double> Speed { get; init; } = _ => 1;

    /// <summary>Second of every window in which the connection is down; 0 for none.</summary>
    public int OutageSecond { get; init; }
    public Func<SeriesSettings, SeriesSettings> Change { get; init; } = settings => settings;
    public Func<RunInfo, RunInfo> ChangeRun { get; init; } = run => run;
    public DeploymentInfo Deployment { get; init; } = RunParts.Deployment();
    public RepeatOf? Repeat { get; init; }
    public ScenarioInfo? Scenario { get; init; }
    public string? DeploymentName { get; init; }

    /// <returns>The run's folder.</returns>
    public string Write(string runsFolder)
    {
        string folder = Path.Combine(runsFolder, Id);
        var noise = new NoisySamples(NoiseSeed);
        SeriesSettings settings = RunParts.Settings(Steps * 1000L) with { StepDocumentCount = 1000, Tests = Tests, Threads = Threads };
        using RunStore store = RunStore.Create(folder, ChangeRun(RunParts.Run(Id) with { Kind = Kind, Repeat = Repeat }), Change(settings));
        store.SetDeployment(Deployment);
        store.SetEnvironment(RunParts.Environment());
        if (Scenario is not null)
            store.SetScenario(Scenario);
        if (DeploymentName is not null)
            store.SetNote(StoredRun.DeploymentNote, DeploymentName);
        DateTimeOffset now = RunParts.Start;
        for (int step = 1; step <= Steps; step++)
        {
            foreach (string test in Tests.Where(t => t != "size"))
            {
                foreach (int threads in IsInsert(test) ? [1] : Threads)
                    WriteWindow(store, noise, step, test, threads, ref now);
            }

            if (Tests.Contains("size"))
                store.AddSizes(step, RunParts.Sizes(step * 1000));
            store.AddCheckpoint(new Checkpoint(step, step * 1000, now.ToUnixTimeMilliseconds()));
        }

        store.SetState(RunState.Finished, null, now);
        return folder;
    }

    private void WriteWindow(RunStore store, NoisySamples noise, int step, string test, int threads, ref DateTimeOffset now)
    {
        double[] rates = noise.Window(Seconds + 1, 2000.0 * threads / (1 + (0.05 * step)) * Speed(test));
        var all = new LatencyHistogram();
        for (int second = 0; second < rates.Length; second++)
        {
            now = now.AddSeconds(1);
            // The warm-up is ten times as fast: counted in, it would show.
            bool isWarmup = second == 0;
            bool isOutage = second == OutageSecond && OutageSecond > 0;
            long operations = (long)(isWarmup ? rates[second] * 10 : isOutage ? rates[second] / 10 : rates[second]);
            LatencyHistogram histogram = Latencies(threads * 1e6 / rates[second]);
            if (!isWarmup)
                histogram.AddTo(all);
            store.AddSample(RunParts.Sample(second, test, step * 1000) with
            {
                AtMilliseconds = now.ToUnixTimeMilliseconds(), Step = step, Threads = threads, IsWarmup = isWarmup, HasOutage = isOutage,
                Operations = operations, Documents = operations, LatencyMicroseconds = LatencySummaries.From(histogram),
                Histogram = HistogramEncoding.EncodeCompressed(histogram),
            });
        }

        store.AddTestResult(step, step * 1000, RunParts.Test(test, threads) with
        {
            Seconds = Seconds,
            OperationsPerSecond = rates.Skip(1).Average(r => (long)r),
            DocumentsPerSecond = rates.Skip(1).Average(r => (long)r),
            LatencyMicroseconds = LatencySummaries.From(all),
        });
    }

    private static LatencyHistogram Latencies(double mean)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 200; i++)
            histogram.Record((long)(mean * (0.5 + (i / 200.0)) * (i > 196 ? 4 : 1)));
        return histogram;
    }

    private static bool IsInsert(string test) => test is "unack" or "batch" or "safe";
}
