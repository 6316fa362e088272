using System.CommandLine;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Engine.Workloads.Templates;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary><c>validate FILE</c>, <c>show document|command FILE …</c> and <c>new FILE</c>: everything about scenarios that needs no server.</summary>
internal static class ScenarioCommands
{
    public static Command CreateValidate()
    {
        Argument<string> file = FileArgument();
        var command = new Command("validate", "Check a scenario file") { file };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            ScenarioFile found = ScenarioFile.Find(parsed.GetValue(file)!);
            ReadScenario read = ScenarioReader.Read(found, ScenarioOverrides.None, 42);
            foreach (ScenarioDeployment deployment in read.Deployments)
                _ = ScenarioReader.Read(found, ScenarioOverrides.None, 42, deployment);
            int phases = read.Scenario.Rounds.Sum(r => r.Phases.Count);
            Console.WriteLine($"{found.ShownPath}: right; {phases} {(phases == 1 ? "phase" : "phases")}, {read.Scenario.Rounds.Max(r => r.Collections.Sum(c => c.Count)):N0} documents");
            return ExitCode.Done;
        }));
        return command;
    }

    public static Command CreateShow()
    {
        return new Command("show", "Show a document or a command of a scenario") { CreateShowDocument(), CreateShowCommand() };
    }

    public static Command CreateNew()
    {
        var file = new Argument<string>("FILE") { Description = "Where to write it, such as my.yaml" };
        var command = new Command("new", "Write a commented scenario that runs, to start from") { file };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            string path = parsed.GetValue(file)!;
            if (File.Exists(path))
                throw new UserException(ExitCode.WrongUsage, $"{path} is there already", "name another file");
            File.Copy(Path.Combine(AppContext.BaseDirectory, "scenarios", "examples", "start.yaml"), path);
            Console.WriteLine($"{path} is written; './mongoperf run {path}' runs it");
            return ExitCode.Done;
        }));
        return command;
    }

    public static Command CreateListScenarios()
    {
        var command = new Command("scenarios", "Scenarios that 'run' finds by name");
        command.SetAction(_ => CommandRunner.Run(() =>
        {
            ScenarioPrinter.WriteList(ScenarioFile.List(), Console.Out);
            return ExitCode.Done;
        }));
        return command;
    }

    private static Command CreateShowDocument()
    {
        Argument<string> file = FileArgument();
        var collection = new Argument<string?>("COLLECTION") { Description = "Which of its collections [default: the first]", Arity = ArgumentArity.ZeroOrOne };
        Option<long?> number = OptionTypes.Count("--number", "The document's number [default: 0]", least: 0);
        var shared = new SharedOptions();
        var scenario = new ScenarioOptions();
        var command = new Command("document", "One document with its exact size") { file, collection, number, shared.Seed, scenario.Set };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            ReadScenario read = Read(parsed, file, shared, scenario);
            IReadOnlyList<ScenarioCollection> all = read.Scenario.Rounds[0].Collections;
            ScenarioCollection chosen = Choose(all, c => c.Name, parsed.GetValue(collection), "collection");
            ScenarioPrinter.WriteDocument(chosen, parsed.GetValue(number) ?? 0, Console.Out);
            return ExitCode.Done;
        }));
        return command;
    }

    private static Command CreateShowCommand()
    {
        Argument<string> file = FileArgument();
        var operation = new Argument<string?>("OPERATION") { Description = "Its name [default: the first]", Arity = ArgumentArity.ZeroOrOne };
        var shared = new SharedOptions();
        var scenario = new ScenarioOptions();
        var command = new Command("command", "One command as it is sent, with values drawn") { file, operation, shared.Seed, scenario.Set };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            ReadScenario read = Read(parsed, file, shared, scenario);
            PhaseOperation[] all = [.. read.Scenario.Rounds[0].Phases.SelectMany(p => p.Groups).SelectMany(g => g.Operations).DistinctBy(o => o.Operation.Test)];
            // A load is the first phase mostly, but hardly what is meant.
            PhaseOperation[] ordered = [.. all.OrderBy(o => o.Operation.Test == "load")];
            PhaseOperation chosen = Choose(ordered, o => o.Operation.Test, parsed.GetValue(operation), "operation");
            foreach (CollectionOperation step in chosen.Operation.Steps)
                ScenarioPrinter.WriteCommand(step, new ValueContext(0, parsed.GetValue(shared.Seed) ?? 42), Console.Out);
            return ExitCode.Done;
        }));
        return command;
    }

    private static ReadScenario Read(ParseResult parsed, Argument<string> file, SharedOptions shared, ScenarioOptions options) => ScenarioReader.Read(
        ScenarioFile.Find(parsed.GetValue(file)!), ScenarioOverrides.None with { Parameters = options.ReadParameters(parsed) }, parsed.GetValue(shared.Seed) ?? 42);

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

        string? nearest = NearestName.Find(name, all.Select(nameOf));
        throw new UserException(ExitCode.WrongUsage, $"no {what} '{name}', the scenario's are {string.Join(", ", all.Select(nameOf))}", nearest is null ? null : $"did you mean '{nearest}'?");
    }

    private static Argument<string> FileArgument() => new("FILE") { Description = "A scenario file, or the name of one that 'list scenarios' shows" };
}
