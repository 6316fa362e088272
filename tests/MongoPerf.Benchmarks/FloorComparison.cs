using System.Globalization;
using System.Text.Json;
using MongoPerf.Deployments.Processes;

namespace MongoPerf.Benchmarks;

/// <summary>
/// Runs mongoperf and the floor of client cost (tests/floor/limit.c) in turn against one real mongod, or one sharded cluster, and
/// prints their ratios.
/// </summary>
/// <remarks>
/// Floor and mongoperf alternate, each for about the same time: floor, mongoperf, floor, mongoperf … floor. The ratio of a pair is
/// mongoperf over the mean of the floors on either side of it; each floor over the one before shows what the machine's noise alone does.
/// Reported are medians with 95 % intervals (bootstrap).
/// Queries read one collection of generated documents; inserts of both sides go to another one. "id" is YCSB's workload c, uniform,
/// against limit.c's reads by _id. The program's own sampling continues meanwhile, as it does for users; only the comparison of
/// replies is left out.
/// </remarks>
internal static class FloorComparison
{
    private const int Documents = 500_000;
    private static readonly string[] InsertTests = ["unack", "batch", "safe"];

    public static int Run(string[] args)
    {
        string mongod = Option(args, "--mongod") ?? Environment.GetEnvironmentVariable("MONGOPERF_MONGOD")
            ?? throw new ArgumentException("--mongod PATH or MONGOPERF_MONGOD is needed");
        int rounds = int.Parse(Option(args, "--rounds") ?? "11", CultureInfo.InvariantCulture);
        double seconds = double.Parse(Option(args, "--seconds") ?? "5", CultureInfo.InvariantCulture);
        string? shards = Option(args, "--shards");
        string[] cases = (Option(args, "--tests") ?? "q4/1,q4/8,q5/1,q5/8,q6/1,q6/8,q7/1,q7/8,unack/1,batch/1,safe/1,id/1,id/8").Split(',');

        using IBenchmarkTarget server = shards is null ? new BenchmarkServer(mongod) : new BenchmarkCluster(mongod, shards);
        var program = new MongoPerfProcess(server.Arguments, seconds);
        var floor = new FloorProcess(server);
        program.Load(Documents);
        Console.WriteLine($"mongod {mongod}, {(shards is null ? "" : $"{shards} shards, ")}{Documents:N0} documents, "
            + $"{rounds} rounds of {seconds:0.#} s; medians [95 % interval]");
        Console.WriteLine("| test, threads | floor, ops/s | mongoperf, ops/s | rate ratio | floor against floor | client CPU, µs/op: "
            + "floor | mongoperf | CPU ratio |");
        Console.WriteLine("| --- | --- | --- | --- | --- | --- | --- | --- |");
        foreach (string name in cases)
        {
            string[] parts = name.Split('/');
            Console.WriteLine(Compare(program, floor, parts[0], int.Parse(parts[1], CultureInfo.InvariantCulture), rounds, seconds));
        }

        return 0;
    }

    private static string Compare(MongoPerfProcess program, FloorProcess floor, string test, int threads, int rounds, double seconds)
    {
        string collection = InsertTests.Contains(test) ? "inserts" : "series";
        if (collection == "inserts")
            program.CreateEmpty(collection);
        // One warm-up each; the floor's tells how many operations make a run of the wanted length.
        Measurement warm = floor.Measure(test, collection, test == "batch" ? 200_000 : 10_000, threads);
        long count = Math.Max(1000, (long)(warm.Rate * seconds) / 1000 * 1000);
        program.Measure(test, collection, threads);

        var rows = new List<(Measurement First, Measurement Ours, Measurement Second)>();
        Measurement before = floor.Measure(test, collection, count, threads);
        for (int round = 0; round < rounds; round++)
        {
            Measurement ours = program.Measure(test, collection, threads);
            Measurement after = floor.Measure(test, collection, count, threads);
            rows.Add((before, ours, after));
            before = after;
        }

        double[] ratios = [.. rows.Select(r => r.Ours.Rate / ((r.First.Rate + r.Second.Rate) / 2))];
        double[] noise = [.. rows.Select(r => r.Second.Rate / r.First.Rate)];
        double[] cpu = [.. rows.Select(r => r.Ours.CpuMicroseconds / ((r.First.CpuMicroseconds + r.Second.CpuMicroseconds) / 2))];
        return $"| {test}, {threads} | {Median(rows.Select(r => r.First.Rate)):N0} | {Median(rows.Select(r => r.Ours.Rate)):N0} | "
            + $"{Describe(ratios)} | {Describe(noise)} "
            + $"| {Median(rows.Select(r => r.First.CpuMicroseconds)):0.00} | {Median(rows.Select(r => r.Ours.CpuMicroseconds)):0.00} | "
            + $"{Describe(cpu)} |";
    }

