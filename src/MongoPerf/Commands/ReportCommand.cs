using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;

namespace MongoPerf.Commands;

/// <summary><c>report RUN</c>: makes the report again, also of a run that is still running or was interrupted.</summary>
internal static class ReportCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        Argument<string> run = RunArgument.Create();
        Option<string?> format = OptionTypes.Choice("--format", "Output format; ycsb for scenarios [default: text]", "text", "json", "csv",
            "markdown", "ycsb", "junit");
        var command = new Command("report", "Rebuild the report of a run and print its results")
        {
            run, format, shared.Full, shared.Plots, shared.Out,
        };
        command.Runs(parsed =>
        {
            string runs = PlanRequests.RunsFolder(parsed, shared.Out);
            RunFolder folder = RunFolder.Find(runs, parsed.GetValue(run)!);
            var results = new ResultPrinter(parsed.GetValue(shared.Plots));
            results.Show(folder, new OutputRequest(runs, parsed.GetValue(format) ?? "text", false, true, results)
            {
                IsFull = parsed.GetValue(shared.Full),
            });
        });
        return command;
    }
}
