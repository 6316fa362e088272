using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace MongoPerf.Benchmarks;

/// <summary>
/// Many connections, beside the floor of a crowd (tests/floor/crowd.c), against one mongod of MONGOPERF_MONGOD:
/// <c>crowd [--connections 8,1000,3000] [--rate 3000] [--think 1s] [--rounds 5] [--seconds 10] [--programs a.dll,b.dll]</c>.
/// </summary>
/// <remarks>
/// Floor and program alternate (floor, program, floor, …); the ratio of a pair is the program over the mean of the floors on either side,
/// and each floor over the one before shows what the machine's noise alone does. Several programs, such as two builds, run one after the
/// other between the same floors. With a rate, times are response times; with pauses to think there is no rate, and they are service times.
/// Medians over the rounds are printed as Markdown, ratios with 95 % intervals (bootstrap).
/// </remarks>
internal static partial class CrowdComparison
{
    private const double WarmupSeconds = 2;

    public static int Run(string[] args)
    {
        string[] connections = (FloorComparison.Option(args, "--connections") ?? "8,500,1000,2000,3000").Split(',');
        string rate = FloorComparison.Option(args, "--rate") ?? "3000";
        string? think = FloorComparison.Option(args, "--think");
        int rounds = int.Parse(FloorComparison.Option(args, "--rounds") ?? "5", CultureInfo.InvariantCulture);
        string seconds = FloorComparison.Option(args, "--seconds") ?? "10";
        string[] programs =
            (FloorComparison.Option(args, "--programs") ?? Path.Combine(AppContext.BaseDirectory, "mongoperf.dll")).Split(',');
        using var server = new BenchmarkServer(Environment.GetEnvironmentVariable("MONGOPERF_MONGOD")
            ?? throw new ArgumentException("MONGOPERF_MONGOD is needed"));
        string floor = Build(server.Folder);
        string[] choices = think is null ? ["--set", $"rate={rate}"] : ["--set", "thinks=true", "--set", $"think={think}"];
        string runs = Directory.CreateDirectory(Path.Combine(server.Folder, "runs")).FullName;
        Crowd Ours(string program, string count) => Measure(program, [$"{server.Arguments[0]}", $"{server.Arguments[1]}",
            "--set", $"threads={count}", "--set", $"seconds={double.Parse(seconds, CultureInfo.InvariantCulture) + WarmupSeconds}s",
            .. choices, "--out", runs]);
        Crowd Floor(string count) => Read(Processes.Run(floor, think is null
            ? [$"{server.Port}", count, rate, seconds] : [$"{server.Port}", count, "0", seconds, Milliseconds(think)], []));

        Console.WriteLine($"{(think is null ? $"{rate}/s" : $"each thinks for {think}")}; {rounds} rounds of {seconds} s; medians [95 %]");
        Console.WriteLine("| connections | | ops/s | skipped | p50, µs | p99, ms | p99.9, ms | CPU, µs/op | memory, MB | p50 ratio "
            + "| p99 ratio | CPU ratio |");
        Console.WriteLine($"|{string.Concat(Enumerable.Repeat(" --- |", 12))}");
        foreach (string count in connections)
        {
            // Makes the collection, and warms both up.
            _ = Ours(programs[0], count);
            List<Crowd> floors = [Floor(count)];
            var ours = programs.ToDictionary(program => program, _ => new List<Crowd>());
            for (int round = 0; round < rounds; round++)
            {
                foreach (string program in programs)
                    ours[program].Add(Ours(program, count));
                floors.Add(Floor(count));
            }

            Print(count, "floor", floors, [.. floors.Zip(floors.Skip(1))]);
            foreach (string program in programs)
                Print(count, programs.Length == 1 ? "mongoperf" : program, ours[program], [.. ours[program].Select((own, i) =>
                    (Crowd.Mean(floors[i], floors[i + 1]), own))]);
            Console.WriteLine($"(load average {File.ReadAllText("/proc/loadavg").Trim()})");
        }

        return 0;
    }

    private static string Milliseconds(string think) => think.EndsWith("ms", StringComparison.Ordinal) ? think[..^2]
        : $"{double.Parse(think.TrimEnd('s'), CultureInfo.InvariantCulture) * 1000}";

    private static string Build(string folder, [CallerFilePath] string here = "")
    {
        string program = Path.Combine(folder, "crowd");
        Processes.Run("cc", ["-O2", "-o", program, Path.Combine(Path.GetDirectoryName(here)!, "../floor/crowd.c"), "-lm"], []);
        return program;
    }

