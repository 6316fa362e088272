using System.CommandLine;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary><c>run NAME</c>: a scenario, or one phase of the series on data that is there.</summary>
internal static class RunCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        var scenarios = new ScenarioOptions();
        var search = new RateSearchOptions();
        var name = new Argument<string>("NAME") { Description = "A scenario, by name (ycsb/a) or file; or one phase of the series (q4) on existing data. See 'list scenarios' and 'list phases'" };
        Option<double?> duration = OptionTypes.Duration("--duration", "Length of each measurement, warm-up included [default: the file's; 30s for a phase of the series without --operations]");
        Option<string?> until = OptionTypes.Make<string?>(
            "--until", null, "Measure until a percentile is known to this precision, such as 'p99 ±2 %' (half its 95 % interval), for --duration at most [default: 10m]", "PRECISION", text => UntilReader.Parse(text).Text);
        Option<long?> operations = OptionTypes.Count("--operations", "Number of operations, all threads together, warm-up included");
        Option<double?> warmup = OptionTypes.Duration("--warmup", "Warm-up, excluded from results [default: a quarter of the duration; none with --operations, or where the file says 0s]");
        Option<long?> records = OptionTypes.Count("--records", "Scenario: documents in its only collection; phase of the series: first load up to this many documents");
        var cold = new Option<bool>("--cold") { Description = "For 'run restart': drop the server's files from the page cache, so that they are read from disk again" };
        Option<string?> format = OptionTypes.Choice("--format", "Output format of the results [default: text]", "text", "json", "csv", "markdown", "ycsb", "junit");
        var command = new Command("run", "Run a scenario, or one phase of the series on existing data")
        {
            name, duration, until, operations, warmup, records, cold, scenarios.Set, scenarios.Scale, scenarios.Target, scenarios.Step, scenarios.Deployment, scenarios.DryRun, shared.MayWrite, search.FindMax, search.Assert, format,
        };
        PlanRequests.AddTo(command, shared);
        scenarios.Agents.AddTo(command);
        command.Runs(parsed =>
        {
            string what = parsed.GetValue(name)!;
            string form = parsed.GetValue(format) ?? "text";
            var limits = new RunLimits(parsed.GetValue(duration), parsed.GetValue(operations), parsed.GetValue(warmup), parsed.GetValue(records), parsed.GetValue(until));
            if (limits is { Until: not null, Operations: not null })
                throw new UserException(ExitCode.WrongUsage, "--until measures as long as it takes, so --operations does not apply", "--duration says how long it may take at most");
            ScenarioFile series = SeriesScenario.Find();
            string[] known = [.. SeriesScenario.Phases(series).Select(phase => phase.Name)];
            return known.Contains(what)
                ? RunPhase(parsed, shared, scenarios, search, series, what, limits, form, parsed.GetValue(cold))
                : scenarios.Run(parsed, shared, search, FindScenario(what, known), limits, form, parsed.GetValue(cold));
        });
        return command;
    }

    /// <summary>One phase of the series alone, on data that is there unless <c>--records</c> loads some first.</summary>
    private static ExitCode RunPhase(ParseResult parsed, SharedOptions shared, ScenarioOptions scenarios, RateSearchOptions search, ScenarioFile series, string phase, RunLimits limits, string format, bool isCold)
    {
        scenarios.RequireNone(parsed, phase, format);
        bool hasTime = phase != "size";
        if (isCold)
            throw new UserException(ExitCode.WrongUsage, $"--cold only applies to 'run restart'; '{phase}' restarts no server");
        if (!hasTime && (limits.Duration is not null || limits.Operations is not null || limits.Warmup is not null || limits.Until is not null || parsed.GetValue(shared.Rates) is not null || parsed.GetValue(search.FindMax) || parsed.GetValue(shared.Repeat) is > 1))
            throw new UserException(ExitCode.WrongUsage, "run size reads the sizes once; --duration, --until, --warmup, --operations, --rate, --find-max and --repeat do not apply");
        RequireTime(limits);
        var overrides = new PlanOverrides
        {
            Phases = [phase],
            IsAlone = true,
            Threads = parsed.GetValue(shared.Threads),
            Duration = hasTime ? limits.Duration ?? (limits is { Operations: null, Until: null } ? PhaseReader.UsualSeconds : null) : null,
            Until = limits.Until,
            Operations = limits.Operations,
            Warmup = limits.Warmup,
            Records = limits.Records,
            Rates = parsed.GetValue(shared.Rates),
            Parameters = new Dictionary<string, string>(SeriesScenario.Parameters(parsed, shared)) { ["collection"] = parsed.GetValue(shared.Collection) ?? "series" },
        };
        return search.Run(
            parsed, shared, overrides,
            changed => new PlanRequests(parsed, shared, series, changed) { Format = format, IsExisting = changed.Records is null, HidesChanges = true }.Read(),
            requests => scenarios.Agents.Run(parsed, requests, PlanRequests.Repeats(parsed, shared, requests.Count)));
    }

    private static void RequireTime(RunLimits limits)
    {
        double seconds = limits.Duration ?? (limits.Until is null ? PhaseReader.UsualSeconds : PhaseReader.MostSeconds);
        if (limits is { Warmup: { } warmup, Operations: null } && warmup >= seconds)
            throw new UserException(ExitCode.WrongUsage, $"--warmup is {warmup:0.###} s of a phase of {seconds:0.###} s, which leaves nothing to measure");
    }

    private static ScenarioFile FindScenario(string name, string[] phases)
    {
        if (ScenarioFile.TryFind(name) is { } file)
            return file;
        if (name.Contains('/', StringComparison.Ordinal) || name.EndsWith(".yaml", StringComparison.Ordinal) || name.EndsWith(".yml", StringComparison.Ordinal))
            return ScenarioFile.Find(name);
        throw new UserException(
            ExitCode.WrongUsage, $"'{name}' is not a scenario or a phase of the series; phases: {string.Join(", ", phases)}",
            NearestName.Hint(name, [.. phases, .. ScenarioFile.List().Select(s => s.Name)]) ?? "see 'mongoperf list scenarios'");
    }
}

/// <summary>How long a run's measurements take, as typed.</summary>
/// <param name="Duration">Seconds.</param>
/// <param name="Operations">Over all threads.</param>
/// <param name="Warmup">Seconds.</param>
/// <param name="Records">Documents to load.</param>
/// <param name="Until">The precision that a percentile must reach.</param>
internal sealed record RunLimits(double? Duration, long? Operations, double? Warmup, long? Records, string? Until = null);
