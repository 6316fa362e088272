using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Commands;

/// <summary><c>clean RUN</c>, <c>clean --all</c>, <c>clean --older-than 7d</c>: takes away what runs stored; results stay.</summary>
internal static class CleanCommand
{
    private const int MostNamed = 10;

    public static Command Create()
    {
        var shared = new SharedOptions();
        var run = new Argument<string?>(
            "RUN") { Description = "A run id, as shown by 'list runs', or a run folder", Arity = ArgumentArity.ZeroOrOne };
        var all = new Option<bool>("--all")
        {
            Description = "Delete the server data of every run in the runs folder; collections on existing deployments are kept",
        };
        Option<double?> olderThan = OptionTypes.Duration(
            "--older-than", "Delete the server data of runs that ended longer ago than this, such as 7d or 12h");
        var command = new Command("clean", "Delete what a run left behind: the data of the server it started, or its collections on an "
            + "existing deployment (also restores a cluster's settings); results and report are kept")
        {
            run, all, olderThan, shared.RunUri, shared.PasswordFile, shared.Out,
        };
        command.Runs(parsed =>
        {
            string runs = PlanRequests.RunsFolder(parsed, shared.Out);
            string? uri = parsed.GetValue(shared.RunUri);
            string? passwordFile = parsed.GetValue(shared.PasswordFile);
            double? age = parsed.GetValue(olderThan);
            bool isMany = parsed.GetValue(all) || age is not null;
            if (parsed.GetValue(run) is { } named)
                return isMany
                    ? throw new UserException(ExitCode.WrongUsage, $"clean takes only one of a run ('{named}'), --all and --older-than")
                    : CleanOne(RunFolder.Find(runs, named), uri, passwordFile);
            if (!isMany)
                throw new UserException(
                    ExitCode.WrongUsage, "clean: no run is named", "name one of 'mongoperf list runs', or use --all or --older-than 7d");
            if (uri is not null || passwordFile is not null)
                throw new UserException(
                    ExitCode.WrongUsage, "--uri and --password-file apply to one run and can't be combined with --all or --older-than");
            return CleanMany(runs, age is { } seconds ? DateTimeOffset.UtcNow.AddSeconds(-seconds) : DateTimeOffset.MaxValue);
        });
        return command;
    }

    private static ExitCode CleanOne(RunFolder folder, string? uri, string? passwordFile)
    {
        using (StoredRun stored = StoredRun.Open(folder.Path))
        {
            if (stored.IsWriterAlive)
                throw new UserException(ExitCode.Refused, $"run {folder.Id} is still running", "stop it first");
            if (CollectionCleanup.AppliesTo(stored))
            {
                CollectionCleanup.Run(folder, stored, uri, passwordFile);
                return ExitCode.Done;
            }

            ResumeCommand.RequireGiven(uri, stored);
        }

        if (!Delete(folder))
            Console.WriteLine($"run {folder.Id} has no server data to delete");
        return ExitCode.Done;
    }

    /// <summary>Runs whose data can't be deleted are named and kept; the others are deleted anyway.</summary>
    private static ExitCode CleanMany(string runsFolder, DateTimeOffset before)
    {
        int deleted = 0;
        var elsewhere = new List<string>();
        var code = ExitCode.Done;
        foreach (RunListing listing in RunCatalogue.List(runsFolder).Where(listing => listing.Problem is null && EndOf(listing) < before))
        {
            try
            {
                RunFolder folder = RunFolder.Find(runsFolder, listing.Id);
                deleted += Delete(folder) ? 1 : 0;
                if (MayHaveCollections(folder))
                    elsewhere.Add(folder.Id);
            }
            catch (Exception e) when (e is IFailure or IOException or UnauthorizedAccessException)
            {
                Console.Error.WriteLine($"kept: {Masking.Shown(e.Message.Split('\n')[0])}");
                code = ExitCode.Refused;
            }
        }

        if (deleted == 0)
            Console.WriteLine($"no server data to delete in {Path.GetFullPath(runsFolder)}");
        if (elsewhere.Count > 0)
            Console.WriteLine($"kept: what {Units.Counted(elsewhere.Count, "run")} may have left on given deployments; to drop it: "
                + string.Join("; ", elsewhere.Take(MostNamed).Select(id => $"mongoperf clean {id}"))
                + (elsewhere.Count > MostNamed ? $"; and so on ({elsewhere.Count - MostNamed} more)" : ""));
        return code;
    }

    private static bool MayHaveCollections(RunFolder folder)
    {
        using StoredRun stored = StoredRun.Open(folder.Path);
        return CollectionCleanup.AppliesTo(stored) && stored.FindNote(StoredRun.DeletedNote) is null;
    }

    /// <summary>A killed run ended with its last write.</summary>
    private static DateTimeOffset EndOf(RunListing listing) => listing.EndedAt ?? RunCatalogue.LastWritten(listing.Folder);

    /// <returns>False when there was nothing.</returns>
    private static bool Delete(RunFolder folder)
    {
        if (ServerData.Delete(folder) is not { } deleted)
            return false;
        Console.WriteLine(
            $"{Units.Bytes(deleted.Bytes)} of server data deleted from {folder.DataPath} ({Units.Counted(deleted.Files, "file")})");
        return true;
    }
}
