using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>Writes made-up runs of any shape into a folder: a collection that outgrows its server's cache.</summary>
internal sealed record GrowingRun
{
    public int Steps { get; init; } = 10;

    public long DocumentsPerStep { get; init; } = 1_000_000;

    /// <summary>Of those that the series has.</summary>
    public IReadOnlyList<string> Phases { get; init; } = ["unack", "batch", "safe", "q4", "q5", "q6", "q7", "size"];

    public IReadOnlyList<int> Threads { get; init; } = [8];

    /// <summary>Seconds of samples per phase of a step.</summary>
    public int SecondsPerPhase { get; init; } = 6;

    public DeploymentInfo? Deployment { get; init; } = RunParts.Deployment() with { CacheBytes = 3L << 30 };

    public bool HasServerSamples { get; init; } = true;

    public bool IsFinished { get; init; } = true;

    /// <summary>All rates, latencies and sizes are 0.</summary>
    public bool IsAllZero { get; init; }

    /// <summary>After this step the run rests for three hours, as if interrupted and resumed.</summary>
    public int? PauseAfterStep { get; init; }

    public string CommandLine { get; init; } = "mongoperf series --target 10M";

    public IReadOnlyList<(int Second, string Kind)> Events { get; init; } = [];

    private double Zero => IsAllZero ? 0 : 1;

    public StoredRun Write(string folder)
    {
        using (var store = RunStore.Create(
            folder,
            RunParts.Run() with { CommandLine = CommandLine },
            RunParts.Settings(Steps * DocumentsPerStep)))
        {
            if (Deployment is not null)
                store.SetDeployment(Deployment);
            store.SetEnvironment(RunParts.Environment() with { CpuCount = 2, MemoryBytes = 24L << 30 });
            int second = 0;
            int number = 0;
            for (int step = 1; step <= Steps; step++)
            {
                WriteStep(store, step, ref second, ref number);
                if (step == PauseAfterStep)
                    second += 3 * 3600;
            }

            foreach ((int at, string kind) in Events)
                store.AddEvent(new RunEvent(RunParts.Start.AddSeconds(at).ToUnixTimeMilliseconds(), kind, $"{kind} at second {at}"));
            store.SetState(IsFinished ? RunState.Finished : RunState.Interrupted, null, RunParts.Start.AddSeconds(second));
        }

        return StoredRun.Open(folder);
    }

    private void WriteStep(RunStore store, int step, ref int second, ref int number)
    {
        long documents = step * DocumentsPerStep;
        foreach (string phase in Phases.Where(static phase => phase != "size"))
        {
            bool isInsert = phase is "unack" or "batch" or "safe";
            foreach (int threads in isInsert ? [1] : Threads)
            {
                number++;
                double rate = Rate(phase, threads, step);
                for (int i = 0; i < SecondsPerPhase; i++)
                    WriteSecond(store, ++second, step, number, phase, rate * (0.94 + (0.03 * ((second * 7) % 5))), documents);
                store.EndPhase(RunParts.Grown(number, phase, step, documents, Result(phase, threads, rate, step)));
            }
        }

        if (Phases.Contains("size"))
            store.EndPhase(RunParts.Grown(++number, "size", step, documents) with { Sizes = [Sizes(documents)] });
        store.AddCheckpoint(new Checkpoint(number, documents, RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds()));
    }

    private void WriteSecond(RunStore store, int second, int step, int number, string phase, double rate, long documents)
    {
        long operations = (long)(phase == "batch" ? rate / 1000 : rate);
        store.AddSample(RunParts.Sample(second, phase, documents) with
        {
            Phase = number,
            Operations = operations,
            Documents = (long)(rate * DocumentsPerOperation(phase)),
            Bytes = (long)(rate * DocumentsPerOperation(phase) * 1024),
        });
        long at = RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds();
        double growth = step / (double)Steps;
        if (HasServerSamples)
            store.AddServerSample(new MetricSample(at, "127.0.0.1:27017", ServerValues(second, phase, growth)));
        store.AddHostSample(new MetricSample(at, "client", HostValues(second, phase)));
    }

