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
        Dictionary<int, LapFigures> laps = LapFigures.Of(run).ToDictionary(l => l.Measured.Point.Step);
        json.Objects("phases", MeasuredPoint.Of(run), (_, point) => WritePoint(json, point, laps.GetValueOrDefault(point.Point.Step)));
        json.WriteEndObject();
    }

    /// <summary>The results themselves are those of the step of that number.</summary>
    private static void WritePoint(Utf8JsonWriter json, MeasuredPoint measured, LapFigures? laps)
    {
        ScenarioPoint point = measured.Point;
        json.WriteNumber("step", point.Step);
        json.WriteString("phase", point.Phase);
        json.WriteBoolean("isLoad", point.IsLoad);
        json.WriteStartObject("parameters");
        foreach (ParameterValue parameter in point.Parameters)
            json.WriteString(parameter.Name, parameter.Value);
        json.WriteEndObject();
        json.Number("operationsPerSecond", measured.OperationsPerSecond);
        json.Objects("groups", point.Groups, WriteGroup);
        if (laps is not null)
            LapJson.Write(json, laps);
        json.Objects("errors", measured.Step.Tests.SelectMany(test => test.Errors.Select(error => (test.Test, error))), WriteError);
        json.Objects("assertions", point.Assertions, WriteAssertion);
    }

    private static void WriteGroup(Utf8JsonWriter json, GroupShare group)
    {
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
    }

    private static void WriteError(Utf8JsonWriter json, (string Test, ErrorCount Error) failed)
    {
        json.WriteString("operation", failed.Test);
        StepJson.WriteError(json, failed.Error);
    }

    private static void WriteAssertion(Utf8JsonWriter json, AssertionResult assertion)
    {
        json.WriteString("text", assertion.Text);
        json.Number("value", assertion.Value);
        json.WriteBoolean("holds", assertion.Holds);
    }
}
