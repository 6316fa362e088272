using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Histories;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Results;

/// <summary>
/// The runs of a history: finished ones that did the same work on a quiet machine, unless <c>--force</c> takes others too.
/// </summary>
/// <param name="Points">A run each, or the repeats of one.</param>
/// <param name="LeftOut">Other runs of the scenario.</param>
/// <param name="Unlike">In what work the points differ.</param>
internal sealed record HistoryRuns(
    IReadOnlyList<HistoryPoint> Points, IReadOnlyList<LeftOutRun> LeftOut, IReadOnlyList<SetupDifference> Unlike)
{
    /// <exception cref="UserException">There are none, no such run or scenario, or runs that were named did different work.</exception>
    public static HistoryRuns Find(string runsFolder, IReadOnlyList<string> names, bool force)
    {
        RunListing[] listings = [.. RunCatalogue.List(runsFolder).Where(one => one.Plan is not null)];
        string[] scenarios = [.. listings.Select(one => one.Plan!).Distinct()];
        if (names.Count == 0)
        {
            RunListing newest = listings.LastOrDefault(one => one.State == "finished") ?? throw new UserException(
                ExitCode.WrongUsage, $"no finished run in {Path.GetFullPath(runsFolder)}",
                "'mongoperf list runs' shows all runs; --out selects another folder");
            return OfScenario(listings, newest.Plan!, null, force);
        }

        if (names.FirstOrDefault(name => scenarios.Contains(name)) is { } scenario)
            return names.Count == 1 ? OfScenario(listings, scenario, null, force) : throw new UserException(
                ExitCode.WrongUsage,
                $"{string.Join(' ', names)}: '{scenario}' is a scenario, and a history is of one scenario or of some runs",
                "name one scenario, or runs only");
        RunFolder[] folders = [.. names.SelectMany(name => name.Split(',', StringSplitOptions.RemoveEmptyEntries))
            .Select(name => FindFolder(runsFolder, name, scenarios))];
        if (folders is [var only])
        {
            using StoredRun run = StoredRun.Open(only.Path);
            return OfScenario(
                [.. RunCatalogue.List(Path.GetDirectoryName(Path.GetFullPath(only.Path))!)], run.Settings.Plan.Name, run.Run.Id, force);
        }

        return OfNamed([.. folders.DistinctBy(folder => Path.GetFullPath(folder.Path)).Select(folder => Open(folder.Path))], force);
    }

    private static RunFolder FindFolder(string runsFolder, string name, string[] scenarios)
    {
        try
        {
            return RunFolder.Find(runsFolder, name);
        }
        catch (UserException e) when (NearestName.Hint(name, scenarios) is { } hint)
        {
            throw new UserException(e.Code, $"{e.Message}, and no run of a scenario '{name}'", hint);
        }
    }

    /// <summary>What was named is meant: other work is refused, not left out.</summary>
    private static HistoryRuns OfNamed(StoredRun[] runs, bool force)
    {
        IReadOnlyList<SetupDifference> unlike = UnlikeAmong(runs);
        if (unlike.Count == 0 || force)
            return new HistoryRuns(PointsOf(runs), [], unlike);
        // What is wrong is English.
        using (Words.InEnglish())
            throw new UserException(
                ExitCode.WrongUsage,
                $"the runs did different work, so a history would mean nothing: {string.Join("; ", UnlikeAmong(runs))}",
                "--force mixes them anyway");
    }

    /// <param name="listings">Of the folder.</param>
    /// <param name="scenario">Whose runs.</param>
    /// <param name="like">Id of the run whose work the others must have done; null for the newest.</param>
    /// <param name="force">Takes all that finished.</param>
    private static HistoryRuns OfScenario(RunListing[] listings, string scenario, string? like, bool force)
    {
        List<LeftOutRun> leftOut = [];
        List<StoredRun> finished = [];
        foreach (RunListing listing in listings.Where(one => one.Plan == scenario))
        {
            StoredRun run = Open(listing.Folder);
            if (WhyUnfit(run) is { } why)
                leftOut.Add(new LeftOutRun(run.Run.Id, why));
            else
                finished.Add(run);
        }

        if (finished.Count == 0)
            throw new UserException(
                ExitCode.WrongUsage, $"no run of {scenario} has finished, so it has no history",
                leftOut.Count > 0 ? $"'mongoperf resume {leftOut[^1].Run}' continues the last one" : null);
        StoredRun reference = finished.Find(run => run.Run.Id == like) ?? finished[^1];
        if (force)
            return new HistoryRuns(PointsOf(finished), leftOut, UnlikeAmong(finished));
        List<StoredRun> taken = [];
        foreach (StoredRun run in finished)
        {
            if (UnlikeAmong([reference, run]) is { Count: > 0 } unlike)
                leftOut.Add(new LeftOutRun(run.Run.Id, Words.Of($"different work: {string.Join("; ", unlike)}")));
            else if (ClientLimit.Of(run).Other is { IsTooMuch: true })
                leftOut.Add(new LeftOutRun(run.Run.Id, Words.Of("other programs used the machine")));
            else
                taken.Add(run);
        }

        return taken.Count > 0 ? new HistoryRuns(PointsOf(taken), leftOut, []) : throw new UserException(
            ExitCode.WrongUsage,
            $"other programs were busy on the machine during every run of {scenario}, so a history would reflect their load",
            "run again on a quiet machine, or take these anyway with --force");
    }

    /// <returns>Null for a run that can be part of a history.</returns>
    private static string? WhyUnfit(StoredRun run) => run switch
    {
        { Run.State: not RunState.Finished } => Words.Of(run.StateText),
        { Run.Part: not null } => Words.Of("a part of a merged run"),
        { Run.Try: not null } => Words.Of("a try of --find-max"),
        _ => null,
    };

    private static IReadOnlyList<SetupDifference> UnlikeAmong(IReadOnlyList<StoredRun> runs) =>
        [.. SetupCheck.Find(runs).Where(difference => difference.IsUnlike)];

    private static IReadOnlyList<HistoryPoint> PointsOf(IEnumerable<StoredRun> runs) =>
    [
        .. runs.GroupBy(run => run.Run.Repeat?.Group ?? run.Run.Id)
            .Select(repeats => new HistoryPoint([.. repeats.OrderBy(run => run.Run.StartedAt)])),
    ];

    private static StoredRun Open(string folder)
    {
        StoredRun run = StoredRun.Open(folder);
        run.Overrides = StoredPlan.EffectiveOverrides(run);
        return run;
    }
}
