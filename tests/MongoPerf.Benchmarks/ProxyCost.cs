using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using MongoPerf.Deployments.Processes;

namespace MongoPerf.Benchmarks;

/// <summary>
/// What a proxy between client and server costs: <c>proxy [--test q4] [--threads 1] [--rounds 11] [--seconds 5]</c>. The client is
/// tests/floor/limit.c; it goes to a mongod of MONGOPERF_MONGOD directly, through tests/floor/proxy.c, which only passes bytes on, through
/// 'mongoperf record', and through proxy.c again, in turns. Medians over the rounds are printed as Markdown, with 95 % intervals
/// (bootstrap) for what is compared within a round.
/// </summary>
internal static class ProxyCost
{
    private const int Documents = 100_000;
    private const string Collection = "series";

    public static int Run(string[] args)
    {
        string test = FloorComparison.Option(args, "--test") ?? "q4";
        int threads = int.Parse(FloorComparison.Option(args, "--threads") ?? "1", CultureInfo.InvariantCulture);
        int rounds = int.Parse(FloorComparison.Option(args, "--rounds") ?? "11", CultureInfo.InvariantCulture);
        double seconds = double.Parse(FloorComparison.Option(args, "--seconds") ?? "5", CultureInfo.InvariantCulture);
        using var server = new BenchmarkServer(Environment.GetEnvironmentVariable("MONGOPERF_MONGOD")
            ?? throw new ArgumentException("MONGOPERF_MONGOD is needed"));
        var client = new FloorProcess(server);
        client.Measure("load", Collection, Documents, 1);
        using RunningProxy floor = RunningProxy.Floor(server), recorder = RunningProxy.Recorder(server);
        (string Name, RunningProxy? Proxy)[] ways =
            [("directly", null), ("proxy.c", floor), ("mongoperf record", recorder), ("proxy.c again", floor)];
        var costs = ways.ToDictionary(way => way.Name, _ => new List<Cost>());
        // The first round warms up. Each tells how many operations make a run of the wanted length in the next one.
        long[] counts = [.. ways.Select(_ => 5000L)];
        for (int round = -1; round < rounds; round++)
        {
            for (int i = 0; i < ways.Length; i++)
            {
                Cost cost = Measure(client, server, ways[i].Proxy, test, counts[i], threads);
                counts[i] = Math.Max(1000, (long)(cost.Rate * seconds));
                if (round >= 0)
                    costs[ways[i].Name].Add(cost);
            }
        }

        Print(costs, [.. ways.Select(way => way.Name)]);
        return 0;
    }

    private static Cost Measure(
        FloorProcess client, BenchmarkServer server, RunningProxy? proxy, string test, long count, int threads)
    {
        double proxyBefore = proxy?.CpuMicroseconds ?? 0, serverBefore = server.CpuMicroseconds;
        Measurement measured = client.Measure(test, Collection, count, threads, proxy?.Port, timed: true);
        // What was recorded last is written.
        Thread.Sleep(100);
        return new Cost(measured.Rate, measured.MedianMicroseconds, ((proxy?.CpuMicroseconds ?? 0) - proxyBefore) / count,
            measured.CpuMicroseconds + ((server.CpuMicroseconds - serverBefore) / count));
    }

    private static void Print(Dictionary<string, List<Cost>> costs, string[] names)
    {
        List<Cost> direct = costs[names[0]], floor = costs[names[1]];
        Console.WriteLine("| | ops/s | of the direct rate | p50, µs | above the direct one, µs | CPU of the proxy, µs/op "
            + "| of proxy.c's | CPU of client and server, µs/op |");
        Console.WriteLine("| --- | --- | --- | --- | --- | --- | --- | --- |");
        foreach (string name in names)
        {
            List<Cost> own = costs[name];
            bool isProxy = own != direct;
            string[] cells =
            [
                $"{Median(own, cost => cost.Rate):N0}", isProxy ? Compare(own, direct, (a, b) => a.Rate / b.Rate) : "",
                $"{Median(own, cost => cost.P50):0.0}", isProxy ? Compare(own, direct, (a, b) => a.P50 - b.P50) : "",
                isProxy ? $"{Median(own, cost => cost.Proxy):0.0}" : "",
                isProxy && own != floor ? Compare(own, floor, (a, b) => a.Proxy / b.Proxy) : "", $"{Median(own, cost => cost.Ends):0.0}",
            ];
            Console.WriteLine($"| {name} | {string.Join(" | ", cells)} |");
        }
    }

    private static double Median(List<Cost> costs, Func<Cost, double> of) => FloorComparison.Median(costs.Select(of));

    private static string Compare(List<Cost> own, List<Cost> other, Func<Cost, Cost, double> of) =>
        FloorComparison.Describe([.. own.Zip(other, of)]);

    /// <param name="Rate">Operations per second.</param>
    /// <param name="P50">Microseconds.</param>
    /// <param name="Proxy">Its CPU, microseconds per operation.</param>
    /// <param name="Ends">The CPU of client and server.</param>
    private readonly record struct Cost(double Rate, double P50, double Proxy, double Ends);

    /// <summary>A proxy that leads to the server; ended with this.</summary>
    private sealed class RunningProxy : IDisposable
    {
        private readonly Process _process;

        private RunningProxy(int port, string program, IReadOnlyList<string> arguments)
        {
            Port = port;
            // As ./mongoperf starts 'record'.
            _process = Processes.Start(program, arguments, new() { ["DOTNET_TieredCompilation"] = "1" });
            for (int i = 0; i < 200 && FreePort.IsFree(Port); i++)
                Thread.Sleep(100);
        }

        public int Port { get; }

        public double CpuMicroseconds => Processes.CpuMicroseconds(_process);

        public static RunningProxy Floor(BenchmarkServer server, [CallerFilePath] string here = "")
        {
            string program = Path.Combine(server.Folder, "proxy");
            Processes.Run("cc", ["-O2", "-pthread", "-o", program, Path.Combine(Path.GetDirectoryName(here)!, "../floor/proxy.c")], []);
            int port = FreePort.Find();
            return new RunningProxy(port, program, [$"{port}", $"{server.Port}"]);
        }

        public static RunningProxy Recorder(BenchmarkServer server)
        {
            int port = FreePort.Find();
            return new RunningProxy(port, "dotnet", [Path.Combine(AppContext.BaseDirectory, "mongoperf.dll"), "record", .. server.Arguments,
                "--listen", $"127.0.0.1:{port}", "--output", Path.Combine(server.Folder, "recording")]);
        }

        public void Dispose()
        {
            _process.Kill();
            _process.WaitForExit();
            _process.Dispose();
        }
    }
}
