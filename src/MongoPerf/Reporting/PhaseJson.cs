using System.Text.Json;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Phases;

namespace MongoPerf.Reporting;

/// <summary>One phase record in schema mongoperf/1.</summary>
internal static class PhaseJson
{
    public static void WritePhase(Utf8JsonWriter json, PhaseRecord phase, LapFigures? laps)
    {
        json.WriteNumber("number", phase.Number);
        json.WriteString("phase", phase.Phase);
        json.WriteString("description", phase.Description);
        json.WriteString("kind", phase.Kind.ToString().ToLowerInvariant());
        json.Object("growth", phase.Growth, WriteGrowth);
        json.WriteStartObject("parameters");
        foreach (ParameterValue parameter in phase.Parameters)
            json.WriteString(parameter.Name, parameter.Value);
        json.WriteEndObject();
        json.Text("collection", phase.Collection);
        json.WriteNumber("documents", phase.Documents);
        json.WriteBoolean("complete", phase.IsComplete);
        json.Number("rate", phase.Rate);
        json.Text("notVerified", phase.NotVerified);
        json.Number("operationsPerSecond", phase.Operations.Sum(operation => operation.OperationsPerSecond));
        json.Record("operations", phase.Operations);
        json.Objects("groups", phase.Groups, WriteGroup);
        json.Record("sizes", phase.Sizes);
        json.Objects("errors", phase.Operations.SelectMany(operation => operation.Errors.Select(error => (operation.Operation, error))), WriteErrorOf);
        json.Objects("assertions", phase.Assertions, WriteAssertion);
        if (laps is not null)
            LapJson.Write(json, laps);
    }

    private static void WriteGrowth(Utf8JsonWriter json, GrowthPoint growth)
    {
        json.WriteString("name", growth.Growth);
        json.WriteNumber("step", growth.Step);
        json.WriteNumber("documents", growth.Documents);
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
        json.Record("accounting", group.Accounting);
    }

    private static void WriteErrorOf(Utf8JsonWriter json, (string Operation, ErrorCount Error) failed)
    {
        json.WriteString("operation", failed.Operation);
        json.WriteNumber("code", failed.Error.Code);
        json.WriteString("name", failed.Error.Name);
        json.WriteNumber("count", failed.Error.Count);
        json.WriteString("firstMessage", failed.Error.FirstMessage);
    }

    private static void WriteAssertion(Utf8JsonWriter json, AssertionResult assertion)
    {
        json.WriteString("text", assertion.Text);
        json.Number("value", assertion.Value);
        json.WriteBoolean("holds", assertion.Holds);
    }
}
