using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Histories;
using MongoPerf.Reports.Plots;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>history [SCENARIO|RUN…]</c>: the same work over many stored runs, and where it changed.</summary>
internal static class HistoryCommand
{
    private const int MostNewest = 1000;

    public static Command Create()
    {
        var shared = new SharedOptions();
        var names = new Argument<string[]>("SCENARIO|RUN")
        {
            Description = "A scenario with all its runs, a run with all that did the same work, or several runs [default: the scenario of "
                + "the newest run]",
            Arity = ArgumentArity.ZeroOrMore,
        };
        Option<IReadOnlyList<HistoryMetric>?> metrics = OptionTypes.List(
            "--metric", "Metrics to show: of all operations, such as rate or p99, or of one, such as q4.rate [default: rate,p99]",
            "[OPERATION.]METRIC[,…]", ParseMetric);
        Option<long?> newest = OptionTypes.Make<long?>(
            "--newest", null, $"How many of the latest runs count as new [default: {RunHistory.DefaultNewest}]", "N",
            text => Quantities.ParseCount(text, 1, MostNewest));
        Option<double?> noise = CompareCommand.NoiseOption("Ignore changes up to this size");
        var force = new Option<bool>(
            "--force") { Description = "Include runs that did different work or shared the machine with busy programs, and say so" };
        var fail = new Option<bool>(
            "--fail-on-regression") { Description = "Exit with code 10 if a change among the newest runs left a metric worse than before" };
        Option<string?> format = OptionTypes.Choice(
            "--format", "Output format [default: text]", "text", "json", "csv", "markdown", "junit");
        var command = new Command("history", "Show a scenario over its stored runs: one table, one chart, and where it changed")
        {
            names, metrics, newest, noise, force, fail, format, shared.Full, shared.Plots, shared.Out,
        };
        names.Validators.Add(result => CompareCommand.RefuseOptions(result, command));
        command.Runs(parsed =>
        {
            string? plots = parsed.GetValue(shared.Plots);
            using IDisposable style = PlotStyle.In(plots).Use();
            return HistorySession.Run(new HistoryCall
            {
                RunsFolder = PlanRequests.RunsFolder(parsed, shared.Out),
                Names = parsed.GetValue(names)!,
                Metrics = parsed.GetValue(metrics),
                Newest = (int)(parsed.GetValue(newest) ?? RunHistory.DefaultNewest),
                NoiseThreshold = parsed.GetValue(noise) ?? RunComparer.DefaultNoiseThreshold,
                Force = parsed.GetValue(force),
                FailOnRegression = parsed.GetValue(fail),
                Format = parsed.GetValue(format) ?? "text",
                IsFull = parsed.GetValue(shared.Full),
                Plots = PlotLibrary.With(plots),
            });
        });
        return command;
    }

    /// <summary>The names of operations may have dots of their own.</summary>
    private static HistoryMetric ParseMetric(string text)
    {
        int dot = text.LastIndexOf('.');
        string name = OptionTypes.OneOf(text[(dot + 1)..], HistoryMetric.Names);
        return new HistoryMetric(FigureMetric.Find(name), dot < 0 ? null : text[..dot]);
    }
}
