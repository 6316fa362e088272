using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Texts.Input;

namespace MongoPerf.Benchmarks;

/// <summary>Starts programs and reads what they print.</summary>
internal static class Processes
{
    public static Process Start(string program, IReadOnlyList<string> arguments, Dictionary<string, string> environment)
    {
        var start = new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true };
        foreach ((string name, string value) in environment)
            start.Environment[name] = value;
        return Process.Start(start)!;
    }

    /// <summary>User and system time so far.</summary>
    public static double CpuMicroseconds(Process process)
    {
        process.Refresh();
        return process.TotalProcessorTime.TotalMicroseconds;
    }

    public static string Run(string program, IReadOnlyList<string> arguments, Dictionary<string, string> environment)
    {
        using Process process = Start(program, arguments, environment);
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0 ? output
            : throw new InvalidOperationException($"{program} {string.Join(' ', arguments)}: exit code {process.ExitCode}");
    }
}

/// <summary>The built program, run as a user runs it: <c>run TEST --format json</c>, a new process each time.</summary>
internal sealed class MongoPerfProcess(IReadOnlyList<string> target, double seconds)
{
    private const double WarmupSeconds = 2;

    /// <summary>As many as test id of limit.c asks for.</summary>
    private const int ReadsByIdDocuments = 10_000;

    private readonly string _runs = Directory.CreateTempSubdirectory("mongoperf-runs").FullName;

    public void Load(int documents) => Call("run", "size", "--records", $"{documents}");

    public void CreateEmpty(string collection) =>
        Call("run", "size", "--records", "1", "--collection", collection, "--force-drop", $"mongoperf.{collection}");

    public Measurement Measure(string test, string collection, int threads)
    {
        if (test == "id")
            return MeasureReadsById(threads);
        string output = Call("run", test, "--collection", collection, "--threads", $"{threads}",
            "--duration", $"{seconds + WarmupSeconds}s", "--warmup", $"{WarmupSeconds}s");
        using JsonDocument json = JsonDocument.Parse(output);
        JsonElement result = Result(json, phase: 0);
        double batch = result.GetProperty("batch").GetDouble();
        double cpu = result.GetProperty("clientCpuMicrosecondsPerOperation").GetDouble() / batch;
        return new Measurement(result.GetProperty("operationsPerSecond").GetDouble() * batch, cpu);
    }

    /// <summary>Any command of the program.</summary>
    /// <returns>What it printed.</returns>
    public static string Command(params IReadOnlyList<string> arguments) =>
        Processes.Run("dotnet", [Path.Combine(AppContext.BaseDirectory, "mongoperf.dll"), .. arguments], []);

    /// <summary>
    /// YCSB's workload c with a uniform distribution, over as many documents as the floor asks for. The keys are YCSB's texts, the
    /// documents a tenth larger.
    /// </summary>
    private Measurement MeasureReadsById(int threads)
    {
        string output = Call(
            "run", "ycsb/c", "--set", "requestdistribution=uniform", "--records", $"{ReadsByIdDocuments}", "--threads", $"{threads}",
            "--duration", $"{seconds + WarmupSeconds}s", "--warmup", $"{WarmupSeconds}s", "--verify", "none");
        using JsonDocument json = JsonDocument.Parse(output);
        // Behind the load.
        JsonElement result = Result(json, phase: 1);
        return new Measurement(
            result.GetProperty("operationsPerSecond").GetDouble(), result.GetProperty("clientCpuMicrosecondsPerOperation").GetDouble());
    }

    private static JsonElement Result(JsonDocument json, int phase) =>
        json.RootElement.GetProperty("phases")[phase].GetProperty("operations")[0];

    private string Call(params string[] arguments) => Command([.. arguments, .. target, "--format", "json", "--quiet", "--out", _runs]);
}

/// <summary>tests/floor/limit.c, built anew.</summary>
internal sealed partial class FloorProcess
{
    private readonly IBenchmarkTarget _target;
    private readonly string _program;

    public FloorProcess(IBenchmarkTarget target, [CallerFilePath] string here = "")
    {
        _target = target;
        _program = Path.Combine(target.Folder, "limit");
        string source = Path.Combine(Path.GetDirectoryName(here)!, "../floor/limit.c");
        Processes.Run("cc", ["-O2", "-pthread", "-o", _program, source], []);
    }

    /// <param name="test">Of limit.c.</param>
    /// <param name="collection">In the database mongoperf.</param>
    /// <param name="count">Operations.</param>
    /// <param name="threads">Connections.</param>
    /// <param name="port">A proxy's; null for the server's own.</param>
    /// <param name="timed">The median time is measured, too.</param>
    public Measurement Measure(string test, string collection, long count, int threads, int? port = null, bool timed = false)
    {
        var environment = new Dictionary<string, string> { ["LIMIT_NS"] = $"mongoperf.{collection}" };
        if (timed)
            environment["LIMIT_P50"] = "1";
        if (_target.IsCluster)
            environment["CLUSTER"] = "1";
        string output = Processes.Run(_program, [$"{port ?? _target.Port}", test, $"{count}", $"{threads}"], environment);
        Match match = Figures().Match(output);
        return new Measurement(double.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture),
            double.Parse(match.Groups[2].Value, CultureInfo.InvariantCulture))
        {
            MedianMicroseconds = timed ? double.Parse(match.Groups[3].Value, CultureInfo.InvariantCulture) : 0,
        };
    }

    [GeneratedRegex(@"(\d+) ops/s\s+client cpu ([\d.]+) us/op(?:\s+p50 ([\d.]+) us)?")]
    private static partial Regex Figures();
}
