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
        WriteSide(json, "baseline", comparison.Baseline);
        json.Number("noiseThreshold", comparison.NoiseThreshold);
        json.Number("level", TestJudge.Level);
        json.WriteBoolean("forced", comparison.WasForced);
        json.WriteStartArray("differences");
        foreach (SetupDifference difference in comparison.Differences)
        {
            json.WriteStartObject();
            json.WriteString("name", difference.Name);
            json.Texts("values", difference.Values);
            json.WriteBoolean("isUnlike", difference.IsUnlike);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.Texts("notes", comparison.Notes);
        json.WriteStartArray("candidates");
        foreach (CandidateJudgement candidate in comparison.Candidates)
            WriteCandidate(json, candidate);
        json.WriteEndArray();
        json.WriteEndObject();
    });

    public static void WriteSpread(RepeatSpread spread, TextWriter output) => JsonReport.Write(output, json =>
    {
        json.WriteStartObject();
        json.WriteString("schema", SpreadSchema);
        WriteSide(json, "run", spread.Side);
        json.Texts("warnings", spread.SlowStarts);
        json.WriteStartArray("tests");
        foreach (TestSpread test in spread.Tests)
        {
            json.WriteStartObject();
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
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    });

    private static void WriteSide(Utf8JsonWriter json, string name, ComparedSide side)
    {
        json.WriteStartObject(name);
        json.WriteString("id", side.Id);
        json.Texts("runs", side.Stored.Select(run => run.Run.Id));
        if (side.First.DeploymentName is { } called)
            json.WriteString("deploymentName", called);
        DeploymentInfo? deployment = side.First.Deployment;
        json.Text("topology", deployment?.Topology);
        json.Text("serverVersion", deployment?.ServerVersion);
        json.Integer("cacheBytes", deployment?.CacheBytes);
        json.WriteEndObject();
    }

    private static void WriteCandidate(Utf8JsonWriter json, CandidateJudgement candidate)
    {
        json.WriteStartObject();
        WriteSide(json, "run", candidate.Candidate);
        json.WriteString("verdict", ComparisonText.Overall(candidate));
        json.WriteBoolean("isRegression", candidate.IsRegression);
        json.WriteStartArray("tests");
        foreach (TestJudgement test in candidate.Tests)
            WriteTest(json, test);
        json.WriteEndArray();
        json.WriteStartArray("bytes");
        foreach (SizeRatio size in candidate.Sizes)
        {
            json.WriteStartObject();
            json.WriteString("what", size.What);
            json.WriteNumber("documents", candidate.SizesAtDocuments);
            json.WriteNumber("baseline", size.Baseline);
            json.WriteNumber("candidate", size.Candidate);
            json.Number("ratio", size.Value);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteTest(Utf8JsonWriter json, TestJudgement test)
    {
        bool isJudged = test.Rate is not null;
        json.WriteStartObject();
        json.WriteString("test", test.Test);
        json.WriteNumber("threads", test.Threads);
        json.WriteString("verdict", ComparisonText.Describe(test.Outcome));
        json.WriteString("judgedBy", test.Evidence.ToString().ToLowerInvariant());
        json.WriteString("basis", test.Basis);
        json.Number("baselinePerSecond", isJudged ? test.BaselineRate : null);
        json.Number("candidatePerSecond", isJudged ? test.CandidateRate : null);
        WriteRatio(json, "rate", test.Rate);
        json.Number("p", isJudged ? test.P : null);
        json.Number("pHolm", isJudged ? test.HolmP : null);
        WriteRatio(json, "latencyP50", test.P50);
        WriteRatio(json, "latencyP99", test.P99);
        json.WriteStartArray("sizes");
        foreach (SizeJudgement size in test.Sizes)
            WriteSize(json, size);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteSize(Utf8JsonWriter json, SizeJudgement size)
    {
        json.WriteStartObject();
        json.WriteNumber("documents", size.Documents);
        json.WriteString("verdict", ComparisonText.Describe(size.Outcome));
        if (size.Rate is not null)
        {
            json.Number("baselinePerSecond", size.BaselineRate);
            json.Number("candidatePerSecond", size.CandidateRate);
            WriteRatio(json, "rate", size.Rate);
            json.Number("p", size.P);
            json.Number("pHolm", size.HolmP);
        }

        json.WriteEndObject();
    }

    private static void WriteRatio(Utf8JsonWriter json, string name, Ratio? ratio)
    {
        if (ratio is null)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartObject(name);
        json.Number("ratio", ratio.Value);
        json.Number("low", ratio.Interval?.Low);
        json.Number("high", ratio.Interval?.High);
        json.WriteEndObject();
    }
}
