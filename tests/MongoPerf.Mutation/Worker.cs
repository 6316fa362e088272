using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.Loader;
using Xunit.Sdk;
using Xunit.v3;

namespace MongoPerf.Mutation;

/// <summary>Runs tests, one method at a time, in a process that stays: what its starter writes to a socket.</summary>
internal sealed class Worker
{
    private readonly Assembly _tests;
    private readonly ITestFramework _framework;
    private readonly ITestFrameworkExecutor _executor;
    private readonly Dictionary<string, Dictionary<string, List<ITestCase>>> _classes = [];
    private readonly bool[] _seen;
    private readonly string _reached = Path.Combine(Path.GetTempPath(), $"mutants-reached-{Environment.ProcessId}");

    private Worker(string tests, int mutants)
    {
        string folder = Path.GetDirectoryName(tests)!;
        AssemblyLoadContext.Default.Resolving += (context, name) =>
            Path.Combine(folder, name.Name + ".dll") is var file && File.Exists(file) ? context.LoadFromAssemblyPath(file) : null;
        _tests = AssemblyLoadContext.Default.LoadFromAssemblyPath(tests);
        _seen = new bool[mutants + 1];
        (_framework, _executor) = Start(_tests);
    }

    /// <summary>Serves one starter until it closes the socket.</summary>
    /// <param name="socket">The socket's path.</param>
    /// <param name="tests">The tests' assembly.</param>
    /// <param name="mutants">The highest number of a mutant.</param>
    public static async Task Serve(string socket, string tests, int mutants)
    {
        using Socket connection = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        await connection.ConnectAsync(new UnixDomainSocketEndPoint(socket));
        using NetworkStream stream = new(connection);
        using StreamReader reader = new(stream);
        using StreamWriter writer = new(stream) { AutoFlush = true };
        Worker? worker = null;
        while (await reader.ReadLineAsync() is { } line)
        {
            string[] parts = line.Split('\t');
            int mutant = parts[0] == "run" ? int.Parse(parts[1], CultureInfo.InvariantCulture) : 0;
            Mutant.Active = mutant;
            worker ??= new Worker(tests, mutants);
            switch (parts[0])
            {
                case "list":
                    foreach (string unit in await worker.List()) await writer.WriteLineAsync(unit);
                    await writer.WriteLineAsync();
                    break;
                case "cover":
                    await writer.WriteLineAsync(await worker.Cover(parts[1]));
                    break;
                default:
                    await writer.WriteLineAsync(await worker.Run(mutant, parts[2] == "fresh", parts[3..], writer));
                    break;
            }
        }
        Environment.Exit(0);
    }

    // Apart, so that xunit is looked for only when the tests' folder is known.
    private static (ITestFramework, ITestFrameworkExecutor) Start(Assembly tests)
    {
        Xunit.TestContext.SetForInitialization(null, false, false);
        ITestFramework framework = RegisteredEngineConfig.GetTestFramework(tests, null);
        return (framework, framework.GetExecutor(tests));
    }

    private async Task<IEnumerable<string>> List()
    {
        List<string> units = [];
        await _framework.GetDiscoverer(_tests).Find(
            found =>
            {
                units.Add($"{found.TestClassName}.{found.TestMethodName}");
                return new(true);
            },
            new Options(), null, null);
        return units.Distinct().Order(StringComparer.Ordinal);
    }

    private async Task<string> Cover(string unit)
    {
        Array.Clear(_seen);
        Tell(1 - _seen.Length);
        await Cases(unit[..unit.LastIndexOf('.')]);
        long start = Stopwatch.GetTimestamp();
        TimeSpan used = Environment.CpuUsage.TotalTime;
        Mutant.Seen = _seen;
        Outcome outcome = await Run(unit);
        Mutant.Seen = null;
        foreach (int id in ReachedElsewhere()) _seen[id] = true;
        used = Environment.CpuUsage.TotalTime - used;
        double took = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        string seen = string.Join(',', Enumerable.Range(1, _seen.Length - 1).Where(id => _seen[id]));
        return string.Create(CultureInfo.InvariantCulture, $"{outcome}\t{used.TotalMilliseconds:F1}\t{took:F1}\t{seen}");
    }

