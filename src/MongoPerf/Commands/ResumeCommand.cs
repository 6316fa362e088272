using System.CommandLine;
using MongoPerf.Commands.Agents;
using MongoPerf.Options;
using MongoPerf.Running.Agents;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>resume RUN</c>: continue an interrupted run.</summary>
internal static class ResumeCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        Argument<string> run = RunArgument.Create();
        Option<string?> coordinator = AgentOptions.Coordinator();
        Option<string?> mongod = OptionTypes.Text("--mongod",
            "The mongod that starts the run's server again: a path, or an installed version [default: the one that the run used]", "PATH");
        Option<string?> format = OptionTypes.Choice("--format", "Output format of the results [default: text]", "text", "json",
            "csv", "markdown", "junit");
        var command = new Command("resume", "Continue an interrupted run with its original settings")
        {
            run, coordinator, shared.RunUri, shared.PasswordFile, shared.ShardUser, shared.ShardPasswordFile,
            mongod, shared.MayWrite, shared.Files, shared.Out, format, shared.Quiet, shared.Full, shared.NoTui, shared.NoReport,
            shared.Plots, shared.Live, shared.Otlp,
        };
        command.Runs(parsed =>
        {
            FilesFolder files = FilesOption.Read(parsed, shared.Files);
            OutputRequest output = PlanRequests.OutputOf(parsed, shared, parsed.GetValue(format) ?? "text");
            RunFolder folder = RunFolder.Find(output.RunsFolder, parsed.GetValue(run)!);
            if (parsed.GetValue(coordinator) is { } uriOfAgents)
            {
                using StoredRun merged = StoredRun.Open(folder.Path);
                RequireScenario(merged);
                return AgentsSession.Resume(merged, uriOfAgents, output, files);
            }

            return ResumeSession.Run(folder, stored =>
            {
                RequireScenario(stored);
                CheckServer(parsed.GetValue(shared.RunUri), parsed.GetValue(mongod), stored);
                ReadPlan plan = StoredPlan.Read(stored.Settings, stored.Run.Seed, files);
                string? storedUri = stored.Settings.Deployment.Uri;
                var resumed = new RunRequest
                {
                    Settings = stored.Settings with
                    {
                        // The stored file may be somebody else's: no program that only it names is started.
                        Deployment = stored.Settings.Deployment with { MongodPath = parsed.GetValue(mongod) },
                    },
                    Plan = plan,
                    ReadPlan = _ => plan,
                    Seed = stored.Run.Seed,
                    SeedWasGiven = true,
                    DatabaseWasGiven = true,
                    CommandLine = stored.Run.CommandLine,
                    Uri = storedUri is null ? null : ConnectionSecrets.Choose(parsed.GetValue(shared.RunUri), storedUri, UriVariable.Value),
                    PasswordFile = parsed.GetValue(shared.PasswordFile),
                    ShardLogin = PlanRequests.ReadShardLogin(parsed, shared, storedUri),
                    RequiredKind = KindOf(stored),
                    ServerProgram = parsed.GetValue(mongod) is null ? stored.FindNote(RunDeployment.ProgramNote) : null,
                    MayWrite = MayWriteOption.Read(parsed, shared),
                    Files = files,
                    Output = output,
                };
                return ConnectionSecrets.Complete([resumed])[0];
            });
        });
        return command;
    }

    private static void RequireScenario(StoredRun stored)
    {
        if (stored.Settings.Plan.Recording is { } recording)
            throw new UserException(ExitCode.WrongUsage, $"run {stored.Run.Id} is a replay, which can't be continued in its middle",
                $"begin a new one: mongoperf replay {CommandText.Quoted(recording)}");
    }

    /// <exception cref="UserException">A connection string for a run that has none.</exception>
    public static void RequireGiven(string? uri, StoredRun stored)
    {
        if (uri is not null && stored.Settings.Deployment.Uri is null)
            throw new UserException(ExitCode.WrongUsage, $"run {stored.Run.Id} started its own server; --uri does not apply");
    }

    /// <summary>A run continues on the server that it began on.</summary>
    private static void CheckServer(string? uri, string? mongod, StoredRun stored)
    {
        RequireGiven(uri, stored);
        if (mongod is not null
            && KindOf(stored) is { } kind and not (DeploymentKind.Mongod or DeploymentKind.Sharded or DeploymentKind.ReplicaSet))
            throw new UserException(
                ExitCode.WrongUsage, $"run {stored.Run.Id} started no mongod (its deployment is {kind.Text()}); --mongod does not apply");
    }

    /// <summary>A run that was killed before its server answered has only the note.</summary>
    private static DeploymentKind? KindOf(StoredRun stored) =>
        stored.Deployment?.Kind ?? (Enum.TryParse(stored.FindNote(RunDeployment.KindNote), out DeploymentKind kind) ? kind : null);
}