    internal static string Describe(double[] values)
    {
        var random = new Random(1);
        double[] medians = [.. Enumerable.Range(0, 2000)
            .Select(_ => Median(Enumerable.Range(0, values.Length).Select(_ => values[random.Next(values.Length)]))).Order()];
        return $"{Median(values):0.00} [{medians[50]:0.00}, {medians[1949]:0.00}]";
    }

    internal static double Median(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        return sorted.Length % 2 == 1 ? sorted[sorted.Length / 2] : (sorted[(sorted.Length / 2) - 1] + sorted[sorted.Length / 2]) / 2;
    }

    internal static string? Option(string[] args, string name)
    {
        int at = Array.IndexOf(args, name);
        return at >= 0 && at + 1 < args.Length ? args[at + 1] : null;
    }
}

/// <param name="Rate">Operations per second; of the batch test, documents.</param>
/// <param name="CpuMicroseconds">The client's user and system time per operation.</param>
internal readonly record struct Measurement(double Rate, double CpuMicroseconds)
{
    /// <summary>Of the operations' times; 0 where they are not measured.</summary>
    public double MedianMicroseconds { get; init; }
}

/// <summary>What both sides talk to; ended and removed with this.</summary>
internal interface IBenchmarkTarget : IDisposable
{
    int Port { get; }

    /// <summary>Temporary.</summary>
    string Folder { get; }

    /// <summary>A mongod routes: the floor must speak its cluster commands.</summary>
    bool IsCluster { get; }

    /// <summary>How mongoperf is told of it.</summary>
    IReadOnlyList<string> Arguments { get; }
}

/// <summary>A mongod in a temporary folder.</summary>
internal sealed class BenchmarkServer : IBenchmarkTarget
{
    private readonly System.Diagnostics.Process _process;

    public BenchmarkServer(string mongod)
    {
        Folder = Directory.CreateTempSubdirectory("mongoperf-floor").FullName;
        Port = FreePort.Find();
        _process = Processes.Start(mongod, ["--port", $"{Port}", "--bind_ip", "127.0.0.1", "--dbpath", Folder,
            "--wiredTigerCacheSizeGB", "4", "--logpath", Path.Combine(Folder, "log"), "--quiet"], []);
        for (int i = 0; i < 200 && FreePort.IsFree(Port); i++)
            Thread.Sleep(100);
    }

    public int Port { get; }

    /// <summary>User and system time of the mongod so far.</summary>
    public double CpuMicroseconds => Processes.CpuMicroseconds(_process);

    public string Folder { get; }

    public bool IsCluster => false;

    public IReadOnlyList<string> Arguments => ["--uri", $"mongodb://127.0.0.1:{Port}"];

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
        Directory.Delete(Folder, recursive: true);
    }
}

/// <summary>A sharded cluster whose router is a mongod, brought up as a user does it.</summary>
internal sealed class BenchmarkCluster : IBenchmarkTarget
{
    private readonly string _cluster;

    public BenchmarkCluster(string mongod, string shards)
    {
        Folder = Directory.CreateTempSubdirectory("mongoperf-floor").FullName;
        _cluster = Path.Combine(Folder, "cluster");
        MongoPerfProcess.Command("cluster", "start", "--folder", _cluster, "--shards", shards, "--cache", "1GB", "--mongod", mongod);
        using JsonDocument status =
            JsonDocument.Parse(MongoPerfProcess.Command("cluster", "status", "--folder", _cluster, "--format", "json"));
        string router = status.RootElement.GetProperty("processes").EnumerateArray()
            .First(p => p.GetProperty("name").GetString() == "router").GetProperty("address").GetString()!;
        Port = int.Parse(router[(router.LastIndexOf(':') + 1)..], CultureInfo.InvariantCulture);
    }

    public int Port { get; }

    public string Folder { get; }

    public bool IsCluster => true;

    public IReadOnlyList<string> Arguments => ["--cluster", _cluster];

    public void Dispose()
    {
        MongoPerfProcess.Command("cluster", "stop", "--folder", _cluster, "--remove");
        Directory.Delete(Folder, recursive: true);
    }
}
