using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Comparison;

/// <summary>A comparison as JSON, schema mongoperf/compare/1. What has no value is null; fields are only ever added.</summary>
internal static class ComparisonJson
{
    public const string Schema = "mongoperf/compare/1";

    /// <summary>Of the spread of one run's repeats.</summary>
    public const string SpreadSchema = "mongoperf/repeats/1";

    public static void Write(RunComparison comparison, TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = Schema,
        baseline = SideOf(comparison.Baseline),
        comparison.NoiseThreshold,
        level = OperationJudge.Level,
        forced = comparison.WasForced,
        comparison.Differences,
        comparison.Notes,
        candidates = comparison.Candidates.Select(candidate => new
        {
            run = SideOf(candidate.Candidate),
            verdict = ComparisonText.Overall(candidate),
            candidate.IsRegression,
            operations = candidate.Operations.Select(JudgementOf),
            bytes = candidate.Sizes.Select(size => new { size.What, documents = candidate.SizesAtDocuments, size.Baseline, size.Candidate, ratio = size.Value }),
        }),
    });

    public static void WriteSpread(RepeatSpread spread, TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = SpreadSchema,
        run = SideOf(spread.Side),
        warnings = spread.SlowStarts,
        operations = spread.Operations.Select(operation => new
        {
            operation.Operation.Growth, operation.Operation.Phase, operation.Operation.Parameters, operation.Operation.Operation, operation.Operation.Threads,
            operation.Lowest, operation.Median, operation.Highest, operation.Variation, perSecond = operation.Rates,
        }),
    });

    private static object SideOf(ComparedSide side) => new
    {
        side.Id, runs = side.Stored.Select(run => run.Run.Id), side.First.DeploymentName, topology = side.First.Deployment?.Topology.Text(),
        side.First.Deployment?.ServerVersion, side.First.Deployment?.CacheBytes, engine = side.First.Settings.Engine.Text,
    };

    private static object JudgementOf(OperationJudgement judged) => new
    {
        judged.Operation.Growth,
        judged.Operation.Phase,
        judged.Operation.Parameters,
        judged.Operation.Operation,
        judged.Operation.Threads,
        verdict = ComparisonText.Describe(judged.Outcome),
        judgedBy = judged.Evidence.ToString().ToLowerInvariant(),
        judged.Basis,
        baselinePerSecond = IfJudged(judged.Rate, judged.BaselineRate),
        candidatePerSecond = IfJudged(judged.Rate, judged.CandidateRate),
        rate = RatioOf(judged.Rate),
        p = IfJudged(judged.Rate, judged.P),
        pHolm = IfJudged(judged.Rate, judged.HolmP),
        latencyP50 = RatioOf(judged.P50),
        latencyP99 = RatioOf(judged.P99),
        windows = judged.Windows.Select(window => new
        {
            window.Documents, verdict = ComparisonText.Describe(window.Outcome),
            baselinePerSecond = IfJudged(window.Rate, window.BaselineRate), candidatePerSecond = IfJudged(window.Rate, window.CandidateRate),
            rate = RatioOf(window.Rate), p = IfJudged(window.Rate, window.P), pHolm = IfJudged(window.Rate, window.HolmP),
        }),
    };

    private static double? IfJudged(Ratio? rate, double value) => rate is null ? null : value;

    private static object? RatioOf(Ratio? ratio) => ratio is null ? null : new { ratio = ratio.Value, ratio.Interval?.Low, ratio.Interval?.High };
}
