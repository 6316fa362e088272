using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What came of a comparison, on one screen: who is ahead, a line for each operation, and what to do next.</summary>
internal static class ComparisonAnswer
{
    /// <summary>More lines would be no screen.</summary>
    private const int MostRows = 15;
    private const int MostFindings = 3;
    private const int MostFailures = 4;
    private const int MostLimits = 4;
    private const int MostChanges = 4;
    private const int MostReasons = 3;

    /// <param name="comparison">What came of comparing the runs.</param>
    /// <param name="names">Of the sides, the baseline's first.</param>
    /// <param name="files">What was written; of these the page is named.</param>
    /// <param name="typed">The runs, as commands take them.</param>
    public static IReadOnlyList<Block> Of(
        RunComparison comparison, IReadOnlyList<string> names, IReadOnlyList<Fact> files, string typed)
    {
        (CandidateComparison Comparison, string Name)[] candidates = [.. comparison.Candidates.Zip(names.Skip(1))];
        (int Place, Finding Finding)[] findings = [.. FindingsOf(comparison).Index()];
        (int Place, Finding Finding)[] foremost = [.. findings.Take(MostFindings)];
        string[] failures = [.. comparison.Failures.Take(MostFailures)];
        string? more = RunAnswer.More(comparison.Notes.Count - failures.Length, findings.Length - foremost.Length);
        // Runs of different work, or beside other programs, are compared with --force only, again too.
        string force = comparison.Differences.Any(difference => difference.IsUnlike)
            || comparison.Sides.Any(side => side.Other is { IsTooMuch: true }) ? " --force" : "";
        string all = $"{CommandText.Program} compare {typed}{force} --full";
        var next = new Fact("next", Next(comparison, typed, all));
        return
        [
            .. candidates.Select(one =>
                new Block.Paragraph(ComparisonTitle.Conclusion(one.Name, names[0], one.Comparison), Tone.Conclusion)),
            new Block.Cautions([.. comparison.Differences.Where(difference => difference.IsUnlike)
                .Select(unlike => Words.Of($"Different work, compared because of --force: {unlike}"))]),
            new Block.Verdicts([.. failures.Select(text => new Verdict(Grade.Bad, text))]),
            new Block.Verdicts([.. comparison.Candidates.Select(candidate => SingleOrSharded.Find(comparison, candidate))
                .Select(decision => decision?.Verdict).OfType<Verdict>()]),
            .. candidates.Where(one => one.Comparison.Operations.Count > 0).Select(one =>
                new Block.Table(Table(one.Comparison, one.Name, names[0], comparison.Percentiles)) { IsPlain = true }),
            new Block.Facts([.. candidates.SelectMany(one => IndexChanges.Of(comparison, one.Comparison, names[0], one.Name))
                .Take(MostChanges).Select(text => new Fact("changed", text))]),
            new Block.Facts([.. candidates.SelectMany(one => Reasons(one.Comparison)).Take(MostReasons)
                .Select(text => new Fact("undecided", text))]),
            new Block.Facts([.. comparison.Sides.Zip(names).Take(MostLimits)
                .Select(one => new Fact("limit", Limit(one.Second, SideLimits.Of(one.First)))).Where(fact => fact.Text.Length > 0)]),
            new Block.Foremost(foremost),
            new Block.Facts(
            [
                .. more is null ? Array.Empty<Fact>() : [new Fact("more", $"{more}: {all}")],
                .. files.Where(file => file.Name == "report"), next,
            ]) { In = Media.Console },
            new Block.Facts(
            [
                .. more is null ? Array.Empty<Fact>() : [new Fact("more", Words.Of($"{more}, below")) { Link = "#section-notes" }], next,
            ]) { In = Media.Documents },
        ];
    }

    private static string Limit(string name, string limit) => limit.Length == 0 ? "" : Words.Of($"{name}: {limit}");

    /// <summary>Of one server and shards, the plainest first.</summary>
    public static IReadOnlyList<Finding> FindingsOf(RunComparison comparison) =>
        [.. comparison.Candidates.SelectMany(candidate => ShardingFindings.Of(comparison, candidate))
            .Where(finding => !finding.IsVerdict).OrderByDescending(finding => finding.Weight)];

