using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Results;

/// <summary>What to compare, and how to show it.</summary>
internal sealed record ComparisonRequest
{
    /// <summary>Holds the runs that are named by id, and gets the folder of the comparison.</summary>
    public required string RunsFolder { get; init; }

    /// <summary>The baseline first; each an id, a folder, or several of them with commas.</summary>
    public required IReadOnlyList<string> Runs { get; init; }

    /// <summary>0.05 lets a ratio between 0.95 and 1.05 pass.</summary>
    public double NoiseThreshold { get; init; } = RunComparer.DefaultNoiseThreshold;

    /// <summary>The percentiles that are judged beside rates; null for the usual ones.</summary>
    public IReadOnlyList<Measure>? Percentiles { get; init; }

    public bool Force { get; init; }

    /// <summary>The end of what one command has just run: it is not refused because of what else the machine did, only told.</summary>
    public bool IsOfOneCommand { get; init; }

    public bool FailOnRegression { get; init; }

    /// <summary>text, json, csv, markdown or junit.</summary>
    public required string Format { get; init; }

    /// <summary>Text is the whole report, not only its answer.</summary>
    public bool IsFull { get; init; }

    /// <summary>What is drawn beside the figures of the scenario; null for the standard plots.</summary>
    public IReadOnlyList<PlotInfo>? Plots { get; init; }
}

/// <summary>Compares stored runs, writes the comparison's folder and prints the result.</summary>
internal static class ComparisonSession
{
    public static ExitCode Run(ComparisonRequest request)
    {
        IReadOnlyList<ComparedSide> sides = SideFinder.Find(request.RunsFolder, request.Runs);
        try
        {
            foreach (StoredRun run in sides.SelectMany(side => side.Stored))
                run.Overrides = StoredPlan.EffectiveOverrides(run);
            return sides.Count == 1 ? ShowSpread(sides[0], request) : Compare(sides, request);
        }
        finally
        {
            foreach (StoredRun run in sides.SelectMany(side => side.Stored))
                run.Dispose();
        }
    }

    private static ExitCode ShowSpread(ComparedSide side, ComparisonRequest request)
    {
        if (side.Stored.Count == 1)
        {
            // What programs read is English.
            using IDisposable? forPrograms = request.Format is "json" or "csv" ? Words.InEnglish() : null;
            if (RecordedTimes.Of(side.First, request.NoiseThreshold) is { } recorded)
                return ShowRecorded(side, recorded, request);
            throw new UserException(
                ExitCode.WrongUsage,
                $"run {side.Id} has nothing to compare with: name two runs, or one that was repeated",
                "'mongoperf list runs' shows all runs");
        }

        // What is wrong, and what programs read, is English.
        using (Words.InEnglish())
            RequireAlike(SetupCheck.FindAmongRepeats(side.Stored), request.Force);
        using IDisposable? english = request.Format is "json" or "csv" ? Words.InEnglish() : null;
        RepeatSpread spread = RepeatSpread.Of(side, request.NoiseThreshold);
        ResultFormat.Print(
            request.Format, request.IsFull, () => ComparisonReport.Of(spread),
            ("json", output => ComparisonJson.WriteSpread(spread, output)), ("csv", output => ComparisonCsv.WriteSpread(spread, output)),
            ("junit", output => JunitReport.Write(side.Stored, output)));
        return ExitCode.Done;
    }

    /// <summary>A replay alone is held against what it replays.</summary>
    private static ExitCode ShowRecorded(ComparedSide side, RecordedTimes recorded, ComparisonRequest request)
    {
        ResultFormat.Print(
            request.Format, request.IsFull, recorded.ToReport, ("json", recorded.WriteJson), ("csv", recorded.WriteCsv),
            ("junit", output => JunitReport.Write(side.Stored, output)));
        return request.FailOnRegression && recorded.IsRegression ? ExitCode.Regression : ExitCode.Done;
    }

    private static ExitCode Compare(IReadOnlyList<ComparedSide> sides, ComparisonRequest request)
    {
        using (Words.InEnglish())
        {
            foreach (ComparedSide side in sides)
                RequireAlike(SetupCheck.FindAmongRepeats(side.Stored), request.Force);
            RequireAlike(SetupCheck.Find([.. sides.Select(side => side.First)]), request.Force);
            if (!request.Force && !request.IsOfOneCommand)
                RequireQuiet(sides);
        }

        RunComparison comparison = RunComparer.Compare(
            sides, request.NoiseThreshold, request.Percentiles, request.Plots ?? PlotLibrary.Standard);
        // A scenario whose deployments do different things on purpose lays them beside each other in its figures.
        bool isForFigures = request.IsOfOneCommand && sides[0].First.Settings.Plan.Figures.Count > 0;
        foreach (CandidateComparison candidate in comparison.Candidates.Where(c => c.Operations.Count == 0 && !isForFigures))
            throw new UserException(ExitCode.WrongUsage,
                $"{candidate.Candidate.Id} and {sides[0].Id} have no operation in common that as many threads did",
                "'mongoperf report' shows what each one measured");
        string folder = Path.Combine(request.RunsFolder, RunCatalogue.ComparisonPrefix + string.Join('-', sides.Select(side => side.Id)));
        string typed = RunFolder.TextOf(request.RunsFolder, request.Runs);
        ReportFiles files = ComparisonWriter.WriteAll(comparison, folder, request.Plots, typed);
        foreach (string warning in files.Warnings)
            Console.Error.WriteLine(warning);
        Print(comparison, files, typed, request);
        return request.FailOnRegression ? Gate(comparison) : ExitCode.Done;
    }

