using System.Globalization;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>
/// A run as comma-separated values (RFC 4180): CRLF, quotes where needed, units in the names, nothing where there is no value.
/// </summary>
public static class CsvReport
{
    private const string LatencyNames = "min_us,mean_us,p50_us,p90_us,p95_us,p99_us,p999_us,max_us";

    private const string PhaseNames = "number,phase,growth,step,parameters";

    /// <summary>A row per phase record and operation, and one for the total of each phase that has several.</summary>
    public static void WriteResults(StoredRun run, TextWriter output)
    {
        Action<object?[]> row = Begin(output, NotMongoDb.Of(run), (
            PhaseNames + ",kind,documents,complete,operation,threads,batch,operations,operation_documents,failed,warmup_seconds,seconds,"
            + "operations_per_second,documents_per_second,megabytes_per_second,client_cpu_us_per_operation,client_cpu_cores,"
            + LatencyNames + ",response_p50_us,response_p99_us,response_max_us,lateness_p50_us,lateness_p99_us,lateness_max_us,"
            + "client_lateness_p50_us,client_lateness_p99_us,sent,arrived,lost,drain_seconds,"
            + "plan_index,plan_stages,keys_examined,documents_examined,returned,keys_examined_per_operation,"
            + "documents_examined_per_operation,"
            + "repaired,verified,wrong,scheduled,succeeded,failed_with_warmup,skipped,"
            + "found_nothing,matched_nothing,changed_nothing").Split(','));
        foreach (PhaseRecord phase in run.Phases)
        {
            foreach (OperationResult o in phase.Operations.Concat(phase.Totals))
            {
                row(
                [
                    .. PhaseOf(phase), phase.Kind.ToString().ToLowerInvariant(), phase.Growth?.Documents ?? phase.Documents,
                    phase.IsComplete,
                    o.Operation, o.Threads, o.Batch, o.Operations, o.Documents, o.Failed,
                    o.WarmupSeconds, o.Seconds, o.OperationsPerSecond, o.DocumentsPerSecond, o.MegabytesPerSecond,
                    o.ClientCpuMicrosecondsPerOperation, o.ClientCpuCores, .. Latency(o.LatencyMicroseconds),
                    o.ResponseMicroseconds?.P50, o.ResponseMicroseconds?.P99, o.ResponseMicroseconds?.Max,
                    o.LatenessMicroseconds?.P50, o.LatenessMicroseconds?.P99, o.LatenessMicroseconds?.Max,
                    o.ClientLatenessMicroseconds?.P50, o.ClientLatenessMicroseconds?.P99,
                    o.Unacknowledged?.Sent, o.Unacknowledged?.Arrived, o.Unacknowledged?.Lost, o.Unacknowledged?.DrainSeconds,
                    o.Plan?.Index, o.Plan?.Stages, o.Plan?.KeysExamined, o.Plan?.DocumentsExamined, o.Plan?.Returned,
                    o.Plan?.KeysExaminedPerOperation, o.Plan?.DocumentsExaminedPerOperation, o.Repaired, o.Verified, o.Wrong,
                    o.Accounting.Scheduled, o.Accounting.Succeeded, o.Accounting.Failed, o.Accounting.Skipped,
                    o.Effect?.FoundNothing, o.Effect?.MatchedNothing, o.Effect?.ChangedNothing,
                ]);
            }
        }
    }