    /// <summary>Runs tests with a mutant on until one fails that passes without it, and fails again with it.</summary>
    private async Task<string> Run(int mutant, bool fresh, string[] units, StreamWriter progress)
    {
        bool reached = false;
        Tell(mutant);
        foreach (string unit in units)
        {
            await progress.WriteLineAsync($"start\t{unit}");
            Mutant.Reached = false;
            Outcome outcome = await Run(unit);
            reached |= Mutant.Reached || ReachedElsewhere().Any();
            if (outcome != Outcome.Failed) continue;
            if (fresh) return $"killed\t{unit}";
            Tell(Mutant.Active = 0);
            if (await Run(unit) != Outcome.Passed) return $"broken\t{unit}";
            Tell(Mutant.Active = mutant);
            if (await Run(unit) == Outcome.Failed) return $"killed\t{unit}";
        }
        return reached ? "survived" : "unreached";
    }

    /// <summary>Tells programs that tests start from now on which mutant is on, and where to note what they reach.</summary>
    private void Tell(int mutant)
    {
        File.Delete(_reached);
        Environment.SetEnvironmentVariable(Mutant.ActiveName, mutant.ToString(CultureInfo.InvariantCulture));
        Environment.SetEnvironmentVariable(Mutant.ReachedName, _reached);
    }

    private int[] ReachedElsewhere() => File.Exists(_reached)
        ? [.. File.ReadAllLines(_reached).Select(line => int.Parse(line, CultureInfo.InvariantCulture))] : [];

    private async Task<Outcome> Run(string unit)
    {
        int dot = unit.LastIndexOf('.');
        Sink sink = new();
        try
        {
            await _executor.RunTestCases((await Cases(unit[..dot]))[unit[(dot + 1)..]], sink, new Options(), null);
        }
        catch (Exception e) when (e is OperationCanceledException)
        {
            sink.Failed = true;
        }
        return sink.Failed ? Outcome.Failed : sink.Passed ? Outcome.Passed : Outcome.Skipped;
    }

    private async Task<Dictionary<string, List<ITestCase>>> Cases(string type)
    {
        if (!_classes.TryGetValue(type, out var methods))
        {
            _classes[type] = methods = [];
            await _framework.GetDiscoverer(_tests).Find(
                found =>
                {
                    methods.TryAdd(found.TestMethodName!, []);
                    methods[found.TestMethodName!].Add(found);
                    return new(true);
                },
                new Options(), [_tests.GetType(type, throwOnError: true)!], null);
        }
        return methods;
    }

    private enum Outcome
    {
        Passed,
        Failed,
        Skipped,
    }

    private sealed class Sink : IMessageSink
    {
        public bool Failed { get; set; }

        public bool Passed { get; private set; }

        public bool OnMessage(IMessageSinkMessage message)
        {
            Failed |= message is ITestFailed or IErrorMessage or ITestCleanupFailure or ITestCaseCleanupFailure or ITestMethodCleanupFailure
                or ITestClassCleanupFailure or ITestCollectionCleanupFailure or ITestAssemblyCleanupFailure;
            Passed |= message is ITestPassed;
            return !Failed;
        }
    }

    /// <summary>Theories are one case, so that what makes their data is mutated too.</summary>
    private sealed class Options : ITestFrameworkDiscoveryOptions, ITestFrameworkExecutionOptions
    {
        private readonly Dictionary<string, object?> _values = new()
        {
            [TestOptionsNames.Discovery.PreEnumerateTheories] = false,
            [TestOptionsNames.Discovery.SynchronousMessageReporting] = true,
            [TestOptionsNames.Execution.SynchronousMessageReporting] = true,
            [TestOptionsNames.Execution.StopOnFail] = true,
            [TestOptionsNames.Execution.DisableParallelization] = true,
            [TestOptionsNames.Execution.MaxParallelThreads] = -1,
        };

        public TValue? GetValue<TValue>(string name) => _values.GetValueOrDefault(name) is TValue typed ? typed : default;

        public void SetValue<TValue>(string name, TValue value) => _values[name] = value;

        public string ToJson() => "{}";
    }
}
