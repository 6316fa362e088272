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
        json.Objects("operations", phase.Operations, WriteOperation);
        json.Objects("groups", phase.Groups, WriteGroup);
        json.Objects("sizes", phase.Sizes, WriteSizes);
        json.Objects("errors", phase.Operations.SelectMany(operation => operation.Errors.Select(error => (operation.Operation, error))), WriteErrorOf);
        json.Objects("assertions", phase.Assertions, WriteAssertion);
        if (laps is not null)
            LapJson.Write(json, laps);
    }

    public static void WriteAccounting(Utf8JsonWriter json, Accounting accounting)
    {
        json.WriteStartObject("accounting");
        json.WriteNumber("scheduled", accounting.Scheduled);
        json.WriteNumber("succeeded", accounting.Succeeded);
        json.WriteNumber("failed", accounting.Failed);
        json.WriteNumber("skipped", accounting.Skipped);
        json.WriteEndObject();
    }

    /// <summary>The fields of an error, wherever errors are listed.</summary>
    public static void WriteError(Utf8JsonWriter json, ErrorCount error)
    {
        json.WriteNumber("code", error.Code);
        json.WriteString("name", error.Name);
        json.WriteNumber("count", error.Count);
        json.WriteString("firstMessage", error.FirstMessage);
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
        WriteAccounting(json, group.Accounting);
    }

    private static void WriteErrorOf(Utf8JsonWriter json, (string Operation, ErrorCount Error) failed)
    {
        json.WriteString("operation", failed.Operation);
        WriteError(json, failed.Error);
    }

    private static void WriteAssertion(Utf8JsonWriter json, AssertionResult assertion)
    {
        json.WriteString("text", assertion.Text);
        json.Number("value", assertion.Value);
        json.WriteBoolean("holds", assertion.Holds);
    }

    private static void WriteOperation(Utf8JsonWriter json, OperationResult result)
    {
        json.WriteString("operation", result.Operation);
        json.WriteBoolean("isInsert", result.IsInsert);
        json.WriteNumber("threads", result.Threads);
        json.WriteNumber("batch", result.Batch);
        json.WriteNumber("operations", result.Operations);
        json.WriteNumber("documents", result.Documents);
        json.WriteNumber("failed", result.Failed);
        json.WriteNumber("shortReplies", result.ShortReplies);
        json.Number("warmupSeconds", result.WarmupSeconds);
        json.Number("seconds", result.Seconds);
        json.Object("unacknowledged", result.Unacknowledged, WriteUnacknowledged);
        json.Number("operationsPerSecond", result.OperationsPerSecond);
        json.Number("documentsPerSecond", result.DocumentsPerSecond);
        json.Number("megabytesPerSecond", result.MegabytesPerSecond);
        json.Number("clientCpuMicrosecondsPerOperation", result.ClientCpuMicrosecondsPerOperation);
        json.Number("clientCpuCores", result.ClientCpuCores);
        json.Object("latencyMicroseconds", result.LatencyMicroseconds, WriteLatency);
        json.Object("responseMicroseconds", result.ResponseMicroseconds, WriteLatency);
        json.Object("plan", result.Plan, WritePlan);
        json.WriteNumber("repaired", result.Repaired);
        json.WriteNumber("verified", result.Verified);
        json.WriteNumber("wrong", result.Wrong);
        WriteAccounting(json, result.Accounting);
    }

    private static void WriteUnacknowledged(Utf8JsonWriter json, UnacknowledgedResult result)
    {
        json.WriteNumber("sent", result.Sent);
        json.WriteNumber("arrived", result.Arrived);
        json.WriteNumber("lost", result.Lost);
        json.Number("drainSeconds", result.DrainSeconds);
    }

    private static void WriteLatency(Utf8JsonWriter json, LatencySummary latency)
    {
        json.Number("min", latency.Min);
        json.Number("mean", latency.Mean);
        json.Number("p50", latency.P50);
        json.Number("p90", latency.P90);
        json.Number("p95", latency.P95);
        json.Number("p99", latency.P99);
        json.Number("p999", latency.P999);
        json.Number("max", latency.Max);
    }

    private static void WritePlan(Utf8JsonWriter json, PlanSummary plan)
    {
        json.Text("index", plan.Index);
        json.WriteNumber("keysExamined", plan.KeysExamined);
        json.WriteNumber("documentsExamined", plan.DocumentsExamined);
        json.WriteNumber("returned", plan.Returned);
        json.WriteString("stages", plan.Stages);
        json.Number("keysExaminedPerOperation", plan.KeysExaminedPerOperation);
        json.Number("documentsExaminedPerOperation", plan.DocumentsExaminedPerOperation);
    }

    private static void WriteSizes(Utf8JsonWriter json, SizeResult sizes)
    {
        json.Text("collection", sizes.Collection);
        json.WriteNumber("documents", sizes.Documents);
        json.WriteNumber("dataBytes", sizes.DataBytes);
        json.WriteNumber("storageBytes", sizes.StorageBytes);
        json.Integer("freeStorageBytes", sizes.FreeStorageBytes);
        json.WriteNumber("indexBytes", sizes.IndexBytes);
        WriteIndexes(json, sizes.Indexes);
        json.Integer("diskBytes", sizes.DiskBytes);
        json.Objects("shards", sizes.Shards, WriteShard);
    }

    private static void WriteShard(Utf8JsonWriter json, ShardSize shard)
    {
        json.WriteString("shard", shard.Shard);
        json.WriteNumber("documents", shard.Documents);
        json.WriteNumber("dataBytes", shard.DataBytes);
        json.WriteNumber("storageBytes", shard.StorageBytes);
        json.WriteNumber("indexBytes", shard.IndexBytes);
        json.WriteNumber("chunks", shard.Chunks);
        json.Integer("orphans", shard.Orphans);
        WriteIndexes(json, shard.Indexes);
    }

    private static void WriteIndexes(Utf8JsonWriter json, IReadOnlyDictionary<string, long> indexes)
    {
        json.WriteStartObject("indexes");
        foreach ((string name, long bytes) in indexes)
            json.WriteNumber(name, bytes);
        json.WriteEndObject();
    }
}
