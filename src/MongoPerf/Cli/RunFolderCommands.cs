using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;

namespace MongoPerf.Cli;

/// <summary><c>resume RUN</c>: goes on where a series was broken off.</summary>
internal static class ResumeCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        Argument<string> run = RunArgument.Create();
        Option<string?> format = OptionTypes.Choice("--format", "What is printed at the end [default: text]", "text", "json", "csv", "markdown");
        var command = new Command("resume", "Go on with a series that was broken off, with the settings that it was started with")
        {
            run, shared.Uri, shared.Mongod, shared.Out, format, shared.Quiet, shared.NoTui,
        };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            string runs = SettingsReader.RunsFolder(parsed, shared.Out);
            var output = new OutputRequest(runs, parsed.GetValue(format) ?? "text", parsed.GetValue(shared.Quiet), parsed.GetValue(shared.NoTui));
            return SeriesSession.Resume(RunFolder.Find(runs, parsed.GetValue(run)!), stored =>
            {
                CheckServer(parsed, shared, stored);
                return new RunRequest
                {
                    Kind = "series",
                    Settings = stored.Settings with { MongodPath = parsed.GetValue(shared.Mongod) ?? stored.Settings.MongodPath },
                    Seed = stored.Run.Seed,
                    SeedWasGiven = true,
                    CommandLine = stored.Run.CommandLine,
                    Uri = stored.Settings.Uri is null ? null : parsed.GetValue(shared.Uri) ?? stored.Settings.Uri,
                    RequiredKind = KindOf(stored),
                    ServerProgram = parsed.GetValue(shared.Mongod) is null ? stored.FindNote(RunSession.ServerProgramNote) : null,
                    Output = output,
                };
            });
        }));
        return command;
    }

    /// <summary>A run goes on on the server that it began on.</summary>
    private static void CheckServer(ParseResult parsed, SharedOptions shared, StoredRun stored)
    {
        if (parsed.GetValue(shared.Uri) is not null && stored.Settings.Uri is null)
            throw new UserException(ExitCode.WrongUsage, $"run {stored.Run.Id} started its own server: --uri can't be given");
        if (parsed.GetValue(shared.Mongod) is not null && KindOf(stored) is { } kind and not ("mongod" or "sharded"))
            throw new UserException(ExitCode.WrongUsage, $"run {stored.Run.Id} started no mongod (its deployment is '{kind}'): --mongod can't be given");
    }

    /// <summary>A run that was killed before its server answered has only the note.</summary>
    private static string? KindOf(StoredRun stored) => stored.Deployment?.Kind ?? stored.FindNote(RunSession.ServerKindNote);
}

/// <summary><c>report RUN</c>: makes the report again, also of a run that is still going or was broken off.</summary>
internal static class ReportCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        Argument<string> run = RunArgument.Create();
        Option<string?> format = OptionTypes.Choice("--format", "What is printed; ycsb is for scenarios [default: text]", "text", "json", "csv", "markdown", "ycsb");
        var command = new Command("report", "Make the report of a run again and print its results") { run, format, shared.Out };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            string runs = SettingsReader.RunsFolder(parsed, shared.Out);
            RunFolder folder = RunFolder.Find(runs, parsed.GetValue(run)!);
            ResultPrinter.Print(folder, new OutputRequest(runs, parsed.GetValue(format) ?? "text", false, true));
            return ExitCode.Done;
        }));
        return command;
    }
}

/// <summary><c>list runs|scenarios|metrics|tests</c>.</summary>
internal static class ListCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        var runs = new Command("runs", "The runs in the folder of runs") { shared.Out };
        runs.SetAction(parsed => CommandRunner.Run(() =>
        {
            ListReport.WriteRuns(RunCatalogue.List(SettingsReader.RunsFolder(parsed, shared.Out)), Console.Out);
            return ExitCode.Done;
        }));
        var metrics = new Command("metrics", "What is sampled while a run goes on: of server and host every second, of shards every few seconds");
        metrics.SetAction(_ => CommandRunner.Run(() =>
        {
            ListReport.WriteMetrics(Console.Out);
            return ExitCode.Done;
        }));
        var tests = new Command("tests", "What 'run' knows by name");
        tests.SetAction(_ => CommandRunner.Run(() =>
        {
            ListReport.WriteTests(RunJobs.All.Select(job => (job.Name, job.Summary)), Console.Out);
            return ExitCode.Done;
        }));
        return new Command("list", "List runs, scenarios, metrics or tests") { runs, ScenarioCommands.CreateListScenarios(), metrics, tests };
    }
}

/// <summary><c>clean RUN</c>: takes away the data of a server that a run started; its results stay.</summary>
internal static class CleanCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        Argument<string> run = RunArgument.Create();
        var command = new Command("clean", "Delete what a run left behind: its own server's data, or its collection on a cluster with the cluster's settings put back; results and report stay")
        {
            run, shared.Uri, shared.Out,
        };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            RunFolder folder = RunFolder.Find(SettingsReader.RunsFolder(parsed, shared.Out), parsed.GetValue(run)!);
            if (IsGoing(folder))
                throw new UserException(ExitCode.Refused, $"run {folder.Id} is still going", "stop it first");
            ShardedCleanup.Run(folder, parsed.GetValue(shared.Uri));
            Console.WriteLine(ServerData.Delete(folder) is { } bytes
                ? $"{Units.Bytes(bytes)} of server data deleted from {folder.DataPath}"
                : $"run {folder.Id} has no server data of its own (any more): none deleted");
            return ExitCode.Done;
        }));
        return command;
    }

    /// <summary>A run that was killed as it began may have data and nothing that can be read: it can be cleaned all the same.</summary>
    private static bool IsGoing(RunFolder folder)
    {
        try
        {
            using StoredRun stored = StoredRun.Open(folder.Path);
            return stored.IsWriterAlive;
        }
        catch (RunStoreException) when (Directory.Exists(folder.DataPath))
        {
            return false;
        }
    }
}

internal static class RunArgument
{
    public static Argument<string> Create() => new("RUN") { Description = "A run's id, as 'list runs' shows it, or its folder" };
}