    /// <summary>
    /// A row per collection whose sizes were taken for the whole deployment ("all"), and one per shard where there are several.
    /// </summary>
    public static void WriteSizes(StoredRun run, TextWriter output)
    {
        string[] indexes = [.. run.Phases.SelectMany(p => p.Sizes).SelectMany(s => s.Indexes.Keys).Distinct()];
        Action<object?[]> row = Begin(output, NotMongoDb.Of(run),
        [
            .. PhaseNames.Split(','), "collection", "shard", "documents", "data_bytes", "storage_bytes", "free_storage_bytes",
            "index_bytes", "disk_bytes", "chunks", "orphans",
            .. indexes.Select(name => $"index_{name}_bytes"), "files_of_checkpoint",
        ]);
        foreach ((PhaseRecord phase, SizeResult s) in run.Phases.SelectMany(p => p.Sizes.Select(s => (p, s))))
        {
            row(
            [
                .. PhaseOf(phase), s.Collection ?? phase.Collection, "all", s.Documents, s.DataBytes, s.StorageBytes,
                s.FreeStorageBytes, s.IndexBytes, s.DiskBytes,
                s.Shards.Count > 1 ? s.Shards.Sum(shard => shard.Chunks) : null,
                CollectionStatistics.OrphansOf(s.Shards),
                .. indexes.Select(name => (object?)SizeOf(s.Indexes, name)), s.AreOfCheckpoint,
            ]);
            foreach (ShardSize shard in s.Shards.Where(_ => s.Shards.Count > 1))
            {
                row(
                [
                    .. PhaseOf(phase), s.Collection ?? phase.Collection, shard.Shard, shard.Documents, shard.DataBytes, shard.StorageBytes,
                    null, shard.IndexBytes, null,
                    shard.Chunks, shard.Orphans, .. indexes.Select(name => (object?)SizeOf(shard.Indexes, name)),
                    s.AreOfCheckpoint,
                ]);
            }
        }
    }

    /// <summary>Writes the head of the operations' seconds.</summary>
    /// <returns>Writes the row of a sample; in long runs one of several seconds (<see cref="SampleThinning"/>).</returns>
    internal static Action<MergedSample> BeginSamples(StoredRun run, TextWriter output)
    {
        Action<object?[]> row = Begin(output, NotMongoDb.Of(run), (
            "unix_ms," + PhaseNames + ",operation,threads,is_warmup,has_outage,seconds,operations,documents,bytes,failed,"
            + "collection_documents,operations_per_second,"
            + LatencyNames
            + ",response_p50_us,response_p99_us,response_max_us,lateness_p50_us,lateness_p99_us,lateness_max_us").Split(','));
        Dictionary<int, PhaseRecord> phases = run.Phases.ToDictionary(phase => phase.Number);
        return merged =>
        {
            Sample s = merged.Sample;
            PhaseRecord? phase = phases.GetValueOrDefault(s.Phase);
            row(
            [
                s.AtMilliseconds, .. phase is null ? [s.Phase, null, null, null, null] : PhaseOf(phase), s.Operation,
                phase?.Operations.FirstOrDefault(o => o.Operation == s.Operation)?.Threads, s.IsWarmup, s.HasOutage, s.Seconds,
                s.Operations, s.Documents, s.Bytes, s.Failed,
                s.CollectionDocuments, s.Seconds > 0 ? s.Operations / s.Seconds : null, .. Latency(s.LatencyMicroseconds),
                s.ResponseMicroseconds?.P50, s.ResponseMicroseconds?.P99, s.ResponseMicroseconds?.Max, s.LatenessMicroseconds?.P50,
                s.LatenessMicroseconds?.P99, s.LatenessMicroseconds?.Max,
            ]);
        };
    }

    /// <summary>The seconds of the operations' steps; of a long run the first.</summary>
    public static void WriteSteps(StoredRun run, TextWriter output)
    {
        Action<object?[]> row = Begin(output, NotMongoDb.Of(run),
            ("unix_ms," + PhaseNames + ",operation,step,is_warmup,seconds,operations,failed," + LatencyNames).Split(','));
        Dictionary<int, PhaseRecord> phases = run.Phases.ToDictionary(phase => phase.Number);
        foreach (Sample s in run.ReadSamples(withSteps: true).Where(s => StepResult.IsKey(s.Operation)).Take(SampleThinning.MaxRows))
        {
            (string operation, string step) = StepResult.Parse(s.Operation);
            row(
            [
                s.AtMilliseconds, .. phases.GetValueOrDefault(s.Phase) is { } phase ? PhaseOf(phase) : [s.Phase, null, null, null, null],
                operation, step, s.IsWarmup, s.Seconds, s.Operations, s.Failed, .. Latency(s.LatencyMicroseconds),
            ]);
        }
    }

    /// <summary>Gauges as they are, counters per second; nothing across a restart of the server.</summary>
    public static void WriteServerSamples(StoredRun run, TextWriter output) =>
        WriteMetrics(run, run.ReadServerSamples, MetricCatalogue.Server, output);

    /// <inheritdoc cref="WriteServerSamples"/>
    public static void WriteHostSamples(StoredRun run, TextWriter output) =>
        WriteMetrics(run, run.ReadHostSamples, MetricCatalogue.Host, output);

