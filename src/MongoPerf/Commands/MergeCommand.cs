using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>merge RUN…</c>: runs of one plan by several clients become one.</summary>
internal static class MergeCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        var runs = new Argument<string[]>("RUN")
        {
            Description =
                "Runs of one plan that several clients made on one deployment at the same time: ids, or folders copied from them",
            Arity = ArgumentArity.OneOrMore,
        };
        Option<string?> format = OptionTypes.Choice("--format", "Output format; ycsb for scenarios [default: text]", "text",
            "json", "csv", "markdown", "ycsb");
        var command = new Command("merge",
            "Merge the runs of several clients into one: counts and latencies are added, clocks aligned")
        {
            runs, format, shared.Full, shared.Plots, shared.Files, shared.Out,
        };
        command.Runs(parsed =>
        {
            string folder = PlanRequests.RunsFolder(parsed, shared.Out);
            var results = new ResultPrinter(parsed.GetValue(shared.Plots));
            var parts = new List<StoredRun>();
            try
            {
                foreach (string named in parsed.GetValue(runs)!)
                    parts.Add(StoredRun.Open(RunFolder.Find(folder, named).Path));
                return MergeSession.Merge(parts, [], Masking.MaskCall(parsed.Tokens.Select(t => t.Value)),
                    new OutputRequest(folder, parsed.GetValue(format) ?? "text", false, true, results)
                    {
                        IsFull = parsed.GetValue(shared.Full),
                    },
                    FilesOption.Read(parsed, shared.Files));
            }
            finally
            {
                parts.ForEach(part => part.Dispose());
            }
        });
        return command;
    }
}
