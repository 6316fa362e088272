using System.CommandLine;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Options;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>learn</c>: reads a deployment and writes a scenario that resembles it; or compares a scenario with a deployment.</summary>
internal sealed class LearnCommand
{
    /// <summary>Less than this share of the work does not make the copy another one.</summary>
    private const double MostLeftOut = 0.05;

    private readonly SharedOptions _shared = new();

    private readonly Option<string?> _uri = OptionTypes.Uri(
        "--uri", "Connection string of an existing deployment, or its name in the configuration (environment: MONGOPERF_URI)", "-u");

    private readonly Option<string?> _database = OptionTypes.Text(
        "--db", "Database to learn from [default: the only one]", "NAME");

    private readonly Option<SamplingBudget?> _budget = OptionTypes.Make<SamplingBudget?>("--budget", null,
        "How much to read: documents of each collection, bytes and time in all [default: 20k,256MB,120s]", "DOCUMENTS,SIZE,DURATION",
        LearnedDatabase.ParseBudget);

    private readonly Option<string[]?> _values = new("--values")
    {
        Description = "A field whose values the file may hold; may be repeated. Of all other fields it holds statistics only",
        HelpName = "COLLECTION.FIELD",
        AllowMultipleArgumentsPerToken = false,
    };

    private readonly Option<string?> _hash = new("--hash-names")
    {
        Description = "Hash the names of collections and fields, with this key or a random one; the same key gives the same names",
        HelpName = "KEY",
        Arity = ArgumentArity.ZeroOrOne,
    };

    private readonly Option<string?> _check = OptionTypes.Text(
        "--check", "Compare this scenario with the deployment instead of writing one; exits with 99 if anything deviates too much", "FILE");

    private readonly Option<string?> _against = OptionTypes.Uri("--against", "The deployment to compare with, as --uri");

    private readonly Option<string[]?> _from = Observation.Option();

    private readonly Option<string?> _run = OptionTypes.Text("--run",
        "With --check and --from: a stored run of the scenario, whose rates and times are compared with those seen", "RUN");

    private readonly LearnedGrowth _growth = new();

    private readonly Option<string?> _output = OptionTypes.Text("--output", "The scenario, a file that must not exist yet", "FILE", "-o");

    public static Command Create() => new LearnCommand().Build();

    private Command Build()
    {
        var command = new Command("learn",
            "Write a scenario that resembles a deployment, which is only read; or compare one with it (--check)")
        {
            _uri, _shared.PasswordFile, _database, _budget, _from, _values, _hash, _output, _check, _against, _run, _shared.Out,
        };
        foreach (Option option in _growth.Options)
            command.Options.Add(option);
        command.Runs(Run);
        return command;
    }

