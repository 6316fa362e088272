using System.CommandLine;
using MongoPerf.Deployments;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Options;
using MongoPerf.Reports.Plots;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>
/// <c>show document|command FILE …</c>, <c>new FILE</c> and <c>list scenarios</c>: what scenarios are, without a server.
/// </summary>
internal static class ScenarioCommands
{
    /// <summary>What the comments of examples call the file, and the program.</summary>
    private const string ExampleName = "my.yaml", ProgramHere = "./mongoperf";

    public static Command CreateShow()
    {
        return new Command("show", "Show a document or a command of a scenario") { CreateShowDocument(), CreateShowCommand() };
    }

    public static Command CreateNew()
    {
        var file = new Argument<string>("FILE") { Description = "File to write, such as my.yaml" };
        var growth = new Option<bool>("--growth") { Description = "A scenario with a growing collection and queries at each size" };
        var plot = new Option<bool>("--plot") { Description = "A plot: what is drawn of stored runs" };
        Option<string?> decide = OptionTypes.Choice(
            "--decide", "An experiment that decides a question: one server or shards", DecisionFile.SingleOrSharded);
        Option<string?> data = OptionTypes.Text(
            "--data", "For --decide: a scenario with your growing collection and its queries [default: an example]", "FILE");
        Option<long?> documents = OptionTypes.Count("--documents", "For --decide: documents that the deployment will hold, with --memory");
        Option<long?> memory = OptionTypes.Size("--memory", "For --decide: memory of the one server, with --documents");
        var command = new Command("new", "Write a commented scenario, an experiment or a plot to start from")
        {
            file, growth, plot, decide, data, documents, memory,
        };
        command.Validators.Add(result =>
        {
            bool isDecision = IsTyped(decide);
            if (!isDecision && new Option[] { data, documents, memory }.FirstOrDefault(IsTyped) is { } ofIt)
                result.AddError($"{ofIt.Name} only applies to --decide");
            if (isDecision && new Option[] { growth, plot }.FirstOrDefault(IsTyped) is { } other)
                result.AddError($"{other.Name} and --decide can't be combined: each writes a different kind of file");
            if (IsTyped(documents) != IsTyped(memory))
                result.AddError("--documents and --memory belong together: they say how large the data are against the memory");

            bool IsTyped(Option option) => result.GetResult(option) is { Implicit: false };
        });
        command.Runs(parsed =>
        {
            string path = parsed.GetValue(file)!;
            if (parsed.GetValue(decide) is not null)
            {
                string run = DecisionFile.Write(path, parsed.GetValue(data), parsed.GetValue(documents), parsed.GetValue(memory));
                Console.WriteLine($"{path} written; run it with: {run}");
                if (!MongodProgram.Own(Environment.GetEnvironmentVariable).Any())
                    Console.WriteLine(
                        CommandText.Typed("It needs a mongod, and none is found: 'mongoperf server install 8.0' installs one."));
                return;
            }

            if (parsed.GetValue(plot))
            {
                if (parsed.GetValue(growth))
                    throw new UserException(ExitCode.WrongUsage,
                        "--plot and --growth can't be combined: each writes a different kind of file", "use one of them");
                WriteNew(path, "start.yaml", PlotFile.FolderName);
                Console.WriteLine($"{path} written; draw it with: {CommandText.Program} plot RUN --plot {CommandText.Quoted(path)}");
                return;
            }

            WriteNew(path, parsed.GetValue(growth) ? "growth.yaml" : "start.yaml");
            Console.WriteLine($"{path} written; run it with: {CommandText.Program} run {CommandText.Quoted(path)}");
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
        string text = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, kind, "examples", example));
        WriteText(path, text.Replace(ExampleName, CommandText.Quoted(path), StringComparison.Ordinal));
    }

    /// <inheritdoc cref="WriteNew"/>
    internal static void WriteText(string path, string text)
    {
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
        File.WriteAllText(path, text.Replace(ProgramHere, CommandText.Program, StringComparison.Ordinal));
    }

    private static Command CreateShowDocument()
    {
        Argument<string> file = ScenarioArgument();
        var collection = new Argument<string?>(
            "COLLECTION") { Description = "One of its collections [default: the first]", Arity = ArgumentArity.ZeroOrOne };
        Option<long?> number = OptionTypes.Count("--number", "Number of the document [default: 0]", least: 0);
        var shared = new SharedOptions();
        var scenario = new ScenarioOptions();
        var command = new Command("document", "Show a document and its exact size")
        {
            file, collection, number, shared.Seed, scenario.Set, shared.Files,
        };
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
        Argument<string> file = ScenarioArgument();
        var operation = new Argument<string?>(
            "OPERATION") { Description = "Name of the operation [default: the first]", Arity = ArgumentArity.ZeroOrOne };
        var shared = new SharedOptions();
        var scenario = new ScenarioOptions();
        var command = new Command(
            "command", "Show a command as it is sent, with example values") { file, operation, shared.Seed, scenario.Set, shared.Files };
        command.Runs(parsed =>
        {
            ReadPlan read = Read(parsed, file, shared, scenario);
            WeightedOperation[] all = [.. read.Plan.Rounds[0].Phases
                .SelectMany(phase => phase.AllGroups).SelectMany(g => g.Operations).DistinctBy(o => o.Operation.Name)];
            // A load is the first phase mostly, but hardly what is meant.
            WeightedOperation[] ordered = [.. all.OrderBy(o => o.Operation.Name == "load")];
            WeightedOperation chosen = Choose(ordered, o => o.Operation.Name, parsed.GetValue(operation), "operation");
            foreach (Operation step in chosen.Operation is BulkWrite ? [chosen.Operation] : chosen.Operation.Steps)
                ScenarioPrinter.WriteCommand(
                    step, new ValueContext(0, parsed.GetValue(shared.Seed) ?? PlanRequests.DefaultSeed), Console.Out);
        });
        return command;
    }

    private static ReadPlan Read(
        ParseResult parsed, Argument<string> file, SharedOptions shared, ScenarioOptions options) => PlanReader.Read(
            FilesOption.In(parsed, shared.Files, ScenarioFile.Find(parsed.GetValue(file)!)),
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

    public static Argument<string> ScenarioArgument()
    {
        var scenario = new Argument<string>("SCENARIO")
        {
            HelpName = "SCENARIO", Description = "A scenario file, or a name from 'list scenarios'",
        };
        scenario.CompletionSources.Add(_ => ScenarioFile.Shipped());
        return scenario;
    }
}
