using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary><c>run TEST</c>: one of the eight tests alone, on data that is there; or a scenario.</summary>
internal static class RunCommand
{
    private const double DefaultSeconds = 10;

    public static Command Create()
    {
        var shared = new SharedOptions();
        var scenarios = new ScenarioOptions();
        var test = new Argument<string>("TEST") { Description = "One of " + string.Join(", ", SeriesTests.All) + "; or a scenario, by name (ycsb/a) or file" };
        Option<double?> duration = OptionTypes.Duration("--duration", "How long, warm-up included [default: 10s, unless --operations is given]");
        Option<long?> operations = OptionTypes.Count("--operations", "How many, over all threads, warm-up included");
        Option<double?> warmup = OptionTypes.Duration("--warmup", "Left out of the result [default: a quarter of the duration, none with --operations]");
        Option<long?> records = OptionTypes.Count("--records", "Load documents first, until the collection holds this many");
        Option<string?> format = OptionTypes.Choice("--format", "What is printed at the end [default: text]", "text", "json", "csv", "markdown", "ycsb");
        var command = new Command("run", "Run one of the eight tests alone, or a scenario") { test, duration, operations, warmup, records, scenarios.Set, scenarios.Scale, scenarios.DryRun, format };
        SettingsReader.AddTo(command, shared);
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            if (FindScenario(parsed.GetValue(test)!) is { } scenario)
                return scenarios.Run(parsed, shared, scenario, scenarios.Read(parsed, shared, duration, operations, warmup, records), parsed.GetValue(format) ?? "text");
            string name = CheckName(parsed.GetValue(test)!);
            if (scenarios.GivenIn(parsed).FirstOrDefault() is { } given)
                throw new UserException(ExitCode.WrongUsage, $"{given} is for scenarios, '{name}' is a test of the series");
            if (parsed.GetValue(format) == "ycsb")
                throw new UserException(ExitCode.WrongUsage, $"--format ycsb is for scenarios, '{name}' is a test of the series");
            if (name == SeriesTests.Size && (parsed.GetValue(duration) ?? parsed.GetValue(warmup) ?? parsed.GetValue(operations) ?? parsed.GetValue(shared.Rate)) is not null)
                throw new UserException(ExitCode.WrongUsage, "run size takes the sizes once: --duration, --warmup, --operations and --rate are for the other tests");
            SingleTestLimits limits = ReadLimits(parsed.GetValue(duration), parsed.GetValue(operations), parsed.GetValue(warmup), parsed.GetValue(records));
            SeriesSettings shape = SettingsReader.Shape(limits.Records ?? 1, [name]) with
            {
                WindowSeconds = limits.Seconds ?? 0,
                WarmupSeconds = limits.WarmupSeconds,
                Threads = [SeriesTests.IsInsert(name) ? 1 : 8],
            };
            RunRequest request = SettingsReader.Read("run", parsed, shared, shape);
            if (SeriesTests.IsInsert(name) && request.Settings.Rate is not null)
                throw new UserException(ExitCode.WrongUsage, $"--rate is for the query tests, '{name}' inserts as fast as it can");
            return SingleTestSession.Run(request with { Output = request.Output with { Format = parsed.GetValue(format) ?? "text" } }, name, limits);
        }));
        return command;
    }

    private static SingleTestLimits ReadLimits(double? duration, long? operations, double? warmup, long? records)
    {
        double? seconds = duration ?? (operations is null ? DefaultSeconds : null);
        double left = warmup ?? (duration is null && operations is not null ? 0 : seconds!.Value / 4);
        if (seconds is { } all && left >= all)
            throw new UserException(ExitCode.WrongUsage, $"--warmup is {left:0.###} s, the test takes {all:0.###} s: nothing would be measured");
        return new SingleTestLimits(seconds, operations, left, records);
    }

    /// <summary>A test's name comes before a file of that name; what looks like a path must be a file.</summary>
    private static ScenarioFile? FindScenario(string name) => SeriesTests.All.Contains(name) ? null
        : name.Contains('/', StringComparison.Ordinal) || name.EndsWith(".yaml", StringComparison.Ordinal) ? ScenarioFile.Find(name)
        : ScenarioFile.TryFind(name);

    private static string CheckName(string name)
    {
        try
        {
            return SharedOptions.ParseTest(name);
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"run: {e.Message}", "'mongoperf list scenarios' names the scenarios that can be run too");
        }
    }
}
