using System.CommandLine;
using MongoPerf.Deployments.Null;
using MongoPerf.Load.Plans;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Commands;

/// <summary><c>null-server</c>, hidden: answers everything and stores nothing.</summary>
internal static class NullServerCommand
{
    public static Command Create()
    {
        Option<long?> port = ServeCommand.PortOption();
        Option<string?> run = OptionTypes.Text("--run", "Folder of the run whose plan says what documents to answer with", "DIR");
        Option<string?> files = FilesOption.Create();
        var command = new Command("null-server", "Answer every message with generated documents and store nothing") { port, run, files };
        command.Hidden = true;
        command.Runs(parsed =>
        {
            NullServer.Run(
                (int)(parsed.GetValue(port) ?? 0), CollectionsOf(parsed.GetValue(run), FilesOption.Read(parsed, files)), Console.Out);
        });
        return command;
    }

    private static IReadOnlyList<PlanCollection> CollectionsOf(string? runFolder, FilesFolder files)
    {
        if (runFolder is null)
            return [];
        using StoredRun run = StoredRun.Open(runFolder);
        return [.. StoredPlan.Read(run.Settings, run.Run.Seed, files).Plan.Collections];
    }
}
