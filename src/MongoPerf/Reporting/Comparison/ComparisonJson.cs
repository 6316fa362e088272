using System.Text.Json;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Comparison;

/// <summary>A comparison as JSON, schema mongoperf/compare/1. What has no value is null, but that a size with too few samples has nothing beside
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
        json.Number("level", TestJudge.Level);
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
        json.Objects("tests", spread.Tests, WriteSpread);
        json.WriteEndObject();
    });

    private static void WriteDifference(Utf8JsonWriter json, SetupDifference difference)
    {
        json.WriteString("name", difference.Name);
        json.Texts("values", difference.Values);
        json.WriteBoolean("isUnlike", difference.IsUnlike);
    }

    private static void WriteSpread(Utf8JsonWriter json, TestSpread test)
    {
        json.WriteString("test", test.Test);
        json.WriteNumber("threads", test.Threads);
        json.Number("lowest", test.Lowest);
        json.Number("median", test.Median);
        json.Number("highest", test.Highest);
        json.Number("variation", test.Variation);
        json.WriteStartArray("perSecond");
        foreach (double rate in test.Rates)
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
        json.Text("topology", deployment?.Topology);
        json.Text("serverVersion", deployment?.ServerVersion);
        json.Integer("cacheBytes", deployment?.CacheBytes);
    }

    private static void WriteCandidate(Utf8JsonWriter json, CandidateJudgement candidate)
    {
        json.Object("run", candidate.Candidate, WriteSide);
        json.WriteString("verdict", ComparisonText.Overall(candidate));
        json.WriteBoolean("isRegression", candidate.IsRegression);
        json.Objects("tests", candidate.Tests, WriteTest);
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

    private static void WriteTest(Utf8JsonWriter json, TestJudgement test)
    {
        bool isJudged = test.Rate is not null;
        json.WriteString("test", test.Test);
        json.WriteNumber("threads", test.Threads);
        json.WriteString("verdict", ComparisonText.Describe(test.Outcome));
        json.WriteString("judgedBy", test.Evidence.ToString().ToLowerInvariant());
        json.WriteString("basis", test.Basis);
        json.Number("baselinePerSecond", isJudged ? test.BaselineRate : null);
        json.Number("candidatePerSecond", isJudged ? test.CandidateRate : null);
        json.Object("rate", test.Rate, WriteRatio);
        json.Number("p", isJudged ? test.P : null);
        json.Number("pHolm", isJudged ? test.HolmP : null);
        json.Object("latencyP50", test.P50, WriteRatio);
        json.Object("latencyP99", test.P99, WriteRatio);
        json.Objects("sizes", test.Sizes, WriteSize);
    }

    private static void WriteSize(Utf8JsonWriter json, SizeJudgement size)
    {
        json.WriteNumber("documents", size.Documents);
        json.WriteString("verdict", ComparisonText.Describe(size.Outcome));
        if (size.Rate is not null)
        {
            json.Number("baselinePerSecond", size.BaselineRate);
            json.Number("candidatePerSecond", size.CandidateRate);
            json.Object("rate", size.Rate, WriteRatio);
            json.Number("p", size.P);
            json.Number("pHolm", size.HolmP);
        }
    }

    private static void WriteRatio(Utf8JsonWriter json, Ratio ratio)
    {
        json.Number("ratio", ratio.Value);
        json.Number("low", ratio.Interval?.Low);
        json.Number("high", ratio.Interval?.High);
    }
}
