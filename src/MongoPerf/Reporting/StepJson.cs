using System.Text.Json;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>One step in schema mongoperf/1.</summary>
internal static class StepJson
{
    public static void WriteStep(Utf8JsonWriter json, StepResult step)
    {
        json.WriteNumber("step", step.Step);
        json.WriteNumber("documents", step.Documents);
        json.WriteBoolean("complete", step.Complete);
        json.Objects("tests", step.Tests, WriteTest);
        json.Object("sizes", step.Sizes, WriteSizes);
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

    private static void WriteTest(Utf8JsonWriter json, TestResult test)
    {
        json.WriteString("test", test.Test);
        json.WriteNumber("threads", test.Threads);
        json.WriteNumber("batch", test.Batch);
        json.WriteNumber("operations", test.Operations);
        json.WriteNumber("documents", test.Documents);
        json.WriteNumber("failed", test.Failed);
        json.WriteNumber("shortReplies", test.ShortReplies);
        json.Number("warmupSeconds", test.WarmupSeconds);
        json.Number("seconds", test.Seconds);
        json.Object("unacknowledged", test.Unacknowledged, WriteUnacknowledged);
        json.Number("operationsPerSecond", test.OperationsPerSecond);
        json.Number("documentsPerSecond", test.DocumentsPerSecond);
        json.Number("megabytesPerSecond", test.MegabytesPerSecond);
        json.Number("clientCpuMicrosecondsPerOperation", test.ClientCpuMicrosecondsPerOperation);
        json.Number("clientCpuCores", test.ClientCpuCores);
        json.Object("latencyMicroseconds", test.LatencyMicroseconds, WriteLatency);
        json.Object("responseMicroseconds", test.ResponseMicroseconds, WriteLatency);
        json.Object("plan", test.Plan, WritePlan);
        json.WriteNumber("repaired", test.Repaired);
        json.WriteNumber("verified", test.Verified);
        json.WriteNumber("wrong", test.Wrong);
        WriteAccounting(json, test.Accounting);
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