    /// <summary>Why operations are undecided, those with the same reason together.</summary>
    private static IEnumerable<string> Reasons(CandidateComparison candidate) => candidate.Operations
        .Where(operation => !operation.Tested.Any(Differs))
        .Select(operation => (Operation: operation, Why: operation.Tested.FirstOrDefault(judged => judged.Outcome == Outcome.Undecided)))
        .Where(one => one.Why is not null)
        .GroupBy(one => one.Operation.Evidence == Evidence.None ? one.Operation.Basis
            : one.Why!.Enough is { } enough ? Words.Of($"decided with {enough.Reason}")
            : Words.Of("what differs may be chance: the 95 % interval of a ratio has 1 within it, or reaches too far"))
        .Select(same => Words.Of($"{Words.And([.. same.Select(one => candidate.TitleOf(one.Operation)).Take(MostReasons),
            .. same.Count() > MostReasons ? [Words.Counted(same.Count() - MostReasons, "other")] : Array.Empty<string>()])}: {same.Key}"));

    private static ReportTable Table(
        CandidateComparison candidate, string name, string baseline, IReadOnlyList<Measure> percentiles)
    {
        OperationComparison[] all = [.. candidate.Operations];
        HashSet<OperationComparison> shown = [.. all.OrderBy(operation => operation.Tested.Any(Differs) ? 0 : 1).Take(MostRows)];
        string left = all.Length > shown.Count ? Words.Of($" ({shown.Count} of {all.Length} operations)") : "";
        bool hasUnits = ShownRate.AreMixed([.. all.Select(operation => ResultOf(candidate, operation)).OfType<OperationResult>()]);
        return new ReportTable(
            (hasUnits ? Words.Of($"{name}, ratio to {baseline}")
                : Words.Of($"{name}, ratio to {baseline}; rate: docs/s for inserts, else ops/s")) + left,
            ["<operation", "baseline", "rate", .. percentiles.Select(static one => one.Name), "max", "ratio", "95 %", "<verdict"],
            [.. all.Where(shown.Contains).Select(operation => Row(candidate, operation, percentiles, hasUnits))]);
    }

    /// <summary>Of the last window; null in what was made of no run.</summary>
    private static OperationResult? ResultOf(CandidateComparison candidate, OperationComparison operation) =>
        candidate.Candidate.Windows.At(new WindowKey(operation.Operation, operation.Windows[^1].At))
            .Select(window => window.Result).LastOrDefault(result => result is not null);

    private static IReadOnlyList<string> Row(
        CandidateComparison candidate, OperationComparison operation, IReadOnlyList<Measure> percentiles, bool hasUnits)
    {
        // The ratio is that of what the verdict names; where a rate was set and kept, only latencies can differ.
        MeasureComparison judged = operation.Tested.FirstOrDefault(Differs) ?? (operation.IsPaced
            ? operation.Find(percentiles.Contains(Measure.P99) ? Measure.P99 : percentiles[^1]) ?? operation.Rate : operation.Rate);
        OperationResult? result = ResultOf(candidate, operation);
        (double factor, string unit) = hasUnits && result is not null
            ? (ShownRate.FactorOf(result), " " + ShownRate.Of(result).Unit) : (1, "");
        double? slowest = candidate.Candidate.Windows.Keys.Where(key => key.Operation == operation.Operation)
            .SelectMany(candidate.Candidate.Windows.At).Max(window => window.Latency.Max);
        string ratio = ComparisonText.Number(judged.Ratio.Value);
        return
        [
            candidate.TitleOf(operation), Units.Rate(operation.Rate.Baseline * factor) + unit,
            Units.Rate(operation.Rate.Candidate * factor) + unit,
            .. percentiles.Select(one => Units.Latency(operation.Find(one)?.Candidate)), Units.Latency(slowest),
            judged.Measure.IsRate ? ratio
                : Words.Of($"{judged.Measure.Figure} {ratio} of {ComparisonText.Value(judged.Measure, judged.Baseline)}"),
            ComparisonText.Range(judged.Ratio.Interval),
            VerdictOf(operation),
        ];
    }

    /// <summary>"slower", or of what alone: "slower (p99)".</summary>
    private static string VerdictOf(OperationComparison operation)
    {
        MeasureComparison[] differ = [.. operation.Tested.Where(Differs)];
        if (differ.Length == 0)
            return ComparisonText.Describe(operation.Tested.All(judgement => judgement.Outcome == Outcome.Equivalent)
                ? Outcome.Equivalent : Outcome.Undecided);
        if (differ.DistinctBy(judgement => judgement.Outcome).Count() > 1)
            return Words.Of("mixed");
        string word = ComparisonText.Describe(differ[0].Outcome);
        // What is timed is the same in all columns.
        return differ[0].Measure.IsRate ? word
            : $"{word} ({(differ[0].Measure.IsService ? Words.Of("service ") : "")}{differ[0].Measure.Figure})";
    }

    private static bool Differs(MeasureComparison judgement) => judgement.Outcome is Outcome.Slower or Outcome.Faster;

    /// <summary>The command that would tell most, and what for.</summary>
    private static string Next(RunComparison comparison, string typed, string all)
    {
        string? option = comparison.Candidates.SelectMany(candidate => candidate.Operations).SelectMany(operation => operation.Tested)
            .Where(judgement => judgement.Outcome == Outcome.Undecided).Select(judgement => judgement.Enough?.Option)
            .FirstOrDefault(one => one is not null);
        string[] commands = [.. comparison.Sides.SelectMany(side => side.Stored).Select(run => run.Run.CommandLine).Distinct()];
        string longer = option ?? "--repeat 5";
        string? same = commands is [var only] ? CommandText.Again(only, longer) : null;
        return (option, same) switch
        {
            (not null, not null) => Words.Of($"to decide what is undecided: {same}"),
            (not null, null) => Words.Of($"to decide what is undecided: run each again with {option}"),
            _ when comparison.Sides.All(side => side.Stored.Count == 1) => same is null
                ? Words.Of("to see how much other runs differ: run each again with --repeat 5")
                : Words.Of($"to see how much other runs differ: {same}"),
            _ when comparison.Sides.All(side => side.First.GrowthSteps.Count >= Forecasts.GrowthFit.LeastSizes) =>
                Words.Of($"to see how they would continue: {CommandText.Program} forecast {typed}"),
            _ => Words.Of($"to see all figures: {all}"),
        };
    }
}