    private static double[] ServerValues(int second, string phase, double growth)
    {
        bool isInsert = phase is "unack" or "batch" or "safe";
        double[] values = [.. MetricCatalogue.Server.Select(static _ => double.NaN)];
        void Put(string name, double value) => values[MetricCatalogue.IndexOf(MetricCatalogue.Server, name)] = value;
        double cache = 3L << 30;
        Put("cache_max", cache);
        Put("cache_used", cache * Math.Min(0.8, growth * 2));
        Put("cache_dirty", isInsert ? cache * 0.05 * (1 + (second % 6)) * growth : cache * 0.01);
        Put("cache_read", second * 30e6);
        Put("cache_written", second * 45e6);
        Put("server_user_time", second * 0.9e6);
        Put("server_system_time", second * 0.2e6);
        Put("mem_resident", 400 + (2600 * growth));
        Put("queue_readers", isInsert ? 0 : second % 3);
        Put("queue_writers", isInsert ? second % 2 : 0);
        Put("tickets_read_out", isInsert ? 0 : 8 - (second % 4));
        Put("tickets_write_out", isInsert ? 1 : 0);
        return values;
    }

    private static double[] HostValues(int second, string phase)
    {
        double[] values = [.. MetricCatalogue.Host.Select(static _ => double.NaN)];
        void Put(string name, double value) => values[MetricCatalogue.IndexOf(MetricCatalogue.Host, name)] = value;
        Put("cpu_user", second * 1.3e6);
        Put("cpu_system", second * 0.5e6);
        Put("client_cpu_user", second * 0.35e6);
        Put("client_cpu_system", second * 0.15e6);
        Put("client_resident", (90 + (phase.Length * 5)) * 1024.0 * 1024);
        Put("disk_read", second * second * 1e5);
        Put("disk_written", second * 70e6);
        return values;
    }

    private double Rate(string phase, int threads, int step)
    {
        double beyondCache = Math.Max(0, (step * DocumentsPerStep * 1024) - (3L << 30)) / (double)(3L << 30);
        double fall = 1 / (1 + (beyondCache * 0.6));
        double scale = threads == 1 ? 0.4 : 1;
        return Zero * fall * phase switch
        {
            "unack" => 41_000 - (step * 300),
            "batch" => Math.Max(1000, 46_000 - (step * 700)),
            "safe" => 7_400,
            "q4" => 8_900 * scale,
            "q5" => 6_100 * scale,
            "q6" => 1_900 * scale,
            _ => 3_100 * scale,
        };
    }

    private OperationResult Result(string phase, int threads, double rate, int step)
    {
        double documents = rate * DocumentsPerOperation(phase);
        double latency = phase == "unack" ? 9 : phase == "batch" ? 20_000 : threads * 1e6 / Math.Max(rate, 1);
        var result = RunParts.Result(phase, threads, (long)(rate * 3.75 / (phase == "batch" ? 1000 : 1)));
        return result with
        {
            Documents = (long)(documents * 3.75),
            OperationsPerSecond = phase == "batch" ? rate / 1000 : rate,
            DocumentsPerSecond = documents,
            MegabytesPerSecond = documents * (phase == "q5" ? 20 : 1024) / 1e6,
            LatencyMicroseconds = RunParts.Latency(latency * Zero) with { P999 = latency * (10 + (3 * step)) * Zero },
        };
    }

    private SizeResult Sizes(long documents) => RunParts.Sizes(documents) with
    {
        DataBytes = (long)(documents * 1024 * Zero),
        StorageBytes = (long)(documents * 1090 * Zero),
        IndexBytes = (long)(documents * 360 * Zero),
        DiskBytes = (long)(((documents * 1470) + 300_000_000) * Zero),
    };

    private static int DocumentsPerOperation(string phase) => phase switch { "q4" or "q5" or "q6" => 10, "q7" => 100, _ => 1 };
}
