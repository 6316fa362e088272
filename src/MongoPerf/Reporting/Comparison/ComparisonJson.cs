using System.Text.Json;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Comparison;

/// <summary>A comparison as JSON, schema mongoperf/compare/1. What has no value is null, except that a window with too few samples has nothing beside
/// that verdict; fields are only ever added.</summary>
internal static class ComparisonJson
{
    public const string Schema = "mongoperf/compare/1";

    /// <summary>Of the spread of one run's repeats.</summary>
    public const string SpreadSchema = "mongoperf/repeats/1";

    public static void Write(RunComparison comparison, TextWriter output) => JsonReport.Write(output, json =>
    {
        json.WriteStartObject();
        json.WriteString("schema", Schema);
        json.Object("baseline", comparison.Baseline, WriteSide);
        json.Number("noiseThreshold", comparison.NoiseThreshold);
        json.Number("level", OperationJudge.Level);
        json.WriteBoolean("forced", comparison.WasForced);
        json.Objects("differences", comparison.Differences, WriteDifference);
        json.Texts("notes", comparison.Notes);
        json.Objects("candidates", comparison.Candidates, WriteCandidate);
        json.WriteEndObject();
    });

    public static void WriteSpread(RepeatSpread spread, TextWriter output) => JsonReport.Write(output, json =>
    {
        json.WriteStartObject();
        json.WriteString("schema", SpreadSchema);
        json.Object("run", spread.Side, WriteSide);
        json.Texts("warnings", spread.SlowStarts);
        json.Objects("operations", spread.Operations, WriteSpread);
        json.WriteEndObject();
    });

    private static void WriteDifference(Utf8JsonWriter json, SetupDifference difference)
    {
        json.WriteString("name", difference.Name);
        json.Texts("values", difference.Values);
        json.WriteBoolean("isUnlike", difference.IsUnlike);
    }

    private static void WriteSpread(Utf8JsonWriter json, OperationSpread spread)
    {
        WriteOperation(json, spread.Operation);
        json.Number("lowest", spread.Lowest);
        json.Number("median", spread.Median);
        json.Number("highest", spread.Highest);
        json.Number("variation", spread.Variation);
        json.WriteStartArray("perSecond");
        foreach (double rate in spread.Rates)
            json.WriteNumberValue(Math.Round(rate, 6));
        json.WriteEndArray();
    }

    private static void WriteSide(Utf8JsonWriter json, ComparedSide side)
    {
        json.WriteString("id", side.Id);
        json.Texts("runs", side.Stored.Select(run => run.Run.Id));
        if (side.First.DeploymentName is { } called)
            json.WriteString("deploymentName", called);
        DeploymentInfo? deployment = side.First.Deployment;
        json.Text("topology", deployment?.Topology.Text());
        json.Text("serverVersion", deployment?.ServerVersion);
        json.Integer("cacheBytes", deployment?.CacheBytes);
    }

    private static void WriteCandidate(Utf8JsonWriter json, CandidateJudgement candidate)
    {
        json.Object("run", candidate.Candidate, WriteSide);
        json.WriteString("verdict", ComparisonText.Overall(candidate));
        json.WriteBoolean("isRegression", candidate.IsRegression);
        json.Objects("operations", candidate.Operations, WriteJudgement);
        json.Objects("bytes", candidate.Sizes, (_, size) => WriteBytes(json, candidate, size));
    }

    private static void WriteBytes(Utf8JsonWriter json, CandidateJudgement candidate, SizeRatio size)
    {
        json.WriteString("what", size.What);
        json.WriteNumber("documents", candidate.SizesAtDocuments);
        json.WriteNumber("baseline", size.Baseline);
        json.WriteNumber("candidate", size.Candidate);
        json.Number("ratio", size.Value);
    }

    private static void WriteJudgement(Utf8JsonWriter json, OperationJudgement judged)
    {
        bool isJudged = judged.Rate is not null;
        WriteOperation(json, judged.Operation);
        json.WriteString("verdict", ComparisonText.Describe(judged.Outcome));
        json.WriteString("judgedBy", judged.Evidence.ToString().ToLowerInvariant());
        json.WriteString("basis", judged.Basis);
        json.Number("baselinePerSecond", isJudged ? judged.BaselineRate : null);
        json.Number("candidatePerSecond", isJudged ? judged.CandidateRate : null);
        json.Object("rate", judged.Rate, WriteRatio);
        json.Number("p", isJudged ? judged.P : null);
        json.Number("pHolm", isJudged ? judged.HolmP : null);
        json.Object("latencyP50", judged.P50, WriteRatio);
        json.Object("latencyP99", judged.P99, WriteRatio);
        json.Objects("windows", judged.Windows, WriteWindow);
    }

    private static void WriteOperation(Utf8JsonWriter json, ComparedOperation operation)
    {
        json.Text("growth", operation.Growth);
        json.WriteString("phase", operation.Phase);
        json.WriteString("parameters", operation.Parameters);
        json.WriteString("operation", operation.Operation);
        json.WriteNumber("threads", operation.Threads);
    }

    private static void WriteWindow(Utf8JsonWriter json, WindowJudgement window)
    {
        json.WriteNumber("documents", window.Documents);
        json.WriteString("verdict", ComparisonText.Describe(window.Outcome));
        if (window.Rate is not null)
        {
            json.Number("baselinePerSecond", window.BaselineRate);
            json.Number("candidatePerSecond", window.CandidateRate);
            json.Object("rate", window.Rate, WriteRatio);
            json.Number("p", window.P);
            json.Number("pHolm", window.HolmP);
        }
    }

    private static void WriteRatio(Utf8JsonWriter json, Ratio ratio)
    {
        json.Number("ratio", ratio.Value);
        json.Number("low", ratio.Interval?.Low);
        json.Number("high", ratio.Interval?.High);
    }
}
