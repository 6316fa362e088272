using MongoPerf.Reporting.Figures;

namespace MongoPerf.Reporting.Comparison;

/// <summary>The tables that console, Markdown and page have in common.</summary>
internal static class ComparisonTables
{
    public static IEnumerable<ReportTable> Of(RunComparison comparison)
    {
        foreach (ReportTable table in FigureTables.Of(comparison.FigureRuns))
            yield return table;
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            yield return Operations(candidate, $"{candidate.Candidate.Name} against {comparison.Baseline.Name}");
            foreach (OperationJudgement judged in candidate.Operations.Where(o => o.Windows.Count > 1 && o.Windows.Any(w => w.Rate is not null)))
                yield return Windows(judged, candidate.TitleOf(judged));
            if (candidate.Sizes.Count > 0)
                yield return Bytes(candidate);
        }
    }

    public static ReportTable Spread(RepeatSpread spread) => new(
        $"{spread.Side.Stored.Count} runs: documents/s of inserts, operations/s of others (geometric mean over sizes)",
        ["<operation", "lowest", "median", "highest", "variation", "highest to lowest", "<in order"],
        [
            .. spread.Operations.Select(o => (IReadOnlyList<string>)
            [
                spread.TitleOf(o), Units.Rate(o.Lowest), Units.Rate(o.Median), Units.Rate(o.Highest),
                o.Variation is { } variation ? Units.Percent(variation) : Units.None, ComparisonText.Number(o.Highest / o.Lowest),
                string.Join(" ", o.Rates.Select(r => Units.Rate(r))),
            ]),
        ]);

    private static ReportTable Operations(CandidateJudgement candidate, string pair) => new(
        $"{pair}: documents/s of inserts, operations/s of others; p50 and p99 are latency ratios, where more is slower",
        ["<operation", "baseline", "candidate", "ratio", "95 %", "p (Holm)", "p50", "p99", "<verdict"],
        [.. candidate.Operations.Select(judged => OperationRow(judged, candidate.TitleOf(judged)))]);

    private static IReadOnlyList<string> OperationRow(OperationJudgement judged, string title) => judged.Rate is not { } rate
        ? [title, "", "", "", "", "", "", "", ComparisonText.Describe(judged.Outcome)]
        :
        [
            title, Units.Rate(judged.BaselineRate), Units.Rate(judged.CandidateRate), ComparisonText.Number(rate.Value), ComparisonText.Range(rate.Interval),
            ComparisonText.Probability(judged.HolmP), ComparisonText.WithRange(judged.P50), ComparisonText.WithRange(judged.P99), ComparisonText.Describe(judged.Outcome),
        ];

    private static ReportTable Windows(OperationJudgement judged, string title)
    {
        bool isGrowth = judged.Operation.Growth is not null;
        return new ReportTable(
            $"{title} at each {(isGrowth ? "size" : "repeat")}",
            [isGrowth ? "documents" : "repeat", "baseline", "candidate", "ratio", "95 %", "p (Holm)", "<verdict"],
            [.. judged.Windows.Select(window => WindowRow(window, isGrowth ? Units.Count(window.At) : Units.Exact(window.At)))]);
    }

    private static IReadOnlyList<string> WindowRow(WindowJudgement window, string at) => window.Rate is not { } rate
        ? [at, "", "", "", "", "", ComparisonText.Describe(window.Outcome)]
        :
        [
            at, Units.Rate(window.BaselineRate), Units.Rate(window.CandidateRate), ComparisonText.Number(rate.Value),
            ComparisonText.Range(rate.Interval), ComparisonText.Probability(window.HolmP), ComparisonText.Describe(window.Outcome),
        ];

    private static ReportTable Bytes(CandidateJudgement candidate) => new(
        $"Sizes at {Units.Count(candidate.SizesAtDocuments)} documents",
        ["<what", "baseline", "candidate", "ratio"],
        [.. candidate.Sizes.Select(s => (IReadOnlyList<string>)[s.What, Units.Bytes(s.Baseline), Units.Bytes(s.Candidate), ComparisonText.Number(s.Value)])]);
}
