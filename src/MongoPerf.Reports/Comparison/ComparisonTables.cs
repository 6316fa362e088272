using MongoPerf.Reports.Figures;

namespace MongoPerf.Reports.Comparison;

/// <summary>The tables that console, Markdown and page have in common.</summary>
internal static class ComparisonTables
{
    public static IEnumerable<ReportTable> Of(RunComparison comparison)
    {
        foreach (ReportTable table in FigureTables.Of(comparison.FigureRuns))
            yield return table;
        foreach (CandidateComparison candidate in comparison.Candidates)
        {
            if (candidate.Operations.Count > 0)
                yield return Operations(candidate, Words.Of($"{candidate.Candidate.Name} against {comparison.Baseline.Name}"));
            OperationComparison[] several = [.. candidate.RatedOperations.Where(o => o.Windows.Count > 1)];
            foreach (OperationComparison judged in several.Where(HasDecidedWindow))
                yield return Windows(judged, candidate.TitleOf(judged));
            if (several.Where(o => !HasDecidedWindow(o)).ToArray() is { Length: > 0 } undecided)
                yield return Undecided(candidate, undecided);
            if (candidate.Operations.Where(HasRetries).ToArray() is { Length: > 0 } retried)
                yield return Retries(candidate, retried);
            if (candidate.Replies.Count > 0)
                yield return Replies(candidate, comparison.NoiseThreshold);
            if (candidate.Sizes.Count > 0)
                yield return Bytes(candidate);
        }
    }

    public static ReportTable Spread(RepeatSpread spread) => new(
        Words.Of($"{spread.Side.Stored.Count} runs: documents/s for inserts, operations/s for others (geometric mean over sizes)"),
        ["<operation", "lowest", "median", "highest", "variation", "highest to lowest", "<in order"],
        [
            .. spread.Operations.Select(o => (IReadOnlyList<string>)
            [
                spread.TitleOf(o), Units.Rate(o.Lowest), Units.Rate(o.Median), Units.Rate(o.Highest),
                o.Variation is { } variation ? Units.Percent(variation) : Units.None, ComparisonText.Number(o.Highest / o.Lowest),
                string.Join(" ", o.Rates.Select(r => Units.Rate(r))),
            ]),
        ]);

    private static ReportTable Operations(CandidateComparison candidate, string pair) => new(
        Words.Of($"{pair}: rates are documents/s for inserts, operations/s for others; a latency ratio above 1 is slower"),
        ["<operation", "<of", "baseline", "candidate", "ratio", "95 %", "p (Holm)", "<verdict"],
        [.. candidate.Operations.SelectMany(operation =>
            operation.Measures.Select((judgement, i) => Row(operation, judgement, i == 0 ? candidate.TitleOf(operation) : "")))]);

    private static IReadOnlyList<string> Row(OperationComparison operation, MeasureComparison judgement, string title) =>
        [title, ComparisonText.NameOf(operation, judgement.Measure), .. Figures(judgement)];

    private static IReadOnlyList<string> Figures(MeasureComparison judgement) =>
    [
        ComparisonText.Value(judgement.Measure, judgement.Baseline), ComparisonText.Value(judgement.Measure, judgement.Candidate),
        ComparisonText.Number(judgement.Ratio.Value), ComparisonText.Range(judgement.Ratio.Interval),
        judgement.HolmP is { } p ? ComparisonText.Probability(p) : Units.None,
        !judgement.IsTested ? "" : ComparisonText.Describe(judgement.Outcome),
    ];

    private static ReportTable Windows(OperationComparison judged, string title)
    {
        bool isGrowth = judged.Operation.Growth is not null;
        return new ReportTable(
            isGrowth ? Words.Of($"{title}: rate at each size") : Words.Of($"{title}: rate at each repeat"),
            [isGrowth ? "documents" : "repeat", "baseline", "candidate", "ratio", "95 %", "p (Holm)", "<verdict"],
            [.. judged.Windows.Select(window =>
                (IReadOnlyList<string>)[isGrowth ? Units.Count(window.At) : Units.Exact(window.At), .. Figures(window.Rate)])]);
    }

    private static bool HasDecidedWindow(OperationComparison judged) =>
        judged.Windows.Any(window => window.Rate.Outcome != Outcome.Undecided);

    /// <summary>Windows that are too short to decide anything by themselves: a line for each operation says how far they differ.</summary>
    private static ReportTable Undecided(CandidateComparison candidate, IReadOnlyList<OperationComparison> operations) => new(
        Words.Of("Ratios of the rate at single sizes or repeats, none of which decides by itself (comparison.csv has each)"),
        ["<operation", "sizes", "at the first", "at the last", "lowest", "highest"],
        [
            .. operations.Select(operation =>
            {
                double[] ratios = [.. operation.Windows.Select(window => window.Rate.Ratio.Value)];
                return (IReadOnlyList<string>)
                [
                    candidate.TitleOf(operation), Units.Exact(ratios.Length),
                    .. new[] { ratios[0], ratios[^1], ratios.Min(), ratios.Max() }.Select(ComparisonText.Number),
                ];
            }),
        ]);

    private static bool HasRetries(OperationComparison operation) => operation.Retries is { } both
        && ((both.Baseline?.All.Aborted ?? 0) + (both.Candidate?.All.Aborted ?? 0) > 0);

    private static ReportTable Retries(CandidateComparison candidate, IReadOnlyList<OperationComparison> operations) => new(
        Words.Of("Transactions: attempts that were retried, and the share of their time that the retries took"),
        ["<operation", "aborted, baseline", "aborted, candidate", "retried, baseline", "retried, candidate", "time, baseline",
            "time, candidate"],
        [
            .. operations.Select(one => (IReadOnlyList<string>)
            [
                candidate.TitleOf(one),
                .. Both(one, static side => Units.Exact(side.All.Aborted)), .. Both(one, static side => Units.Percent(side.Attempts)),
                .. Both(one, static side => Units.Percent(side.Time)),
            ]),
        ]);

    private static string[] Both(OperationComparison operation, Func<RetryShare, string> text) =>
        [.. new[] { operation.Retries!.Value.Baseline, operation.Retries.Value.Candidate }
            .Select(side => side is null ? Units.None : text(side))];

    /// <summary>Where values are drawn from samples, replies vary a little from run to run.</summary>
    private static ReportTable Replies(CandidateComparison candidate, double threshold) => new(
        Words.Of("Replies on existing data: documents and bytes per reply"),
        ["<operation", "baseline", "candidate", "bytes, baseline", "bytes, candidate", "<replies"],
        [
            .. candidate.Replies.Select(one => (IReadOnlyList<string>)
            [
                one.Operation.TitleAmong([.. candidate.Replies.Select(reply => reply.Operation)]),
                ComparisonText.Number(one.Baseline), ComparisonText.Number(one.Candidate),
                Units.Bytes((long)one.BaselineBytes), Units.Bytes((long)one.CandidateBytes),
                one.Differs(threshold) is not { } differ ? Words.Of("too few") : differ ? Words.Of("differ") : Words.Of("alike"),
            ]),
        ]);

    private static ReportTable Bytes(CandidateComparison candidate) => new(
        Words.Of($"Sizes at {Units.Count(candidate.SizesAtDocuments)} documents") + SizeAge.Of(candidate.SizesAreOfCheckpoint),
        ["<what", "baseline", "candidate", "ratio"],
        [.. candidate.Sizes.Select(s =>
            (IReadOnlyList<string>)[s.What, Units.Bytes(s.Baseline), Units.Bytes(s.Candidate), ComparisonText.Number(s.Value)])]);
}
