using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>Records of a run with every required member filled, to be changed by `with`.</summary>
internal static class RunParts
{
    public static DateTimeOffset Start { get; } = new(2026, 11, 21, 12, 0, 0, TimeSpan.Zero);

    public static RunInfo Run(string id = "2026-11-21-a") => new()
    {
        Id = id,
        Seed = 42,
        Version = "0.1.0",
        BuildKind = "Release",
        CommandLine = "mongoperf series --target 1M",
        StartedAt = Start,
    };

    /// <param name="target">Documents that its growth goes to.</param>
    public static RunSettings Settings(long target = 1_000_000) => new()
    {
        Deployment = new DeploymentSettings { Topology = Topology.Standalone },
        Data = new DataSettings { Database = "mongoperf" },
        Plan = new PlanSettings
        {
            Name = "series",
            Description = "Eight measurements while a collection grows",
            Path = "scenarios/series.yaml",
            Text = "phases: []",
            Parameters = [new ParameterValue("target", $"{target}"), new ParameterValue("batch", "1000")],
            TargetDocuments = target,
            VerifyShare = 0.01,
        },
    };

    /// <summary>A finished phase.</summary>
    public static PhaseRecord Phase(int number, string name, params IReadOnlyList<OperationResult> results) =>
        new() { Number = number, Phase = name, IsComplete = true, Operations = results };

    /// <summary>A finished phase of the growth "series".</summary>
    public static PhaseRecord Grown(int number, string name, int step, long documents, params IReadOnlyList<OperationResult> results) =>
        Phase(number, name, results) with
        {
            Kind = results is [{ IsInsert: true }, ..] ? PhaseKind.Write : results.Count == 0 ? PhaseKind.Sizes : PhaseKind.Measure,
            Growth = new GrowthPoint("series", step, documents),
            Collection = "series",
            Documents = documents,
        };

    public static DeploymentInfo Deployment() => new()
    {
        Kind = DeploymentKind.Mongod,
        Topology = Topology.Standalone,
        ServerVersion = "6.0.5",
        StorageEngine = "wiredTiger",
        CacheBytes = 268_435_456,
        Address = "127.0.0.1:27017",
        Namespace = "mongoperf.documents",
        ProcessId = 4711,
    };

    public static EnvironmentInfo Environment() => new()
    {
        OperatingSystem = "Debian GNU/Linux 12 (bookworm)",
        Kernel = "6.1.0-28-amd64",
        CpuModel = "Example CPU @ 2.60GHz",
        CpuCount = 8,
        MemoryBytes = 16_777_216_000,
        Disk = "ext4 on /dev/vda",
        DiskTotalBytes = 200_000_000_000,
        DiskFreeBytes = 120_000_000_000,
        DotNetVersion = "10.0.1",
        ServerOnSameMachine = true,
    };

    public static OperationResult Result(string operation, int threads = 1, long operations = 100) => new()
    {
        Operation = operation,
        IsInsert = operation is "unack" or "batch" or "safe" or "load",
        IsUnacknowledged = operation == "unack",
        Threads = threads,
        Batch = operation == "batch" ? 1000 : 1,
        Operations = operations,
        Documents = operations,
        Failed = 0,
        WarmupSeconds = 1.25,
        Seconds = 3.75,
        OperationsPerSecond = operations / 3.75,
        DocumentsPerSecond = operations / 3.75,
        MegabytesPerSecond = operations / 3.75 * 1024 / 1e6,
        ClientCpuMicrosecondsPerOperation = 12.5,
        ClientCpuCores = 0.5,
        LatencyMicroseconds = Latency(100),
        Accounting = new Accounting(operations, operations, 0, 0),
    };

    public static LatencySummary Latency(double p50) => new()
    {
        Min = p50 / 2,
        Mean = p50 * 1.1,
        P50 = p50,
        P90 = p50 * 1.5,
        P95 = p50 * 2,
        P99 = p50 * 4,
        P999 = p50 * 10,
        Max = p50 * 40,
    };

    public static SizeResult Sizes(long documents) => new()
    {
        Documents = documents,
        DataBytes = documents * 1024,
        StorageBytes = documents * 1100,
        IndexBytes = documents * 60,
        Indexes = new Dictionary<string, long> { ["_id_"] = documents * 15, ["Number_1"] = documents * 15 },
        Shards = [new ShardSize("standalone", documents, documents * 1024, documents * 1100, documents * 60, 0)],
        DiskBytes = documents * 1300,
    };

    public static Sample Sample(int second, string operation = "q4", long documents = 1000) => new()
    {
        AtMilliseconds = Start.AddSeconds(second).ToUnixTimeMilliseconds(),
        Phase = 1,
        Operation = operation,
        IsWarmup = second == 0,
        Seconds = 1,
        Operations = 500 + second,
        Documents = 5000,
        Bytes = 5_120_000,
        Failed = 0,
        CollectionDocuments = documents,
        LatencyMicroseconds = Latency(200),
        Histogram = new byte[] { 1, 2, 3 },
    };

    public static MetricSample ServerSample(int second) => new(
        Start.AddSeconds(second).ToUnixTimeMilliseconds(),
        "127.0.0.1:27017",
        [.. MetricCatalogue.Server.Select((_, i) => i == 1 ? double.NaN : (second * 100.0) + i)]);
}
