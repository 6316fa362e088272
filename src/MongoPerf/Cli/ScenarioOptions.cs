using System.CommandLine;
using MongoPerf.Cli.Agents;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary>The options of <c>run</c> that only scenarios take, and what they make of a call.</summary>
internal sealed class ScenarioOptions
{
    public AgentOptions Agents { get; } = new();

    public Option<string[]?> Set { get; } = new("--set")
    {
        Description = "Scenario: set a parameter to a value, or to several separated by commas",
        HelpName = "NAME=VALUE",
        AllowMultipleArgumentsPerToken = false,
    };

    public Option<double?> Scale { get; } = OptionTypes.Make<double?>("--scale", null, "Scenario: multiply its document and operation counts [default: 1]", "FACTOR", ParseScale);

    public Option<string?> Deployment { get; } = OptionTypes.Text("--deployment", "Scenario with deployments: run on these only [default: all]", "NAME[,NAME…]");

    public Option<bool> DryRun { get; } = new("--dry-run") { Description = "Scenario: check everything and show what would run, without running it" };

    public Option<long?> Target { get; } = OptionTypes.Count("--target", "Scenario with a growth: documents at the end");

    public Option<long?> Step { get; } = OptionTypes.Count("--step", "Scenario with a growth: documents per step");

    /// <summary>Refuses what means nothing to a phase of the series.</summary>
    public void RequireNone(ParseResult parsed, string phase, string? format)
    {
        string? given = new Option[] { Set, Scale, Target, Step, Deployment, DryRun }.FirstOrDefault(parsed.HasTyped)?.Name ?? (format == "ycsb" ? "--format ycsb" : null);
        if (given is not null)
            throw new UserException(ExitCode.WrongUsage, $"{given} only applies to scenarios; '{phase}' is a phase of the series");
    }

    public IReadOnlyDictionary<string, string> ReadParameters(ParseResult parsed) => ParseSet(parsed.GetValue(Set) ?? []);

    /// <summary>Runs a scenario, or with <c>--dry-run</c> shows what would run.</summary>
    public ExitCode Run(ParseResult parsed, SharedOptions shared, RateSearchOptions search, ScenarioFile file, RunLimits limits, string format, bool isCold)
    {
        RefuseOthers(parsed, shared);
        if (parsed.GetValue(DryRun) && parsed.GetValue(search.FindMax))
            throw new UserException(ExitCode.WrongUsage, "--dry-run shows what would run and can't be combined with --find-max, whose rates follow from results", "omit one of them");
        var overrides = new PlanOverrides
        {
            Threads = parsed.GetValue(shared.Threads),
            Records = limits.Records,
            Operations = limits.Operations,
            Duration = limits.Duration,
            Warmup = limits.Warmup,
            Until = limits.Until,
            Rates = parsed.GetValue(shared.Rates),
            Scale = parsed.GetValue(Scale) ?? 1,
            Target = parsed.GetValue(Target),
            Step = parsed.GetValue(Step),
            Parameters = isCold ? WithCold(ReadParameters(parsed), file) : ReadParameters(parsed),
        };
        return search.Run(
            parsed, shared, overrides,
            changed => new PlanRequests(parsed, shared, file, changed) { Format = format, IsExisting = changed.Phases.Count > 0 }.Read(parsed.GetValue(Deployment)),
            requests => RunOrShow(parsed, shared, file, format, requests));
    }

    private ExitCode RunOrShow(ParseResult parsed, SharedOptions shared, ScenarioFile file, string format, IReadOnlyList<RunRequest> requests)
    {
        int repeats = PlanRequests.Repeats(parsed, shared, requests.Count);
        if (format == "ycsb" && (requests.Count > 1 || repeats > 1))
            throw new UserException(ExitCode.WrongUsage, "--format ycsb shows one run; several are compared", "use --format text, json, csv or markdown, or make one run");
        if (!parsed.GetValue(DryRun))
        {
            ScenarioPrinter.WriteWarnings(requests.SelectMany(request => request.Plan.Warnings).Distinct(), Console.Error);
            return Agents.Run(parsed, requests, repeats);
        }

        Agents.Check(parsed, requests, repeats);
        ScenarioPrinter.WritePlan(requests, file, Console.Out);
        return ExitCode.Done;
    }

    /// <summary>The scenario restart has a parameter for how its server is stopped.</summary>
    private static Dictionary<string, string> WithCold(IReadOnlyDictionary<string, string> parameters, ScenarioFile file) => file.Name == "restart"
        ? new Dictionary<string, string>(parameters) { ["stop"] = "cold" }
        : throw new UserException(ExitCode.WrongUsage, "--cold only applies to 'run restart'", "other scenarios set restart: cold in a phase");

    /// <summary>What a scenario's file says, no option says too.</summary>
    private static void RefuseOthers(ParseResult parsed, SharedOptions shared)
    {
        Option[] others = [shared.Collection, shared.Batch, shared.Journal, shared.Ordered, shared.Compressibility];
        if (others.FirstOrDefault(parsed.HasTyped) is { } given)
            throw new UserException(ExitCode.WrongUsage, $"{given.Name} only applies to the series", "set it in the scenario file, or make it a parameter there and use --set");
    }

    private static Dictionary<string, string> ParseSet(IEnumerable<string> texts)
    {
        var values = new Dictionary<string, string>();
        foreach (string text in texts)
        {
            int at = text.IndexOf('=', StringComparison.Ordinal);
            if (at < 1)
                throw new UserException(ExitCode.WrongUsage, $"--set: '{text}' is not of the form name=value", "such as --set fieldcount=5");
            if (!values.TryAdd(text[..at].Trim(), text[(at + 1)..].Trim()))
                throw new UserException(ExitCode.WrongUsage, $"--set: '{text[..at]}' is set twice", "separate several values with commas");
        }

        return values;
    }

    private static double? ParseScale(string text) =>
        double.TryParse(text, out double factor) && factor is > 0 and <= 1e6 ? factor : throw new FormatException($"'{text}' is not a factor; allowed: numbers above 0, such as 0.01");
}
