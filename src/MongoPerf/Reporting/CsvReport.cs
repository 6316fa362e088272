using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Scenarios;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting;

/// <summary>A run as comma-separated values (RFC 4180): CRLF, quotes where needed, units in the names, nothing where there is no value.</summary>
internal static class CsvReport
{
    private const string LatencyNames = "min_us,mean_us,p50_us,p90_us,p95_us,p99_us,p999_us,max_us";

    /// <summary>A row per step, test and number of threads.</summary>
    public static void WriteTests(StoredRun run, TextWriter output)
    {
        Row(output, (
            "step,documents,complete,test,threads,batch,operations,test_documents,failed,warmup_seconds,seconds,"
            + "operations_per_second,documents_per_second,megabytes_per_second,client_cpu_us_per_operation,client_cpu_cores,"
            + LatencyNames + ",response_p50_us,response_p99_us,response_max_us,sent,arrived,lost,drain_seconds,"
            + "plan_index,plan_stages,keys_examined,documents_examined,returned,keys_examined_per_operation,documents_examined_per_operation,"
            + "repaired,verified,wrong,scheduled,succeeded,failed_with_warmup,skipped").Split(','));
        foreach (StepResult step in run.Steps)
        {
            foreach (TestResult t in step.Tests)
            {
                Row(output,
                [
                    step.Step, step.Documents, step.Complete, t.Test, t.Threads, t.Batch, t.Operations, t.Documents, t.Failed,
                    t.WarmupSeconds, t.Seconds, t.OperationsPerSecond, t.DocumentsPerSecond, t.MegabytesPerSecond,
                    t.ClientCpuMicrosecondsPerOperation, t.ClientCpuCores, .. Latency(t.LatencyMicroseconds),
                    t.ResponseMicroseconds?.P50, t.ResponseMicroseconds?.P99, t.ResponseMicroseconds?.Max,
                    t.Unacknowledged?.Sent, t.Unacknowledged?.Arrived, t.Unacknowledged?.Lost, t.Unacknowledged?.DrainSeconds,
                    t.Plan?.Index, t.Plan?.Stages, t.Plan?.KeysExamined, t.Plan?.DocumentsExamined, t.Plan?.Returned,
                    t.Plan?.KeysExaminedPerOperation, t.Plan?.DocumentsExaminedPerOperation, t.Repaired, t.Verified, t.Wrong,
                    t.Accounting.Scheduled, t.Accounting.Succeeded, t.Accounting.Failed, t.Accounting.Skipped,
                ]);
            }
        }
    }

    /// <summary>Of a scenario: a row per phase, value of its parameters and operation.</summary>
    public static void WritePhases(StoredRun run, TextWriter output)
    {
        Row(output, (
            "step,phase,parameters,operation,threads,operations,documents,failed,warmup_seconds,seconds,operations_per_second,documents_per_second,"
            + "megabytes_per_second," + LatencyNames + ",response_p50_us,response_p99_us,response_max_us,verified,wrong,succeeded,failed_with_warmup").Split(','));
        foreach (MeasuredPoint p in MeasuredPoint.Of(run))
        {
            foreach (TestResult t in p.Step.Tests)
            {
                Row(output,
                [
                    p.Point.Step, p.Point.Phase, string.Join("; ", p.Point.Parameters.Select(v => $"{v.Name}={v.Value}")), t.Test, t.Threads, t.Operations, t.Documents,
                    t.Failed, t.WarmupSeconds, t.Seconds, t.OperationsPerSecond, t.DocumentsPerSecond, t.MegabytesPerSecond, .. Latency(t.LatencyMicroseconds),
                    t.ResponseMicroseconds?.P50, t.ResponseMicroseconds?.P99, t.ResponseMicroseconds?.Max, t.Verified, t.Wrong, t.Accounting.Succeeded, t.Accounting.Failed,
                ]);
            }
        }
    }

    /// <summary>A row per step for the whole deployment ("all"), and one per shard where there are several.</summary>
    public static void WriteSizes(StoredRun run, TextWriter output)
    {
        string[] indexes = [.. run.Steps.SelectMany(s => s.Sizes?.Indexes.Keys ?? []).Distinct()];
        Row(output,
        [
            "step", "shard", "documents", "data_bytes", "storage_bytes", "free_storage_bytes", "index_bytes", "disk_bytes", "chunks", "orphans",
            .. indexes.Select(name => $"index_{name}_bytes"),
        ]);
        foreach (StepResult step in run.Steps)
        {
            if (step.Sizes is not { } s)
                continue;
            Row(output,
            [
                step.Step, "all", s.Documents, s.DataBytes, s.StorageBytes, s.FreeStorageBytes, s.IndexBytes, s.DiskBytes,
                s.Shards.Count > 1 ? s.Shards.Sum(shard => shard.Chunks) : null,
                CollectionStatistics.OrphansOf(s.Shards),
                .. indexes.Select(name => (object?)SizeOf(s.Indexes, name)),
            ]);
            foreach (ShardSize shard in s.Shards.Where(_ => s.Shards.Count > 1))
            {
                Row(output,
                [
                    step.Step, shard.Shard, shard.Documents, shard.DataBytes, shard.StorageBytes, null, shard.IndexBytes, null, shard.Chunks, shard.Orphans,
                    .. indexes.Select(name => (object?)SizeOf(shard.Indexes, name)),
                ]);
            }
        }
    }