    /// <summary>Writes samples of shards like those of servers: what shards held and did over time. A member is a shard.</summary>
    public static void WriteShardSamples(StoredRun run, TextWriter output) =>
        WriteMetrics(run, run.ReadShardSamples, MetricCatalogue.Shard, output);

    /// <summary>Writes samples of the members of replica sets like those of servers.</summary>
    public static void WriteReplicaSamples(StoredRun run, TextWriter output) =>
        WriteMetrics(run, run.ReadReplicaSamples, MetricCatalogue.Replica, output);

    /// <summary>Migrations, splits, merges and reshardings, a row each; of very many the first.</summary>
    public static void WriteChunkEvents(StoredRun run, TextWriter output)
    {
        Action<object?[]> row = Begin(output, NotMongoDb.Of(run), ("unix_ms,kind,outcome,from,to,seconds,documents,bytes,note,"
            + "collection,blocked_seconds,key_before,key_after").Split(','));
        foreach (ChunkEvent e in run.ReadChunkEvents().Take(SampleThinning.MaxRows))
        {
            row(
            [
                e.AtMilliseconds, e.Kind.ToString().ToLowerInvariant(), e.Outcome.ToString().ToLowerInvariant(), e.From,
                e.To, e.Seconds, e.Documents,
                e.Bytes, e.Note, e.Collection, e.BlockedSeconds, e.KeyBefore, e.KeyAfter,
            ]);
        }
    }

    /// <summary>The values of <see cref="PhaseNames"/>.</summary>
    private static object?[] PhaseOf(PhaseRecord phase) =>
        [phase.Number, phase.Phase, phase.Growth?.Growth, phase.Growth?.Step, PhaseLabels.Parameters(phase.Parameters, "; ")];

    private static long? SizeOf(IReadOnlyDictionary<string, long> indexes, string name) =>
        indexes.TryGetValue(name, out long bytes) ? bytes : null;

    private static void WriteMetrics(
        StoredRun run, Func<IReadOnlyList<Metric>, IEnumerable<MetricSample>> read, IReadOnlyList<Metric> metrics, TextWriter output)
    {
        // What these servers do not tell would be an empty column.
        metrics = [.. metrics.Where(metric => run.Deployment?.UntoldMetrics.Contains(metric.Name) is not true)];
        Action<object?[]> row = Begin(output, NotMongoDb.Of(run), ["unix_ms", "member", .. metrics.Select(HeaderOf)]);
        foreach (MetricSample sample in SampleThinning.Rates(read, metrics))
            row([sample.AtMilliseconds, sample.Member, .. sample.Values.Select(value => (object?)value)]);
    }

    private static string HeaderOf(Metric metric)
    {
        string unit = metric.Unit.Replace('-', '_');
        string name = metric.Name.EndsWith(unit, StringComparison.Ordinal) ? metric.Name : $"{metric.Name}_{unit}";
        return metric.Kind == MetricKind.Counter ? name + "_per_second" : name;
    }

    private static object?[] Latency(LatencySummary l) => [l.Min, l.Mean, l.P50, l.P90, l.P95, l.P99, l.P999, l.Max];

    /// <summary>Writes the head of a file: the names of its columns, the last of which is <see cref="NotMongoDb.Column"/>.</summary>
    /// <param name="output">Gets head and rows.</param>
    /// <param name="notMongoDb">What each row has in that column; null for MongoDB.</param>
    /// <param name="names">Of all other columns.</param>
    /// <returns>Writes a row, given the fields of all other columns.</returns>
    public static Action<object?[]> Begin(TextWriter output, string? notMongoDb, IEnumerable<string> names)
    {
        Row(output, [.. names, NotMongoDb.Column]);
        return fields => Row(output, [.. fields, notMongoDb]);
    }

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

    private static string Quoted(string text)
    {
        // A spreadsheet takes what begins with these for a formula, and a name may be anybody's. Numbers stay numbers.
        if (text.AsSpan().TrimStart(' ') is ['=' or '+' or '-' or '@' or '\t' or '\r' or '\n', ..]
            && !double.TryParse(text, CultureInfo.InvariantCulture, out _))
            text = '\'' + text;
        return text.AsSpan().ContainsAny(",\"\r\n") ? '"' + text.Replace("\"", "\"\"") + '"' : text;
    }
}
