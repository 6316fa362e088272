using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>run NAME</c>: a scenario, or one phase of the series on data that is there.</summary>
internal sealed class RunCommand
{
    private readonly SharedOptions _shared = new();
    private readonly ScenarioOptions _scenario = new();
    private readonly RateSearchOptions _search = new();

    private readonly Argument<string> _name = new("SCENARIO")
    {
        HelpName = "SCENARIO",
        Description = "A scenario, by name (ycsb/a) or file; or one phase of the series (q4) on existing data. "
            + "See 'list scenarios' and 'list phases'",
    };

    private readonly Option<bool> _cold = new("--cold")
    {
        Description = "For 'run restart': drop the server's files from the page cache, so that they are read from disk again",
    };

    private readonly Option<string?> _on = OptionTypes.Text(
        "--on", "For a phase of the series: run it on this existing collection, which is only read; nothing is written to the deployment",
        "DB.COLL");

    private readonly Option<string?> _filter = OptionTypes.Text(
        "--filter", "With --on: the query's filter; ^existing draws values found in the collection, such as {sku: ^existing}",
        "FILTER");

    private readonly Option<string?> _format = OptionTypes.Choice(
        "--format", "Output format of the results [default: text]", "text", "json", "csv", "markdown", "ycsb", "junit");

    public static Command Create() => new RunCommand().Build();

    private Command Build()
    {
        var command = new Command("run", "Run a scenario, or one phase of the series on existing data") { _name };
        _name.CompletionSources.Add(_ => SeriesScenario.Phases(SeriesScenario.Find()).Select(phase => phase.Name));
        _name.CompletionSources.Add(_ => ScenarioFile.Shipped());
        Option[] options =
        [
            .. _shared.Overrides.In(PlanOptions.OfRuns), _on, _filter, _cold, _scenario.Set, _scenario.Scale,
            .. _shared.Overrides.In(PlanOptions.OfGrowths), _scenario.Deployment, _scenario.DryRun, _shared.MayWrite, _shared.Files,
            _search.FindMax, _search.Assert, _format,
        ];
        foreach (Option option in options)
            command.Options.Add(option);
        _shared.AddTo(command);
        _scenario.Agents.AddTo(command);
        command.Runs(Run);
        return command;
    }

    private ExitCode Run(ParseResult parsed)
    {
        string name = parsed.GetValue(_name)!;
        PlanOverrides typed = _shared.Overrides.Read(parsed);
        ScenarioFile series = SeriesScenario.Find();
        string[] phases = [.. SeriesScenario.Phases(series).Select(phase => phase.Name)];
        return phases.Contains(name) ? RunPhase(parsed, series, name, typed)
            : RunScenario(parsed, FilesOption.In(parsed, _shared.Files, FindScenario(name, phases)), typed);
    }

    private string FormatOf(ParseResult parsed) => parsed.GetValue(_format) ?? "text";

    /// <summary>One phase of the series alone, on data that is there unless <c>--records</c> loads some first.</summary>
    private ExitCode RunPhase(ParseResult parsed, ScenarioFile series, string phase, PlanOverrides typed)
    {
        RequirePhaseOptions(parsed, phase, typed);
        bool hasTime = MeasuresForATime(phase);
        (string Database, string Collection)? on =
            parsed.GetValue(_on) is { } existing ? ExistingCollection(existing, parsed, typed) : null;
        PlanOverrides overrides = typed with
        {
            Phases = [phase],
            IsAlone = true,
            Existing = on?.Collection,
            Filter = parsed.GetValue(_filter),
            Duration = typed.Duration ?? (hasTime && typed is { Operations: null, Until: null } ? PhaseReader.UsualSeconds : null),
            Parameters = new Dictionary<string, string>(SeriesScenario.Parameters(parsed, _shared))
            {
                ["collection"] = on?.Collection ?? parsed.GetValue(_shared.Collection) ?? "series",
            },
        };
        return _search.Run(
            parsed, _shared, overrides,
            changed => new PlanRequests(parsed, _shared, series, changed)
            {
                Format = FormatOf(parsed), IsExisting = changed.Records is null, HidesChanges = true, ExistingDatabase = on?.Database,
            }.Read(),
            requests => _scenario.Agents.Run(parsed, requests, PlanRequests.Repeats(parsed, _shared, requests.Count)));
    }

    /// <summary>The database and the collection that <c>--on</c> names.</summary>
    private (string Database, string Collection) ExistingCollection(string name, ParseResult parsed, PlanOverrides typed)
    {
        int dot = name.IndexOf('.', StringComparison.Ordinal);
        if (dot <= 0 || dot == name.Length - 1)
            throw new UserException(
                ExitCode.WrongUsage, $"--on: '{name}' does not name a collection; expected DB.COLL such as shop.products");
        Option[] others = [_shared.Database, _shared.Collection, _shared.ForceDrop];
        if ((others.FirstOrDefault(parsed.HasTyped)?.Name ?? (typed.Records is null ? null : PlanOptions.Records.Name)) is { } given)
            throw new UserException(
                ExitCode.WrongUsage, $"--on names the collection, which is only read, so {given} does not apply", $"omit {given}");
        return (Names.Database(name[..dot], "--on"), Names.Collection(name[(dot + 1)..], name[..dot], "--on"));
    }

