using System.CommandLine;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Commands;

/// <summary>
/// <c>validate FILE</c>, <c>show document|command FILE …</c> and <c>new FILE</c>: everything about scenarios that needs no server.
/// </summary>
internal static class ScenarioCommands
{
    public static Command CreateValidate()
    {
        Argument<string> file = FileArgument();
        Option<string?> format = OptionTypes.Choice("--format", "Output format [default: text]", "text", "json");
        var command = new Command("validate", "Check a scenario file or a plot file") { file, format };
        command.Runs(parsed =>
        {
            bool isJson = parsed.GetValue(format) == "json";
            string name = parsed.GetValue(file)!;
            try
            {
                ScenarioFile? found = ScenarioFile.TryFind(name);
                // A pipe can be read only once.
                PlotFile? plot = found is null ? PlotFile.TryFind(name)
                    : IsPlot(found.ShownPath, found.Text) ? PlotFile.Of(found.ShownPath, found.Text) : null;
                if (plot is not null)
                    Validate(plot, isJson);
                else
                    Validate(found ?? ScenarioFile.Find(name), isJson);
            }
            catch (UserException e) when (isJson)
            {
                WriteValidation(name, isValid: false, null, null, [], [], e.Message, e.Hint);
                throw;
            }
        });
        return command;
    }

    private static void Validate(ScenarioFile found, bool isJson)
    {
        ReadPlan read = PlanReader.Read(found, new PlanOverrides(), PlanRequests.DefaultSeed);
        var all = new List<ReadPlan> { read };
        foreach (ScenarioDeployment deployment in read.Deployments)
        {
            all.Add(PlanReader.Read(found, new PlanOverrides(), PlanRequests.DefaultSeed, deployment));
            if (deployment.Settings.Topology == Topology.Sharded)
                UniqueIndexes.Require(all[^1].Plan.Rounds, ShardKey.Parse(ShardKey.HashedId));
        }

        string[] warnings = [.. all.SelectMany(one => one.Warnings).Distinct()];
        string[] confirmations =
        [
            .. all.SelectMany(one => WritePermission.RequireListed(one, PlanRequests.DefaultDatabase))
                .Select(target => WritePermission.Option(target.Name!)).Distinct(),
        ];
        string confirm = confirmations.Length > 0 ? $"; a run must confirm what it may write: {string.Join(' ', confirmations)}" : "";
        int phases = read.Plan.Rounds.Sum(r => r.Phases.Count);
        if (isJson)
            WriteValidation(found.ShownPath, isValid: true, phases, read.Plan.TargetDocuments, warnings, confirmations, null, null);
        else
            ScenarioPrinter.WriteWarnings(warnings, Console.Out);
        if (!isJson)
            Console.WriteLine($"{found.ShownPath}: valid: {phases} {(phases == 1 ? "phase" : "phases")}, "
                + $"{read.Plan.TargetDocuments:N0} documents{confirm}");
    }

    private static void Validate(PlotFile found, bool isJson)
    {
        if (found.Name == PlotStyle.Name)
        {
            _ = PlotStyle.Current.With(found);
            if (!isJson)
                Console.WriteLine($"{found.ShownPath}: valid: a style file for plots");
            else
                WriteValidation(found.ShownPath, isValid: true, null, null, [], [], null, null);
            return;
        }

        PlotInfo plot = PlotReader.Read(found);
        if (isJson)
            WriteValidation(found.ShownPath, isValid: true, null, null, [], [], null, null);
        else
            Console.WriteLine($"{found.ShownPath}: valid: a plot over {plot.X} with "
                + $"{(plot.Figure?.Y.Count ?? plot.Panels.Count) switch { 1 => "1 panel", int panels => $"{panels} panels" }}");
    }

    /// <summary>By its keys; what can't be read at all is taken for a scenario.</summary>
    private static bool IsPlot(string path, string text)
    {
        try
        {
            MappingNode top = ScenarioYaml.Read(path, text);
            return top.Find("phases") is null && top.Find("data") is null
                && top.Entries.Any(static entry => entry.Name is "x" or "y" or "panels" or "fontSizes" or "themes" or "colors");
        }
        catch (UserException)
        {
            return false;
        }
    }

    private static void WriteValidation(
        string file, bool isValid, int? phases, long? documents, IReadOnlyList<string> warnings, IReadOnlyList<string> confirmations,
        string? error, string? hint) =>
        JsonReport.WriteValue(Console.Out,
            new { schema = "mongoperf/validate/1", file, valid = isValid, phases, documents, warnings, confirmations, error, hint });

    public static Command CreateShow()
    {
        return new Command("show", "Show a document or a command of a scenario") { CreateShowDocument(), CreateShowCommand() };
    }

    public static Command CreateNew()
    {
        var file = new Argument<string>("FILE") { Description = "File to write, such as my.yaml" };
        var growth = new Option<bool>("--growth") { Description = "A scenario with a growing collection and queries at each size" };
        var plot = new Option<bool>("--plot") { Description = "A plot: what is drawn of stored runs" };
        var command = new Command("new", "Write a commented scenario, or a plot, to start from") { file, growth, plot };
        command.Runs(parsed =>
        {
            string path = parsed.GetValue(file)!;
            if (parsed.GetValue(plot))
            {
                if (parsed.GetValue(growth))
                    throw new UserException(ExitCode.WrongUsage,
                        "--plot and --growth can't be combined: each writes a different kind of file", "use one of them");
                WriteNew(path, "start.yaml", PlotFile.FolderName);
                Console.WriteLine($"{path} written; draw it with: ./mongoperf plot RUN --plot {CommandText.Quoted(path)}");
                return;
            }

            WriteNew(path, parsed.GetValue(growth) ? "growth.yaml" : "start.yaml");
            Console.WriteLine($"{path} written; run it with: ./mongoperf run {CommandText.Quoted(path)}");
        });
        return command;
    }

