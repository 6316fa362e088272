using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>A comparison as JSON, schema mongoperf/compare/2. What has no value is null; fields are only ever added.</summary>
public static class ComparisonJson
{
    public const string Schema = "mongoperf/compare/2";

    /// <summary>The schema of the spread of one run's repeats.</summary>
    public const string SpreadSchema = "mongoperf/repeats/1";

    public static void Write(RunComparison comparison, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        comparison = comparison.InEnglish;
        JsonReport.WriteValue(output, new
        {
            schema = Schema,
            notMongoDb = NotMongoDb.Mark(comparison.Runs),
            baseline = SideOf(comparison.Baseline),
            comparison.NoiseThreshold,
            level = OperationComparer.Level,
            forced = comparison.WasForced,
            comparison.Differences,
            comparison.Notes,
            candidates = comparison.Candidates.Select(candidate => new
            {
                run = SideOf(candidate.Candidate),
                verdict = ComparisonText.Overall(candidate),
                candidate.IsRegression,
                singleOrSharded = SingleOrSharded.Find(comparison, candidate)?.Text,
                operations = candidate.Operations.Select(MeasuresOf),
                replies = candidate.Replies.Select(one => new
                {
                    one.Operation.Phase, one.Operation.Parameters, one.Operation.Operation, one.Operation.Threads,
                    documentsPerReply = new { one.Baseline, one.Candidate },
                    bytesPerReply = new { baseline = one.BaselineBytes, candidate = one.CandidateBytes },
                    differ = one.Differs(comparison.NoiseThreshold),
                }),
                replayed = new
                {
                    baseline = ReplayedOf(comparison.Baseline.First), candidate = ReplayedOf(candidate.Candidate.First),
                },
                findings = ShardingFindings.Of(comparison, candidate),
                bytes = candidate.Sizes.Select(size =>
                    new { size.What, documents = candidate.SizesAtDocuments, size.Baseline, size.Candidate, ratio = size.Value }),
            }),
        });
    }

    public static void WriteSpread(RepeatSpread spread, TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = SpreadSchema,
        notMongoDb = NotMongoDb.Mark(spread.Side.Stored),
        run = SideOf(spread.Side),
        warnings = spread.SlowStarts,
        operations = spread.Operations.Select(operation => new
        {
            operation.Operation.Growth, operation.Operation.Phase, operation.Operation.Parameters, operation.Operation.Operation,
            operation.Operation.Threads,
            operation.Lowest, operation.Median, operation.Highest, operation.Variation, perSecond = operation.Rates,
        }),
    });

    /// <summary>Replies beside the recorded ones; of repeats those of the first run.</summary>
    private static IEnumerable<object> ReplayedOf(StoredRun run) => ReplayTables.Results(run).Select(one => new
    {
        one.Phase.Phase, one.Phase.Parameters, one.Result.Operation, one.Replay.Compared, one.Replay.Codes, one.Replay.Counts,
        one.Replay.Modified, one.Replay.Sizes, one.Replay.Contents, one.Replay.RecordedMicroseconds,
    });

    private static object SideOf(ComparedSide side) => new
    {
        side.Id, runs = side.Stored.Select(run => run.Run.Id), side.First.DeploymentName, notMongoDb = NotMongoDb.Of(side.First),
        topology = side.First.Deployment?.Topology.Text(), side.First.Deployment?.ServerVersion,
        side.First.Deployment?.CacheBytes, engine = side.First.Settings.Engine.Text,
        otherProgramsCores = side.Other?.Cores,
    };

    private static object MeasuresOf(OperationComparison compared) => new
    {
        compared.Operation.Growth,
        compared.Operation.Phase,
        compared.Operation.Parameters,
        compared.Operation.Operation,
        compared.Operation.Threads,
        judgedBy = compared.Evidence.ToString().ToLowerInvariant(),
        compared.Basis,
        latencyIs = compared.IsPaced ? "response time" : compared.IsUnacknowledged ? "time to send" : "service time",
        perSecond = ValuesOf(compared.Rate),
        p50Microseconds = ValuesOf(compared.P50),
        p99Microseconds = ValuesOf(compared.P99),
        serviceP50Microseconds = ValuesOf(compared.Find(Measure.Find("serviceP50"))),
        serviceP99Microseconds = ValuesOf(compared.Find(Measure.Find("serviceP99"))),
        latencyMicroseconds = compared.Measures.Where(one => !one.Measure.IsRate).ToDictionary(one => one.Measure.Name, ValuesOf),
        transactions = compared.Retries is not { } retries ? null : new
        {
            baseline = TransactionsOf(retries.Baseline), candidate = TransactionsOf(retries.Candidate),
        },
        windows = compared.Windows.Select(window => new { window.Documents, perSecond = ValuesOf(window.Rate) }),
    };

    private static object? TransactionsOf(RetryShare? share) => share is null ? null : new
    {
        share.All.Committed, share.All.RolledBack, share.All.Aborted, share.All.Retried, retriedShare = share.Attempts,
        retryTimeShare = share.Time,
    };

    private static object? ValuesOf(MeasureComparison? measure) => measure is null ? null : new
    {
        verdict = !measure.IsTested ? null : ComparisonText.Describe(measure.Outcome),
        measure.Baseline,
        measure.Candidate,
        ratio = measure.Ratio.Value,
        measure.Ratio.Interval?.Low,
        measure.Ratio.Interval?.High,
        measure.P,
        pHolm = measure.HolmP,
        enough = measure.Enough?.ToString(),
    };
}