    /// <summary>What is undecided lets pass, but is said; a gate that can't close must not look like one that was passed.</summary>
    private static ExitCode Gate(RunComparison comparison)
    {
        if (comparison.Candidates.Any(c => c.IsRegression))
            return ExitCode.Regression;
        if (!comparison.Candidates.All(c => c.IsTested))
        {
            Enough? enough = comparison.Candidates.SelectMany(c => c.Operations)
                .Select(o => o.Rate.Enough).FirstOrDefault(one => one is not null);
            throw new UserException(ExitCode.WrongUsage, "too little data to judge any operation, so --fail-on-regression can't decide",
                enough is null ? "run longer, or --repeat 5" : $"a verdict would take {enough}");
        }

        int undecided = comparison.Candidates.Sum(c => c.Operations.Sum(o => o.Tested.Count(j => j.Outcome == Outcome.Undecided)));
        if (undecided > 0)
            Console.Error.WriteLine("no regression found, "
                + $"but {undecided} of {comparison.Candidates.Sum(c => c.Operations.Sum(o => o.Tested.Count()))} results are undecided");
        return ExitCode.Done;
    }

    private static void Print(RunComparison comparison, ReportFiles files, string typed, ComparisonRequest request) => ResultFormat.Print(
        request.Format, request.IsFull,
        () => ComparisonReport.Of(comparison, request.Format == "markdown" ? null : ResultPrinter.Written(files), typed),
        ("json", output => ComparisonJson.Write(comparison, output)), ("csv", output => ComparisonCsv.Write(comparison, output)),
        ("junit", output => JunitReport.Write(comparison, output)));

    private static void RequireQuiet(IReadOnlyList<ComparedSide> sides)
    {
        string[] disturbed = [.. sides.Where(side => side.Other is { IsTooMuch: true })
            .Select(side => $"in {side.Id} {side.Other!.Sentence}")];
        if (disturbed.Length > 0)
            throw new UserException(
                ExitCode.WrongUsage,
                $"other programs were busy on the machine, so a ratio would reflect their load as well: {string.Join("; ", disturbed)}",
                "run again on a quiet machine, or compare anyway with --force");
    }

    private static void RequireAlike(IReadOnlyList<SetupDifference> differences, bool force)
    {
        string[] unlike = [.. differences.Where(d => d.IsUnlike).Select(d => d.ToString())];
        if (unlike.Length > 0 && !force)
            throw new UserException(ExitCode.WrongUsage,
                $"the runs did different work, so a ratio would mean nothing: {string.Join("; ", unlike)}", "--force compares them anyway");
    }
}

/// <summary>Finds the runs that were named, with the repeats that belong to them.</summary>
internal static class SideFinder
{
    /// <exception cref="UserException">No such run, or one named twice.</exception>
    public static IReadOnlyList<ComparedSide> Find(string runsFolder, IReadOnlyList<string> names)
    {
        RunFolder[][] named = [.. names.Select(name => RunFolder.Several(runsFolder, name).ToArray())];
        string? twice = named.SelectMany(side => side)
            .GroupBy(folder => Path.GetFullPath(folder.Path)).FirstOrDefault(group => group.Count() > 1)?.First().Id;
        if (twice is not null)
            throw new UserException(ExitCode.WrongUsage, $"run {twice} is named twice");
        StoredRun[][] runs = [.. named.Select(side => side.Select(folder => StoredRun.Open(folder.Path)).ToArray())];
        return [.. WithRepeats(runs).Select(side => new ComparedSide(side))];
    }

    /// <summary>
    /// Each run that was named alone with its repeats; as they were named when that would give some side too few runs to be judged by.
    /// </summary>
    private static StoredRun[][] WithRepeats(StoredRun[][] named)
    {
        string?[] groups = [.. named.Select(side => side is [{ Run.Repeat: { } repeat }] ? repeat.Group : null)];
        StoredRun[][] sides =
            [.. named.Select((side, i) => groups[i] is { } group && groups.Count(g => g == group) == 1 ? Repeats(side[0], group) : side)];
        int least = named.Length == 1 ? 1 : OperationComparer.LeastRuns;
        if (sides.All(side => side.Length >= least))
            return sides;
        foreach (StoredRun run in sides.SelectMany(side => side).Except(named.SelectMany(side => side)))
            run.Dispose();
        return named;
    }

    /// <summary>Those beside a run that reached their ends, in the order in which they ran.</summary>
    private static StoredRun[] Repeats(StoredRun run, string group)
    {
        var repeats = new List<StoredRun> { run };
        foreach (RunListing listing in RunCatalogue.List(Path.GetDirectoryName(run.Folder)!)
            .Where(l => l.Problem is null && l.Id != run.Run.Id))
        {
            StoredRun other = StoredRun.Open(listing.Folder);
            if (other.Run is { State: RunState.Finished } && other.Run.Repeat?.Group == group)
                repeats.Add(other);
            else
                other.Dispose();
        }

        return [.. repeats.OrderBy(r => r.Run.Repeat!.Number)];
    }
}
