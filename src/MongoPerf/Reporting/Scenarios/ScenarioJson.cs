using System.Text.Json;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Scenarios;

/// <summary>What schema mongoperf/1 has of a scenario, beside what every run has.</summary>
internal static class ScenarioJson
{
    public static void WriteScenario(Utf8JsonWriter json, StoredRun run)
    {
        if (run.Scenario is not { } scenario)
            return;
        json.WriteStartObject("scenario");
        json.WriteString("name", scenario.Name);
        json.WriteString("description", scenario.Description);
        json.WriteString("path", scenario.Path);
        json.Texts("overrides", scenario.Overrides);
        json.WriteStartArray("phases");
        Dictionary<int, LapFigures> laps = LapFigures.Of(run).ToDictionary(l => l.Measured.Point.Step);
        foreach (MeasuredPoint point in MeasuredPoint.Of(run))
            WritePoint(json, point, laps.GetValueOrDefault(point.Point.Step));
        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>The results themselves are those of the step of that number.</summary>
    private static void WritePoint(Utf8JsonWriter json, MeasuredPoint measured, LapFigures? laps)
    {
        ScenarioPoint point = measured.Point;
        json.WriteStartObject();
        json.WriteNumber("step", point.Step);
        json.WriteString("phase", point.Phase);
        json.WriteBoolean("isLoad", point.IsLoad);
        json.WriteStartObject("parameters");
        foreach (ParameterValue parameter in point.Parameters)
            json.WriteString(parameter.Name, parameter.Value);
        json.WriteEndObject();
        json.Number("operationsPerSecond", measured.OperationsPerSecond);
        WriteGroups(json, point.Groups);
        if (laps is not null)
            LapJson.Write(json, laps);
        WriteErrors(json, measured.Step.Tests);
        WriteAssertions(json, point.Assertions);
        json.WriteEndObject();
    }

    private static void WriteGroups(Utf8JsonWriter json, IEnumerable<GroupShare> groups)
    {
        json.WriteStartArray("groups");
        foreach (GroupShare group in groups)
        {
            json.WriteStartObject();
            json.WriteString("name", group.Name);
            json.WriteNumber("threads", group.Threads);
            json.Number("seconds", group.Seconds);
            json.WriteStartObject("operationsPerThread");
            json.WriteNumber("min", group.Least);
            json.Number("mean", group.Mean);
            json.WriteNumber("max", group.Most);
            json.Number("standardDeviation", group.Deviation);
            json.WriteEndObject();
            StepJson.WriteAccounting(json, group.Accounting);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteErrors(Utf8JsonWriter json, IEnumerable<TestResult> tests)
    {
        json.WriteStartArray("errors");
        foreach ((string test, ErrorCount error) in tests.SelectMany(t => t.Errors.Select(e => (t.Test, e))))
        {
            json.WriteStartObject();
            json.WriteString("operation", test);
            json.WriteNumber("code", error.Code);
            json.WriteString("name", error.Name);
            json.WriteNumber("count", error.Count);
            json.WriteString("firstMessage", error.FirstMessage);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteAssertions(Utf8JsonWriter json, IEnumerable<AssertionResult> assertions)
    {
        json.WriteStartArray("assertions");
        foreach (AssertionResult assertion in assertions)
        {
            json.WriteStartObject();
            json.WriteString("text", assertion.Text);
            json.Number("value", assertion.Value);
            json.WriteBoolean("holds", assertion.Holds);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }
}
