using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary><c>run NAME</c>: one of the eight tests alone, an experiment, or a scenario.</summary>
internal static class RunCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        var scenarios = new ScenarioOptions();
        var name = new Argument<string>("NAME") { Description = "One of " + string.Join(", ", RunJobs.All.Select(job => job.Name)) + " ('list tests' says what each does); or a scenario, by name (ycsb/a) or file" };
        Option<double?> duration = OptionTypes.Duration("--duration", "How long each measurement takes, warm-up included [default: 10s, less for experiments, unless --operations is given]");
        Option<long?> operations = OptionTypes.Count("--operations", "How many, over all threads, warm-up included");
        Option<double?> warmup = OptionTypes.Duration("--warmup", "Left out of the result [default: a quarter of the duration, none with --operations]");
        Option<long?> records = OptionTypes.Count("--records", "Load documents first, until the collection holds this many [default for experiments: 20k to 200k]");
        var cold = new Option<bool>("--cold") { Description = "restart: the system forgets the server's files, so that they are read from disk again" };
        Option<string?> format = OptionTypes.Choice("--format", "What is printed at the end [default: text]", "text", "json", "csv", "markdown", "ycsb");
        var command = new Command("run", "Run one of the eight tests alone, an experiment, or a scenario") { name, duration, operations, warmup, records, cold, scenarios.Set, scenarios.Scale, scenarios.Deployment, scenarios.DryRun, format };
        SettingsReader.AddTo(command, shared);
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            if (FindScenario(parsed.GetValue(name)!) is { } scenario)
                return scenarios.Run(parsed, shared, scenario, scenarios.Read(parsed, shared, duration, operations, warmup, records), parsed.GetValue(format) ?? "text", parsed.GetValue(cold));
            IRunJob job = RunJobs.Find(parsed.GetValue(name)!);
            scenarios.RequireNone(parsed, job.Name, parsed.GetValue(format));
            if (job.Name == SeriesTests.Size && (parsed.GetValue(duration) ?? parsed.GetValue(warmup) ?? parsed.GetValue(operations) ?? parsed.GetValue(shared.Rate)) is not null)
                throw new UserException(ExitCode.WrongUsage, "run size takes the sizes once: --duration, --warmup, --operations and --rate are for the other tests");
            if (parsed.GetValue(cold) && job.Name != ExperimentTests.Restart)
                throw new UserException(ExitCode.WrongUsage, $"--cold is for 'run {ExperimentTests.Restart}', '{job.Name}' starts no server anew");
            SingleTestLimits limits = ReadLimits(job.Defaults, parsed.GetValue(duration), parsed.GetValue(operations), parsed.GetValue(warmup)) with
            {
                Records = parsed.GetValue(records) ?? job.Defaults.Records,
                Cold = parsed.GetValue(cold),
            };
            SeriesSettings shape = SettingsReader.Shape(limits.Records ?? 1, [job.Name]) with
            {
                WindowSeconds = limits.Seconds ?? 0,
                WarmupSeconds = limits.WarmupSeconds,
                Threads = job.Defaults.Threads,
                // A collection that must be there has a key already.
                Sharding = new ShardingSettings { ShardKey = limits.Records is null ? null : ShardKey.HashedId },
            };
            IReadOnlyList<RunRequest> requests = SettingsReader.ReadAll("run", parsed, shared, shape);
            job.Check(requests[0], limits);
            string form = parsed.GetValue(format) ?? "text";
            int repeats = SettingsReader.Repeats(parsed, shared, requests.Count);
            if (job.Name == SeriesTests.Size && requests.Count * repeats > 1)
                throw new UserException(ExitCode.WrongUsage, "run size takes the sizes once: there is nothing to repeat or to compare by chance");
            return RunSequence.Run(
                [.. requests.Select(r => r with { Output = r.Output with { Format = form } })], repeats,
                (request, signals) => SingleTestSession.Run(request, job, limits, signals));
        }));
        return command;
    }

    private static SingleTestLimits ReadLimits(RunDefaults defaults, double? duration, long? operations, double? warmup)
    {
        double? seconds = duration ?? (operations is null ? defaults.Seconds : null);
        double left = warmup ?? (duration is null && operations is not null ? 0 : seconds!.Value / 4);
        if (seconds is { } all && left >= all)
            throw new UserException(ExitCode.WrongUsage, $"--warmup is {left:0.###} s, the test takes {all:0.###} s: nothing would be measured");
        return new SingleTestLimits(seconds, operations, left, null);
    }

    /// <summary>A test's name comes before a file of that name; what looks like a path must be a file.</summary>
    private static ScenarioFile? FindScenario(string name) => RunJobs.All.Any(job => job.Name == name) ? null
        : name.Contains('/', StringComparison.Ordinal) || name.EndsWith(".yaml", StringComparison.Ordinal) ? ScenarioFile.Find(name)
        : ScenarioFile.TryFind(name);
}