    /// <summary>The seconds of the tests; in long runs several in a row (<see cref="SampleThinning"/>).</summary>
    public static void WriteSamples(StoredRun run, TextWriter output)
    {
        Row(output, (
            "unix_ms,step,test,threads,is_warmup,has_outage,seconds,operations,documents,bytes,failed,collection_documents,operations_per_second,"
            + LatencyNames).Split(','));
        foreach (MergedSample merged in SampleThinning.Merge(run))
        {
            PhaseSample s = merged.Sample;
            Row(output,
            [
                s.AtMilliseconds, s.Step, s.Test, s.Threads, s.IsWarmup, s.HasOutage, s.Seconds, s.Operations, s.Documents, s.Bytes, s.Failed,
                s.CollectionDocuments, s.Seconds > 0 ? s.Operations / s.Seconds : null, .. Latency(s.LatencyMicroseconds),
            ]);
        }
    }

    /// <summary>Gauges as they are, counters per second; nothing across a restart of the server.</summary>
    public static void WriteServerSamples(StoredRun run, TextWriter output) => WriteMetrics(run.ReadServerSamples, MetricCatalogue.Server, output);

    /// <inheritdoc cref="WriteServerSamples"/>
    public static void WriteHostSamples(StoredRun run, TextWriter output) => WriteMetrics(run.ReadHostSamples, MetricCatalogue.Host, output);

    /// <summary>As the servers': what shards held and did over time. A member is a shard.</summary>
    public static void WriteShardSamples(StoredRun run, TextWriter output) => WriteMetrics(run.ReadShardSamples, MetricCatalogue.Shard, output);

    /// <summary>Migrations, splits and merges, a row each; of very many the first.</summary>
    public static void WriteChunkEvents(StoredRun run, TextWriter output)
    {
        Row(output, "unix_ms,kind,outcome,from,to,seconds,documents,bytes,note".Split(','));
        foreach (ChunkEvent e in run.ReadChunkEvents().Take(SampleThinning.MaxRows))
        {
            Row(output,
            [
                e.AtMilliseconds, e.Kind.ToString().ToLowerInvariant(), e.Outcome.ToString().ToLowerInvariant(), e.From, e.To, e.Seconds, e.Documents,
                e.Bytes, e.Note,
            ]);
        }
    }

    private static long? SizeOf(IReadOnlyDictionary<string, long> indexes, string name) => indexes.TryGetValue(name, out long bytes) ? bytes : null;

    private static void WriteMetrics(Func<IEnumerable<MetricSample>> samples, IReadOnlyList<Metric> metrics, TextWriter output)
    {
        Row(output, ["unix_ms", "member", .. metrics.Select(HeaderOf)]);
        foreach (MetricSample sample in SampleThinning.Rates(samples, metrics))
            Row(output, [sample.AtMilliseconds, sample.Member, .. sample.Values.Select(value => (object?)value)]);
    }

    private static string HeaderOf(Metric metric)
    {
        string unit = metric.Unit.Replace('-', '_');
        string name = metric.Name.EndsWith(unit, StringComparison.Ordinal) ? metric.Name : $"{metric.Name}_{unit}";
        return metric.Kind == MetricKind.Counter ? name + "_per_second" : name;
    }

    private static object?[] Latency(LatencySummary l) => [l.Min, l.Mean, l.P50, l.P90, l.P95, l.P99, l.P999, l.Max];

    public static void Row(TextWriter output, object?[] fields)
    {
        for (int i = 0; i < fields.Length; i++)
        {
            if (i > 0)
                output.Write(',');
            output.Write(Field(fields[i]));
        }

        output.Write("\r\n");
    }

    private static string Field(object? value) => value switch
    {
        null => "",
        bool truth => truth ? "true" : "false",
        double number => double.IsFinite(number) ? Math.Round(number, 6).ToString(CultureInfo.InvariantCulture) : "",
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        _ => Quoted(value.ToString() ?? ""),
    };

    private static string Quoted(string text) =>
        text.AsSpan().ContainsAny(",\"\r\n") ? '"' + text.Replace("\"", "\"\"") + '"' : text;
}