    /// <summary>Refuses what means nothing to a phase of the series, or to this one.</summary>
    private void RequirePhaseOptions(ParseResult parsed, string phase, PlanOverrides typed)
    {
        Option[] ofScenarios =
        [
            _scenario.Set, _scenario.Scale, .. _shared.Overrides.In(PlanOptions.OfGrowths), _scenario.Deployment, _scenario.DryRun,
        ];
        if ((ofScenarios.FirstOrDefault(parsed.HasTyped)?.Name ?? (FormatOf(parsed) == "ycsb" ? "--format ycsb" : null)) is { } given)
            throw new UserException(ExitCode.WrongUsage, $"{given} only applies to scenarios; '{phase}' is a phase of the series");
        if (parsed.GetValue(_filter) is not null && parsed.GetValue(_on) is null)
            throw new UserException(ExitCode.WrongUsage, "--filter only applies to a collection that --on names",
                "such as --on shop.products");
        if (parsed.GetValue(_cold))
            throw new UserException(ExitCode.WrongUsage, $"--cold only applies to 'run restart'; '{phase}' restarts no server");
        bool isLonger = parsed.GetValue(_search.FindMax) || parsed.GetValue(_shared.Repeat) is > 1;
        if (!MeasuresForATime(phase) && (isLonger || PlanOptions.OfTimes.Any(option => option.IsIn(typed))))
        {
            string others = string.Join(", ", PlanOptions.OfTimes.Select(option => option.Name));
            throw new UserException(ExitCode.WrongUsage, $"run size reads the sizes once; {others}, --find-max and --repeat do not apply");
        }

        double seconds = typed.Duration ?? (typed.Until is null ? PhaseReader.UsualSeconds : PhaseReader.MostSeconds);
        if (typed is { Warmup: { } warmup, Operations: null } && warmup >= seconds)
        {
            throw new UserException(
                ExitCode.WrongUsage, $"--warmup is {warmup:0.###} s of a phase of {seconds:0.###} s, which leaves nothing to measure");
        }
    }

    private static bool MeasuresForATime(string phase) => phase != "size";

    /// <summary>Runs a scenario, or with <c>--dry-run</c> shows what would run.</summary>
    private ExitCode RunScenario(ParseResult parsed, ScenarioFile file, PlanOverrides typed)
    {
        if (((Option[])[_on, _filter]).FirstOrDefault(parsed.HasTyped) is { } ofPhases)
            throw new UserException(ExitCode.WrongUsage, $"{ofPhases.Name} only applies to a phase of the series",
                "in a scenario, write data: {products: {existing: true}}");
        if (_shared.OfSeriesAlone.FirstOrDefault(parsed.HasTyped) is { } given)
        {
            throw new UserException(
                ExitCode.WrongUsage, $"{given.Name} only applies to the series",
                "set it in the scenario file, or make it a parameter there and use --set");
        }

        if (parsed.GetValue(_scenario.DryRun) && parsed.GetValue(_search.FindMax))
        {
            throw new UserException(
                ExitCode.WrongUsage,
                "--dry-run shows what would run and can't be combined with --find-max, whose rates follow from results",
                "omit one of them");
        }

        Dictionary<string, string> parameters = _scenario.ReadParameters(parsed);
        if (parsed.GetValue(_cold))
            SetCold(parameters, file);
        return _search.Run(
            parsed, _shared, typed with { Scale = parsed.GetValue(_scenario.Scale) ?? 1, Parameters = parameters },
            changed => new PlanRequests(parsed, _shared, file, changed)
            {
                Format = FormatOf(parsed), IsExisting = changed.Phases.Count > 0,
            }.Read(parsed.GetValue(_scenario.Deployment)),
            requests => RunOrShow(parsed, file, requests));
    }

    /// <summary>The scenario restart has a parameter for how its server is stopped.</summary>
    private static void SetCold(Dictionary<string, string> parameters, ScenarioFile file)
    {
        if (file.Name != "restart")
            throw new UserException(ExitCode.WrongUsage, "--cold only applies to 'run restart'",
                "other scenarios set restart: cold in a phase");
        parameters["stop"] = "cold";
    }

    private ExitCode RunOrShow(ParseResult parsed, ScenarioFile file, IReadOnlyList<RunRequest> requests)
    {
        // Of the file's own deployments those that can be here; those that were named must be.
        if (requests.Count > 1 && !parsed.HasTyped(_scenario.Deployment) && requests.All(one => one.Settings.Plan.Deployment is not null))
            requests = PlannedRun.Possible(requests, Console.Error.WriteLine);
        int repeats = PlanRequests.Repeats(parsed, _shared, requests.Count);
        if (FormatOf(parsed) == "ycsb" && (requests.Count > 1 || repeats > 1))
        {
            throw new UserException(
                ExitCode.WrongUsage, "--format ycsb shows one run; several are compared",
                "use --format text, json, csv or markdown, or make one run");
        }

        if (!parsed.GetValue(_scenario.DryRun))
        {
            ScenarioPrinter.WriteWarnings(requests.SelectMany(request => request.Plan.Warnings).Distinct(), Console.Error);
            return _scenario.Agents.Run(parsed, requests, repeats);
        }

        _scenario.Agents.Check(parsed, requests, repeats);
        ScenarioPrinter.WritePlan(requests, file, Console.Out);
        return ExitCode.Done;
    }

    private static ScenarioFile FindScenario(string name, string[] phases)
    {
        if (ScenarioFile.TryFind(name) is { } file)
            return file;
        if (name.Contains('/', StringComparison.Ordinal) || name.EndsWith(".yaml", StringComparison.Ordinal)
            || name.EndsWith(".yml", StringComparison.Ordinal))
            return ScenarioFile.Find(name);
        throw new UserException(
            ExitCode.WrongUsage, $"'{name}' is not a scenario or a phase of the series; phases: {string.Join(", ", phases)}",
            NearestName.Hint(name, [.. phases, .. ScenarioFile.List().Select(s => s.Name)]) ?? "see 'mongoperf list scenarios'");
    }
}