    public static Command CreateListScenarios()
    {
        Option<string?> format = ListCommand.FormatOption();
        var command = new Command("scenarios", "Scenarios that 'run' knows by name") { format };
        command.Runs(parsed =>
        {
            ScenarioPrinter.WriteList(ScenarioFile.List(), parsed.GetValue(format) ?? "text", Console.Out);
        });
        return command;
    }

    /// <summary>Copies an example; the commands in its comments name the new file.</summary>
    /// <exception cref="UserException">Nothing can be written there, or something is there.</exception>
    internal static void WriteNew(string path, string example, string kind = "scenarios")
    {
        const string ExampleName = "my.yaml";
        if (path.Any(char.IsControl))
            throw new UserException(ExitCode.WrongUsage, "FILE: the name holds a control character, which is not allowed");
        if (Directory.Exists(path))
            throw new UserException(ExitCode.WrongUsage, $"{path} is a folder; a file is expected",
                $"name a file in it, such as {Path.Combine(path, ExampleName)}");
        if (File.Exists(path))
            throw new UserException(ExitCode.WrongUsage, $"{path}: file exists, not overwritten", "name another file");
        if (Path.GetDirectoryName(Path.GetFullPath(path)) is { } folder && !Directory.Exists(folder))
            throw new UserException(
                ExitCode.WrongUsage, $"{path}: the folder {folder} does not exist", "create it first, or name another one");
        string text = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, kind, "examples", example));
        File.WriteAllText(path, text.Replace(ExampleName, CommandText.Quoted(path), StringComparison.Ordinal));
    }

    private static Command CreateShowDocument()
    {
        Argument<string> file = FileArgument();
        var collection = new Argument<string?>(
            "COLLECTION") { Description = "One of its collections [default: the first]", Arity = ArgumentArity.ZeroOrOne };
        Option<long?> number = OptionTypes.Count("--number", "Number of the document [default: 0]", least: 0);
        var shared = new SharedOptions();
        var scenario = new ScenarioOptions();
        var command = new Command("document", "Show a document and its exact size") { file, collection, number, shared.Seed, scenario.Set };
        command.Runs(parsed =>
        {
            ReadPlan read = Read(parsed, file, shared, scenario);
            IReadOnlyList<PlanCollection> all = read.Plan.Rounds[0].Collections;
            PlanCollection chosen = Choose(all, c => c.Name, parsed.GetValue(collection), "collection");
            ScenarioPrinter.WriteDocument(chosen, parsed.GetValue(number) ?? 0, Console.Out);
        });
        return command;
    }

    private static Command CreateShowCommand()
    {
        Argument<string> file = FileArgument();
        var operation = new Argument<string?>(
            "OPERATION") { Description = "Name of the operation [default: the first]", Arity = ArgumentArity.ZeroOrOne };
        var shared = new SharedOptions();
        var scenario = new ScenarioOptions();
        var command = new Command(
            "command", "Show a command as it is sent, with example values") { file, operation, shared.Seed, scenario.Set };
        command.Runs(parsed =>
        {
            ReadPlan read = Read(parsed, file, shared, scenario);
            PhaseOperation[] all = [.. read.Plan.Rounds[0].Phases
                .SelectMany(phase => phase.AllGroups).SelectMany(g => g.Operations).DistinctBy(o => o.Operation.Name)];
            // A load is the first phase mostly, but hardly what is meant.
            PhaseOperation[] ordered = [.. all.OrderBy(o => o.Operation.Name == "load")];
            PhaseOperation chosen = Choose(ordered, o => o.Operation.Name, parsed.GetValue(operation), "operation");
            foreach (Operation step in chosen.Operation.Steps)
                ScenarioPrinter.WriteCommand(
                    step, new ValueContext(0, parsed.GetValue(shared.Seed) ?? PlanRequests.DefaultSeed), Console.Out);
        });
        return command;
    }

    private static ReadPlan Read(
        ParseResult parsed, Argument<string> file, SharedOptions shared, ScenarioOptions options) => PlanReader.Read(
            ScenarioFile.Find(parsed.GetValue(file)!),
            new PlanOverrides { Parameters = options.ReadParameters(parsed) },
            parsed.GetValue(shared.Seed) ?? PlanRequests.DefaultSeed);

    private static T Choose<T>(IReadOnlyList<T> all, Func<T, string> nameOf, string? name, string what)
    {
        if (all.Count == 0)
            throw new UserException(ExitCode.WrongUsage, $"the scenario has no {what}");
        if (name is null)
            return all[0];
        foreach (T one in all)
        {
            if (nameOf(one) == name)
                return one;
        }

        throw new UserException(ExitCode.WrongUsage, $"no {what} '{name}'; allowed: {string.Join(", ", all.Select(nameOf))}",
            NearestName.Hint(name, all.Select(nameOf)));
    }

    private static Argument<string> FileArgument() => new("FILE") { Description = "A scenario file, or a name from 'list scenarios'" };
}
