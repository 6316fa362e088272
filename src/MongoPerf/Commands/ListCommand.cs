using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;

namespace MongoPerf.Commands;

/// <summary><c>list runs|scenarios|plots|phases|metrics</c>.</summary>
internal static class ListCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        Command runs = Part("runs", "Stored runs",
            parsed => ListReport.Runs(RunCatalogue.List(PlanRequests.RunsFolder(parsed, shared.Out)), ServerData.ReadBytes), shared.Out);
        Command metrics = Part(
            "metrics", "Metrics sampled during a run: servers, members of replica sets and host every second, shards every few seconds",
            _ => ListReport.Metrics());
        Command phases = Part("phases", "Phases of the series that 'run' knows by name",
            _ => ListReport.Named("phases", SeriesScenario.Phases(SeriesScenario.Find()).Select(phase => (phase.Name, phase.Description))));
        phases.Aliases.Add("tests");
        Command plots = Part("plots", "Plots that 'plot' and reports know by name",
            _ => ListReport.Named("plots", PlotLibrary.Standard.Select(static plot => (plot.Name, plot.Description))));
        return new Command("list",
            "List runs, scenarios, plots, phases or metrics") { runs, ScenarioCommands.CreateListScenarios(), plots, phases, metrics };
    }

    private static Command Part(string name, string description, Func<ParseResult, ListTable> read, params Option[] options)
    {
        Option<string?> format = FormatOption();
        var command = new Command(name, description);
        foreach (Option option in (Option[])[.. options, format])
            command.Options.Add(option);
        command.Runs(parsed => read(parsed).Write(parsed.GetValue(format) ?? "text", Console.Out));
        return command;
    }

    /// <summary>The option for the format of each of its parts.</summary>
    public static Option<string?> FormatOption() => OptionTypes.Choice("--format", "Output format [default: text]", "text", "json", "csv");
}
