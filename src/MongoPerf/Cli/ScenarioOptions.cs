using System.CommandLine;
using System.CommandLine.Parsing;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary>The options of <c>run</c> that only scenarios take, and what they make of a call.</summary>
internal sealed class ScenarioOptions
{
    public Option<string[]?> Set { get; } = new("--set")
    {
        Description = "Of a scenario: another value for a parameter, or several with commas between",
        HelpName = "NAME=VALUE",
        AllowMultipleArgumentsPerToken = false,
    };

    public Option<double?> Scale { get; } = OptionTypes.Make<double?>("--scale", null, "Of a scenario: multiplies the counts of its documents and operations [default: 1]", "FACTOR", ParseScale);

    public Option<string?> Deployment { get; } = OptionTypes.Text("--deployment", "Of a scenario with deployments: run it on these of them [default: all]", "NAME[,NAME…]");

    public Option<bool> DryRun { get; } = new("--dry-run") { Description = "Of a scenario: check everything and show what would run; nothing is started" };

    /// <summary>Refuses what means nothing to a test or an experiment.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="job">Its name.</param>
    /// <param name="format">Of the output.</param>
    public void RequireNone(ParseResult parsed, string job, string? format)
    {
        string? given = new Option[] { Set, Scale, Deployment, DryRun }.FirstOrDefault(o => parsed.GetResult(o) is { Implicit: false })?.Name ?? (format == "ycsb" ? "--format ycsb" : null);
        if (given is not null)
            throw new UserException(ExitCode.WrongUsage, $"{given} is for scenarios, '{job}' is none");
    }

    /// <summary>What the command line puts in place of the file's values.</summary>
    public ScenarioOverrides Read(ParseResult parsed, SharedOptions shared, Option<double?> duration, Option<long?> operations, Option<double?> warmup, Option<long?> records) => new()
    {
        Threads = parsed.GetValue(shared.Threads),
        Records = parsed.GetValue(records),
        Operations = parsed.GetValue(operations),
        Duration = parsed.GetValue(duration),
        Warmup = parsed.GetValue(warmup),
        Rate = parsed.GetValue(shared.Rate),
        Scale = parsed.GetValue(Scale) ?? 1,
        Parameters = ReadParameters(parsed),
    };

    public IReadOnlyDictionary<string, string> ReadParameters(ParseResult parsed) => ParseSet(parsed.GetValue(Set) ?? []);

    /// <summary>Runs a scenario, or with <c>--dry-run</c> shows what would run.</summary>
    public ExitCode Run(ParseResult parsed, SharedOptions shared, ScenarioFile file, ScenarioOverrides overrides, string format, bool isCold)
    {
        RefuseOthers(parsed, shared, isCold);
        ulong seed = parsed.GetValue(shared.Seed) ?? SettingsReader.DefaultSeed;
        ReadScenario read = ScenarioReader.Read(file, overrides, seed);
        var deployments = new ScenarioDeployments(parsed, shared, parsed.GetValue(Deployment));
        IReadOnlyList<ScenarioDeployment> chosen = deployments.Choose(read.Deployments, Console.Error.WriteLine);
        IReadOnlyList<RunRequest> requests = chosen.Count == 0
            ? Requests(read, NamedDeployment.OfOptions(parsed, shared))
            : [.. chosen.SelectMany(one => Requests(ScenarioReader.Read(file, overrides, seed, one), deployments.Named(one, chosen.Any(d => d.IsSharded))))];
        if (parsed.GetValue(DryRun))
        {
            ScenarioPrinter.WritePlan(requests, file, Console.Out);
            return ExitCode.Done;
        }

        if (requests.Any(r => r.Settings.Topology == "null"))
            throw new UserException(ExitCode.WrongUsage, "--topology null stores nothing, and a scenario reads what it loads", "leave it out");
        foreach (RunRequest request in requests)
            RequireRestarts(request);
        return RunSequence.Run(requests, SettingsReader.Repeats(parsed, shared, requests.Count), (request, signals) => ScenarioSession.Run(request, file, signals));

        IReadOnlyList<RunRequest> Requests(ReadScenario scenario, IReadOnlyList<NamedDeployment> on) =>
        [
            .. SettingsReader.ReadAll("scenario", parsed, shared, SettingsReader.Shape(1, []), on).Select(request => request with
            {
                Scenario = scenario,
                Settings = Describe(request.Settings, scenario, parsed.GetValue(shared.MaxErrors)),
                Output = request.Output with { Format = format },
            }),
        ];
    }

    /// <summary>Only a single server that the run starts itself can be stopped and started again.</summary>
    private static void RequireRestarts(RunRequest request)
    {
        if (request.Scenario!.Scenario.Rounds.SelectMany(r => r.Phases).FirstOrDefault(p => p.Restart != ServerRestart.None) is not { } phase)
            return;
        string? wrong = request.Uri is not null ? "the server of --uri (or MONGOPERF_URI) is not the run's to stop"
            : request.Settings.Topology == "sharded" ? "a cluster is several servers, of which none is started again alone"
            : null;
        if (wrong is not null)
            throw new UserException(ExitCode.WrongUsage, $"phase '{phase.Name}': restart: {wrong}", "leave the deployment to the run (--mongod names the program), or take restart out of the file (--set, where it is a parameter)");
    }

    private static SeriesSettings Describe(SeriesSettings settings, ReadScenario read, long? maxErrors)
    {
        ScenarioPhase[] phases = [.. read.Scenario.Rounds.SelectMany(r => r.Phases)];
        return settings with
        {
            TargetDocumentCount = read.Scenario.Rounds.Max(r => r.Collections.Sum(c => c.Count)),
            StepDocumentCount = 0,
            BatchSize = 1,
            Threads = [.. phases.SelectMany(p => p.Groups).Select(g => g.Threads).Distinct()],
            Collection = read.Scenario.Rounds[0].Collections is [var first, ..] ? first.Name : settings.Collection,
            MaxErrors = maxErrors ?? read.MaxErrors ?? 0,
            Rate = null,
        };
    }

    /// <summary>What a scenario's file says, no option says too.</summary>
    private static void RefuseOthers(ParseResult parsed, SharedOptions shared, bool isCold)
    {
        if (isCold)
            throw new UserException(ExitCode.WrongUsage, "--cold is for 'run restart': a scenario's file says it", "a phase with restart: cold begins on a server that has just been started");
        Option[] others = [shared.Collection, shared.Batch, shared.Journal, shared.Ordered, shared.Compressibility];
        if (others.FirstOrDefault(o => parsed.GetResult(o) is { Implicit: false }) is { } given)
            throw new UserException(ExitCode.WrongUsage, $"{given.Name} is for the series' tests: a scenario's file says it", "change the file, or make it a parameter there and use --set");
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
                throw new UserException(ExitCode.WrongUsage, $"--set: '{text[..at]}' is set twice", "several values are parted by commas");
        }

        return values;
    }

    private static double? ParseScale(string text) =>
        double.TryParse(text, out double factor) && factor is > 0 and <= 1e6 ? factor : throw new FormatException($"'{text}' is no factor above 0, such as 0.01");
}
