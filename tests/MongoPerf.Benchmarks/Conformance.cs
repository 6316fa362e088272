using System.Collections.Concurrent;
using System.Diagnostics;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Testing;

namespace MongoPerf.Benchmarks;

/// <summary>
/// What the load engine measures, in real time, of a server whose every delay is known; and how late it starts operations itself.
/// </summary>
/// <remarks>The tables are those of docs/conformance.md; the tests of the same name do the same in no real time.</remarks>
internal static class Conformance
{
    private const double Minute = 60;

    /// <param name="Name">Of the case.</param>
    /// <param name="Threads">Connections.</param>
    /// <param name="Rate">Operations per second; null for a closed loop.</param>
    /// <param name="Seconds">How long.</param>
    /// <param name="Script">Of the server.</param>
    /// <param name="Expected">Percentiles of response time (of service time in a closed loop), microseconds.</param>
    private sealed record Case(string Name, int Threads, double? Rate, double Seconds, Func<ScriptedCall, double> Script,
        (double Percent, double Microseconds)[] Expected);

    private static readonly Case[] Cases =
    [
        new("one stall of 1 s", 1100, 1000, Minute, call => ScriptedServer.Stalled(call, 0.01, 30, 1),
            [(50, 10_000), (99, 410_000), (99.9, 950_000)]),
        new("0.2 s of stall every 10 s", 300, 1000, Minute,
            call => ScriptedServer.Stalled(call, 0.01, (Math.Floor(call.Start / 10) * 10) + 5, 0.2), [(50, 10_000), (99, 110_000)]),
        new("a slow tenth", 40, 100, 20, call => (call.Number + call.Connection) % 10 == 0 ? 0.1 : 0.01, [(50, 10_000), (95, 100_000)]),
        new("growing delay", 40, 100, Minute, call => 0.001 + (0.1 * call.Start / Minute), [(10, 11_000), (50, 51_000), (99, 100_000)]),
        new("two peaks", 40, 100, 20, call => (call.Number + call.Connection) % 2 == 0 ? 0.002 : 0.05, [(40, 2_000), (60, 50_000)]),
        new("one of 8 connections frozen", 8, 100, Minute, call => call is { Connection: 3, Start: >= 10 } ? 45 : 0.01,
            [(50, 10_000), (99, 10_000)]),
        new("closed loop, one stall of 1 s", 4, null, Minute, call => ScriptedServer.Stalled(call, 0.01, 30, 1),
            [(99, 10_000), (99.9, 10_000)]),
        .. new[] { 1, 8, 64 }.Select(threads => new Case(
            $"closed loop, {threads} {(threads == 1 ? "thread" : "threads")}, 1 to 100 ms", threads, null, 20.2,
            call => ((call.Number * 37 % 100) + 1) * 0.001, [(10, 10_000), (50, 50_000), (90, 90_000), (99, 99_000)])),
    ];

    /// <param name="only">"delays", "lateness" or "record"; nothing for all.</param>
    public static int Run(string[] only)
    {
        bool isGood = true;
        if (only is [] or ["delays"])
            isGood &= Delays();
        if (only is [] or ["lateness"])
            Lateness();
        if (only is [] or ["record"])
            Record();
        return isGood ? 0 : 1;
    }

    private static bool Delays()
    {
        Console.WriteLine("| server | connections | rate/s | percentile | scripted | served | measured | off by |");
        Console.WriteLine("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
        bool isGood = true;
        foreach (Case one in Cases)
        {
            var calls = new ConcurrentQueue<(double Start, double End)>();
            OperationCount result =
                Measure(one.Threads, one.Rate, one.Seconds, one.Script, (call, end) => calls.Enqueue((call.Start, end))).Parts[0];
            double[] served = Served([.. calls.OrderBy(call => call.Start)], one.Rate);
            foreach ((double percent, double expected) in one.Expected)
            {
                double measured = (result.Response ?? result.Service).ValueAtPercentile(percent)!.Value;
                double took = served[Math.Max(0, (int)Math.Ceiling(percent / 100 * served.Length) - 1)];
                double off = (measured / took) - 1;
                isGood &= Math.Abs(off) <= 0.02;
                Console.WriteLine($"| {one.Name} | {one.Threads} | {(one.Rate is { } rate ? $"{rate:N0}" : "")} | p{percent} | "
                    + $"{expected / 1000:0.###} ms | {took / 1000:0.###} ms | {measured / 1000:0.###} ms | {off:+0.00%;-0.00%} |");
            }
        }

        return isGood;
    }

    /// <summary>
    /// What the operations took by the server's own account, without the engine's histograms and due times: microseconds, sorted.
    /// </summary>
    /// <param name="calls">
    /// By their starts: free connections take arrivals in the order in which they are due, and these come at even distances.
    /// </param>
    /// <param name="rate">Operations per second; null for a closed loop, where an operation is due when it starts.</param>
    private static double[] Served((double Start, double End)[] calls, double? rate)
    {
        double first = rate is null ? 0 : calls.Select((call, i) => call.Start - (i / rate.Value)).Min();
        return [.. calls.Select((call, i) => (call.End - (rate is null ? call.Start : first + (i / rate.Value))) * 1e6).Order()];
    }

    private static void Lateness()
    {
        Console.WriteLine();
        Console.WriteLine("| rate/s | connections | started in 10 s | lateness p50 | p99 | p99.9 | max | CPU, cores |");
        Console.WriteLine("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
        foreach ((int rate, int threads) in from rate in new[] { 1000, 5000, 10_000, 20_000 }
            from threads in new[] { 1, 8 } select (rate, threads))
        {
            GroupResult result = Measure(threads, rate, 10, _ => 0);
            LatencySummary late = LatencySummaries.From(result.Parts[0].ClientLateness!);
            Console.WriteLine($"| {rate:N0} | {threads} | {result.Accounting.Scheduled - result.Accounting.Skipped:N0} of "
                + $"{result.Accounting.Scheduled:N0} | {late.P50:0.0} µs | {late.P99:0.0} µs | {late.P999:0.0} µs | {late.Max:0} µs | "
                + $"{result.ClientCpuSeconds / result.Seconds:0.00} |");
        }
    }

    /// <summary>Of the histogram alone.</summary>
    private static void Record()
    {
        const int Count = 200_000_000;
        var histogram = new LatencyHistogram();
        for (int round = 0; round < 5; round++)
        {
            long start = Stopwatch.GetTimestamp();
            for (int i = 0; i < Count; i++)
                histogram.RecordNanoseconds(50_000 + ((i * 7919) & 0x3FFFF));
            Console.WriteLine($"record: {Stopwatch.GetElapsedTime(start).TotalNanoseconds / Count:0.00} ns");
        }
    }

    private static GroupResult Measure(
        int threads, double? rate, double seconds, Func<ScriptedCall, double> script, Action<ScriptedCall, double>? served = null)
    {
        var server = new ScriptedServer(SystemClock.Instance, script, served: served);
        int connections = 0;
        var runner = new GroupRunner(SystemClock.Instance, (_, _) => server.Connect(connections++));
        return runner.Run(
            new GroupPlan
            {
                Name = "scripted", Operations = [new(new CreateCollection("none"), 1)], Threads = threads, Seconds = seconds,
                Rate = rate is { } perSecond ? perSecond : null, Seed = 1,
            },
            new Silent(), CancellationToken.None);
    }

    private sealed class Silent : IGroupObserver
    {
        public void OnInterval(IReadOnlyList<Sample> samples)
        {
        }

        public void OnEvent(string kind, string text, double? seconds)
        {
        }
    }
}
