using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>
/// A comparison as comma-separated values: a row per candidate, operation and measure over all windows ("all"), and one for the rate in
/// each window.
/// </summary>
public static class ComparisonCsv
{
    private const string Operation = "growth,phase,parameters,operation,threads";

    public static void Write(RunComparison comparison, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        comparison = comparison.InEnglish;
        CsvReport.Row(output, ($"baseline,candidate,{Operation},window,documents,judged_by,measure,baseline_value,candidate_value,"
            + "ratio,ratio_low,ratio_high,p,p_holm,verdict,enough," + NotMongoDb.Column).Split(','));
        foreach (CandidateComparison candidate in comparison.Candidates)
        {
            string? notMongoDb = NotMongoDb.Mark([.. comparison.Baseline.Stored, .. candidate.Candidate.Stored]);
            foreach (OperationComparison judged in candidate.Operations)
            {
                object?[] head = [comparison.Baseline.Id, candidate.Candidate.Id, .. Fields(judged.Operation)];
                foreach (MeasureComparison judgement in judged.Measures)
                    CsvReport.Row(output,
                    [
                        .. head, "all", null, judged.Evidence.ToString().ToLowerInvariant(), .. Fields(judged, judgement), notMongoDb,
                    ]);
                foreach ((int i, WindowComparison window) in judged.Windows.Index())
                    CsvReport.Row(output, [.. head, i + 1, window.Documents, null, .. Fields(judged, window.Rate), notMongoDb]);
            }
        }
    }

    /// <summary>A row per operation and run.</summary>
    public static void WriteSpread(RepeatSpread spread, TextWriter output)
    {
        CsvReport.Row(output, $"run,repeat,{Operation},per_second,{NotMongoDb.Column}".Split(','));
        foreach (OperationSpread operation in spread.Operations)
        {
            foreach ((int i, double rate) in operation.Rates.Index())
            {
                StoredRun run = spread.Side.Stored[i];
                CsvReport.Row(output, [run.Run.Id, i + 1, .. Fields(operation.Operation), rate, NotMongoDb.Of(run)]);
            }
        }
    }

    private static object?[] Fields(ComparedOperation o) => [o.Growth, o.Phase, o.Parameters, o.Operation, o.Threads];

    /// <summary>Rates are per second, latencies microseconds.</summary>
    private static object?[] Fields(OperationComparison operation, MeasureComparison judgement) =>
    [
        ComparisonText.NameOf(operation, judgement.Measure), judgement.Baseline, judgement.Candidate, judgement.Ratio.Value,
        judgement.Ratio.Interval?.Low, judgement.Ratio.Interval?.High,
        judgement.P, judgement.HolmP, !judgement.IsTested ? null : ComparisonText.Describe(judgement.Outcome),
        judgement.Enough?.ToString(),
    ];
}