    private static Crowd Measure(string program, IReadOnlyList<string> arguments, [CallerFilePath] string here = "")
    {
        string scenario = Path.Combine(Path.GetDirectoryName(here)!, "../floor/crowd.yaml");
        using Process process = Processes.Start(
            "dotnet", [program, "run", scenario, .. arguments, "--format", "json", "--quiet", "--verify", "none"], []);
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        // What the system says of a process is gone when that ends.
        double megabytes = 0;
        while (!output.Wait(100))
            megabytes = PeakMegabytes(process.Id) ?? megabytes;
        process.WaitForExit();
        using JsonDocument json = JsonDocument.Parse(output.Result);
        JsonElement phase = json.RootElement.GetProperty("phases")[1], result = phase.GetProperty("operations")[0];
        JsonElement times = result.GetProperty("responseMicroseconds") is { ValueKind: JsonValueKind.Object } response
            ? response : result.GetProperty("latencyMicroseconds");
        double Time(string name) => times.GetProperty(name).GetDouble();
        return new Crowd(result.GetProperty("operationsPerSecond").GetDouble(),
            phase.GetProperty("groups")[0].GetProperty("accounting").GetProperty("skipped").GetDouble(),
            Time("p50"), Time("p99"), Time("p999"), result.GetProperty("clientCpuMicrosecondsPerOperation").GetDouble(), megabytes);
    }

    private static double? PeakMegabytes(int process)
    {
        try
        {
            Match peak = Peak().Match(File.ReadAllText($"/proc/{process}/status"));
            return peak.Success ? Number(peak.Groups[1]) / 1024 : null;
        }
        catch (IOException)
        {
            return null;
        }
    }

    private static Crowd Read(string line)
    {
        Match match = Figures().Match(line);
        double[] figures = [.. match.Groups.Values.Skip(1).Select(Number)];
        return new Crowd(figures[0], figures[1], figures[2], figures[3], figures[4], figures[5], figures[6] / 1024);
    }

    private static double Number(Group text) => double.Parse(text.Value, CultureInfo.InvariantCulture);

    private static void Print(string connections, string name, List<Crowd> own, (Crowd Floor, Crowd Own)[] pairs)
    {
        string Median(Func<Crowd, double> of, double unit = 1, string format = "N0") =>
            (FloorComparison.Median(own.Select(of)) / unit).ToString(format, CultureInfo.InvariantCulture);
        string Ratio(Func<Crowd, double> of) => FloorComparison.Describe([.. pairs.Select(pair => of(pair.Own) / of(pair.Floor))]);
        Console.WriteLine($"| {connections} | {name} | {Median(c => c.Rate)} | {Median(c => c.Skipped)} | {Median(c => c.P50)} "
            + $"| {Median(c => c.P99, 1000, "N1")} | {Median(c => c.P999, 1000, "N1")} | {Median(c => c.Cpu, 1, "N1")} "
            + $"| {Median(c => c.Megabytes)} | {Ratio(c => c.P50)} | {Ratio(c => c.P99)} | {Ratio(c => c.Cpu)} |");
    }

    [GeneratedRegex(@"VmHWM:\s+(\d+) kB")]
    private static partial Regex Peak();

    /// <summary>Response times; of thinkers they are service times.</summary>
    [GeneratedRegex(@"(\d+) ops/s, \d+ operations, (\d+) skipped; (?:response|service) p50 ([\d.]+) p99 ([\d.]+) p99.9 ([\d.]+);.*"
        + @"client cpu ([\d.]+) us/op.* (\d+) kB")]
    private static partial Regex Figures();

    /// <param name="Rate">Operations per second.</param>
    /// <param name="Skipped">Arrivals.</param>
    /// <param name="P50">Microseconds, as the following two.</param>
    /// <param name="Cpu">The client's user and system time per operation, microseconds.</param>
    /// <param name="Megabytes">Resident at most.</param>
    private sealed record Crowd(double Rate, double Skipped, double P50, double P99, double P999, double Cpu, double Megabytes)
    {
        public static Crowd Mean(Crowd a, Crowd b) => new((a.Rate + b.Rate) / 2, (a.Skipped + b.Skipped) / 2, (a.P50 + b.P50) / 2,
            (a.P99 + b.P99) / 2, (a.P999 + b.P999) / 2, (a.Cpu + b.Cpu) / 2, (a.Megabytes + b.Megabytes) / 2);
    }
}