    private ExitCode Run(ParseResult parsed)
    {
        string? check = parsed.GetValue(_check);
        string? output = parsed.GetValue(_output);
        string uri = parsed.GetValue(_against) ?? parsed.GetValue(_uri) ?? UriVariable.Value
            ?? throw new UserException(ExitCode.WrongUsage, check is null ? "--uri is missing: the deployment to learn from"
                : "--against is missing: the deployment to compare with");
        if ((check is null) == (output is null))
            throw new UserException(ExitCode.WrongUsage, check is null ? "--output is missing: the file of the scenario"
                : "--output names a scenario to write, and --check one to compare", "-o my.yaml writes one, --check my.yaml compares it");
        if (output is not null && (File.Exists(output) || Directory.Exists(output)))
            throw new UserException(ExitCode.WrongUsage, $"--output: '{Masking.Shown(output)}' is already there",
                "name another file, or remove it");
        if (output is not null && !Directory.Exists(Path.GetDirectoryName(Path.GetFullPath(output))))
            throw new UserException(ExitCode.WrongUsage, $"--output: '{Masking.Shown(output)}' is in no folder that is there",
                "create the folder first");
        if (DatabaseSystems.Of(uri) != DatabaseSystems.MongoDb)
            throw new UserException(ExitCode.WrongUsage, $"{DatabaseSystems.Of(uri).Name} can't be learned from, only MongoDB");
        string[]? from = parsed.GetValue(_from) is { Length: > 0 } typed ? typed : null;
        Observation.Check(from);
        if (parsed.GetValue(_run) is not null != (from is not null && check is not null))
            throw new UserException(ExitCode.WrongUsage, "--check, --from and --run belong together: a run is compared with what is seen",
                "--check my.yaml alone compares the data");
        _growth.Check(parsed, isCheck: check is not null, from);
        // Before anything is read.
        RunFolder? folder = parsed.GetValue(_run) is { } id ? RunFolder.Find(PlanRequests.RunsFolder(parsed, _shared.Out), id) : null;
        ReadPlan? plan = check is null ? null : PlanReader.Read(ScenarioFile.Find(check), new PlanOverrides(), PlanRequests.DefaultSeed);
        SamplingBudget budget = parsed.GetValue(_budget) ?? new SamplingBudget();
        (DatabaseSample sample, Observation? seen) = LearnedDatabase.Read(
            ConnectionSecrets.Complete(uri, uri, parsed.GetValue(_shared.PasswordFile)), parsed.GetValue(_database), budget, from);
        WrittenNames names = new(parsed.GetValue(_hash) ?? (parsed.HasTyped(_hash) ? WrittenNames.NewKey() : null));
        Console.Error.WriteLine($"read {ScenarioText.Describe(sample.Cost)}, from {sample.Member}");
        if (plan is not null)
            return LearnCheck.Run(plan.Plan, sample, names, budget, folder is null ? null : StoredRun.Open(folder.Path), seen);
        var kept = (parsed.GetValue(_values) ?? []).ToHashSet(StringComparer.Ordinal);
        LearnedDatabase.RequireKnown(kept, sample);
        sample = seen?.Completed(sample) ?? sample;
        Learning.Observing.OperationMix? mix = seen?.MixOf(sample);
        var data = new DataWriter(sample, names, kept, mix);
        PhaseWriter? phases = mix is null ? null : seen!.Write(mix, data, sample.Name);
        WrittenGrowth? growth = _growth.Of(parsed, sample, mix);
        string report = "";
        if (mix is not null)
        {
            (mix, IReadOnlyDictionary<(string Phase, string Operation), string> remarks, report) =
                LearnedTrial.Calibrate(sample, data, mix, phases!);
            phases = new PhaseWriter(mix, data, remarks, growth);
        }
        else if (growth is not null)
        {
            phases = new PhaseWriter(Learning.Observing.OperationMix.None, data, null, growth);
        }

        string text = ScenarioText.Of(sample, data, phases);
        if (growth is not null)
            LearnedGrowth.RequireValid(output!, text);
        Write(output!, text);
        if (phases is not null && mix is not null)
            Console.WriteLine($"{phases.Accounting}\n{report}");
        if (phases is { LeftOutShare: > MostLeftOut and var share })
            Console.Error.WriteLine(FormattableString.Invariant(
                $"warning: {100 * share:0.#} % of what was seen is left out; the file's comments say what and why"));
        Console.WriteLine($"{output}: {Units.Counted(sample.Collections.Count, "collection")}, "
            + $"{Units.Counted(sample.Collections.Sum(one => one.Indexes.Count), "index", "indexes")}, "
            + $"{Units.Counted(text.Split('\n').Count(IsNotLearned), "comment")} on what was not learned");
        if (growth is not null)
            Console.WriteLine(LearnedGrowth.Describe(growth, names, output!));
        return ExitCode.Done;
    }

    private static bool IsNotLearned(string line) => line.TrimStart().StartsWith("# not learned", StringComparison.Ordinal);

    private static void Write(string path, string text)
    {
        bool isMade = false;
        try
        {
            using var file = new FileStream(path, FileMode.CreateNew, FileAccess.Write);
            isMade = true;
            using var writer = new StreamWriter(file);
            writer.Write(text);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Half a scenario is none, and would be in the way.
            if (isMade)
                File.Delete(path);
            throw new UserException(ExitCode.WrongUsage, $"--output: '{Masking.Shown(path)}' can't be written: {e.Message}");
        }
    }
}
