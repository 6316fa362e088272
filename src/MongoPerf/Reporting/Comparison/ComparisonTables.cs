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
            string pair = $"{candidate.Candidate.Name} against {comparison.Baseline.Name}";
            yield return Tests(candidate, pair);
            foreach (TestJudgement test in candidate.Tests.Where(t => t.Sizes.Count > 1 && t.Sizes.Any(s => s.Rate is not null)))
                yield return Sizes(test, ComparisonText.NameOf(test, candidate.Tests));
            if (candidate.Sizes.Count > 0)
                yield return Bytes(candidate);
        }
    }

    public static ReportTable Spread(RepeatSpread spread) => new(
        $"{spread.Side.Stored.Count} runs: documents/s of inserts, operations/s of queries (geometric mean over the sizes)",
        ["<test", "threads", "lowest", "median", "highest", "variation", "highest to lowest", "<in order"],
        [
            .. spread.Tests.Select(t => (IReadOnlyList<string>)
            [
                t.Test, t.Threads.ToString(), Units.Rate(t.Lowest), Units.Rate(t.Median), Units.Rate(t.Highest),
                t.Variation is { } variation ? Units.Percent(variation) : Units.None, ComparisonText.Number(t.Highest / t.Lowest),
                string.Join(" ", t.Rates.Select(r => Units.Rate(r))),
            ]),
        ]);

    private static ReportTable Tests(CandidateJudgement candidate, string pair) => new(
        $"{pair}: documents/s of inserts, operations/s of queries; p50 and p99 are ratios of latencies, more is slower",
        ["<test", "baseline", "candidate", "ratio", "95 %", "p (Holm)", "p50", "p99", "<verdict"],
        [.. candidate.Tests.Select(test => TestRow(test, ComparisonText.NameOf(test, candidate.Tests)))]);

    private static IReadOnlyList<string> TestRow(TestJudgement test, string name) => test.Rate is not { } rate
        ? [name, "", "", "", "", "", "", "", ComparisonText.Describe(test.Outcome)]
        :
        [
            name, Units.Rate(test.BaselineRate), Units.Rate(test.CandidateRate), ComparisonText.Number(rate.Value),
            ComparisonText.Range(rate.Interval), ComparisonText.Probability(test.HolmP), ComparisonText.WithRange(test.P50),
            ComparisonText.WithRange(test.P99), ComparisonText.Describe(test.Outcome),
        ];

    private static ReportTable Sizes(TestJudgement test, string name) => new(
        $"{name} at each size",
        ["documents", "baseline", "candidate", "ratio", "95 %", "p (Holm)", "<verdict"],
        [.. test.Sizes.Select(SizeRow)]);

    private static IReadOnlyList<string> SizeRow(SizeJudgement size) => size.Rate is not { } rate
        ? [Units.Count(size.Documents), "", "", "", "", "", ComparisonText.Describe(size.Outcome)]
        :
        [
            Units.Count(size.Documents), Units.Rate(size.BaselineRate), Units.Rate(size.CandidateRate), ComparisonText.Number(rate.Value),
            ComparisonText.Range(rate.Interval), ComparisonText.Probability(size.HolmP), ComparisonText.Describe(size.Outcome),
        ];

    private static ReportTable Bytes(CandidateJudgement candidate) => new(
        $"size at {Units.Count(candidate.SizesAtDocuments)} documents",
        ["<what", "baseline", "candidate", "ratio"],
        [.. candidate.Sizes.Select(s => (IReadOnlyList<string>)[s.What, Units.Bytes(s.Baseline), Units.Bytes(s.Candidate), ComparisonText.Number(s.Value)])]);
}
