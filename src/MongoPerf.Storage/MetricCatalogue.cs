namespace MongoPerf.Storage;

/// <summary>Whether a metric is a level, or a count since the process started whose differences matter.</summary>
public enum MetricKind
{
    Gauge,
    Counter,
}

/// <summary>One figure that is sampled during a run: of servers and host every second, of shards every few seconds.</summary>
/// <param name="Name">Column in run.db and in CSV; never renamed.</param>
/// <param name="Unit">"bytes", "operations", "microseconds", "percent", "count".</param>
/// <param name="Kind">Level or running count.</param>
/// <param name="Title">The title, for people.</param>
/// <param name="Path">
/// Where serverStatus has it, dots between the steps; for host metrics, where Linux has it; for shards, what is asked.
/// </param>
public sealed record Metric(string Name, string Unit, MetricKind Kind, string Title, string Path)
{
    /// <summary>Where other versions of MongoDB, or the embedded server, keep it; no reply has more than one of these.</summary>
    public IReadOnlyList<string> AlsoAt { get; init; } = [];

    /// <summary>The first version of MongoDB that tells it; null for all from <see cref="MetricCatalogue.OldestVersion"/> on.</summary>
    public Version? ToldFrom { get; init; }

    /// <summary>The first version of MongoDB that does not tell it any more; null for none.</summary>
    public Version? GoneFrom { get; init; }

    /// <summary>Its places in serverStatus; no reply has it at more than one.</summary>
    public IReadOnlyList<string> Places => [.. AlsoAt.Prepend(Path).Select(static path =>
        path.StartsWith(MetricCatalogue.Status, StringComparison.Ordinal) ? path[MetricCatalogue.Status.Length..] : path)];

    /// <summary>Only shards tell it.</summary>
    public bool IsOfSharding => Path.StartsWith(MetricCatalogue.ShardingStatistics, StringComparison.Ordinal);

    /// <summary>Whether MongoDB of a version tells it, by the table of docs/monitoring.md.</summary>
    public bool IsToldBy(Version version) =>
        (ToldFrom is null || version >= ToldFrom) && (GoneFrom is null || version < GoneFrom);

    /// <summary>Only routers tell it.</summary>
    public bool IsOfRouter { get; init; }
}

/// <summary>What is sampled, in column order. New metrics are added at the end; stored runs with fewer columns stay readable.</summary>
public static class MetricCatalogue
{
    /// <summary>What begins the path of a figure of shards that is serverStatus', not $collStats'.</summary>
    internal const string Status = "serverStatus ";
    internal const string ShardingStatistics = Status + "shardingStatistics.";

    /// <summary>The newest version whose places are known here.</summary>
    public static Version NewestVersion { get; } = new(8, 0);

    /// <summary>The oldest one.</summary>
    public static Version OldestVersion { get; } = new(4, 2);

    /// <summary>From 8.0 on: which step a checkpoint is at, 0 for none.</summary>
    public const string CheckpointState = "wiredTiger.checkpoint.progress state";

    /// <summary>What a router counts by how many shards it asked, as serverStatus names it.</summary>
    public static IReadOnlyList<string> RoutedCommands { get; } = ["find", "insert", "update", "delete", "aggregate"];

    /// <summary>How many shards an operation asked: the end of a metric's name, and serverStatus' name for it.</summary>
    public static IReadOnlyList<(string Name, string Field, string Title)> ShardsAsked { get; } =
    [
        ("one", "oneShard", "one shard"), ("several", "manyShards", "several shards"), ("all", "allShards", "all shards"),
        ("unsharded", "unsharded", "unsharded"),
    ];

    /// <summary>The metrics of each server, from serverStatus (MongoDB's manual has each path).</summary>
    public static IReadOnlyList<Metric> Server { get; } =
    [
        Counter("opcounters_insert", "operations", "Inserted documents", "opcounters.insert"),
        Counter("opcounters_query", "operations", "Queries", "opcounters.query"),
        Counter("opcounters_update", "operations", "Updates", "opcounters.update"),
        Counter("opcounters_delete", "operations", "Deletes", "opcounters.delete"),
        Counter("opcounters_getmore", "operations", "getMore", "opcounters.getmore"),
        Counter("opcounters_command", "operations", "Commands", "opcounters.command"),
        Gauge("connections_current", "count", "Connections", "connections.current"),
        Gauge("connections_available", "count", "Connections still free", "connections.available"),
        Gauge("connections_active", "count", "Active connections", "connections.active"),
        Gauge("mem_resident", "megabytes", "Resident memory", "mem.resident"),
        Gauge("mem_virtual", "megabytes", "Virtual memory", "mem.virtual"),
        Counter("page_faults", "count", "Page faults", "extra_info.page_faults"),
        Counter("server_user_time", "microseconds", "Server CPU, user", "extra_info.user_time_us"),
        Counter("server_system_time", "microseconds", "Server CPU, system", "extra_info.system_time_us"),
        Gauge("queue_readers", "count", "Queued readers", "globalLock.currentQueue.readers"),
        Gauge("queue_writers", "count", "Queued writers", "globalLock.currentQueue.writers"),
        Gauge("active_readers", "count", "Active readers", "globalLock.activeClients.readers"),
        Gauge("active_writers", "count", "Active writers", "globalLock.activeClients.writers"),
        Gauge("cache_used", "bytes", "Cache used", "wiredTiger.cache.bytes currently in the cache", "mongoperfStorage.cacheBytesUsed"),
        Gauge("cache_dirty", "bytes", "Cache dirty", "wiredTiger.cache.tracked dirty bytes in the cache", "mongoperfStorage.dirtyBytes"),
        Gauge("cache_max", "bytes", "Cache limit", "wiredTiger.cache.maximum bytes configured", "mongoperfStorage.cacheBytesMax"),
        Counter("cache_read", "bytes", "Read into cache", "wiredTiger.cache.bytes read into cache"),
        Counter("cache_written", "bytes", "Written from cache", "wiredTiger.cache.bytes written from cache"),
        Counter("cache_evicted_clean", "pages", "Clean pages evicted", "wiredTiger.cache.unmodified pages evicted"),
        Counter("cache_evicted_dirty", "pages", "Dirty pages evicted", "wiredTiger.cache.modified pages evicted"),
        Counter("cache_evicted_by_clients", "pages", "Pages evicted by application threads",
            "wiredTiger.cache.pages evicted by application threads",
            "wiredTiger.cache.page evict attempts by application threads"), // 8.0.16
        Counter("block_read", "bytes", "Read from disk", "wiredTiger.block-manager.bytes read", "mongoperfStorage.bytesRead"),
        Counter("block_written", "bytes", "Written to disk", "wiredTiger.block-manager.bytes written", "mongoperfStorage.bytesWritten"),
        Counter("log_written", "bytes", "Journal written", "wiredTiger.log.log bytes written"),
        Counter("log_syncs", "operations", "Journal syncs", "wiredTiger.log.log sync operations"),
        Ticket("tickets_read_out", "Read tickets in use", "read.out"),
        Ticket("tickets_read_available", "Read tickets free", "read.available"),
        Ticket("tickets_write_out", "Write tickets in use", "write.out"),
        Ticket("tickets_write_available", "Write tickets free", "write.available"),
        Gauge("checkpoint_running", "count", "Checkpoint running", "wiredTiger.transaction.transaction checkpoint currently running",
            "wiredTiger.checkpoint.currently running", CheckpointState), // 7.1, 8.0
        Counter("checkpoints", "operations", "Checkpoints", "wiredTiger.transaction.transaction checkpoints",
            "wiredTiger.checkpoint.number of checkpoints started", // 7.1
            "wiredTiger.checkpoint.total succeed number of checkpoints"), // 8.0
        Gauge("checkpoint_milliseconds", "milliseconds", "Last checkpoint took",
            "wiredTiger.transaction.transaction checkpoint most recent time (msecs)",
            "wiredTiger.checkpoint.most recent time (msecs)"), // 7.1
        Counter("keys_examined", "keys", "Keys examined", "metrics.queryExecutor.scanned"),
        Counter("documents_examined", "documents", "Documents examined", "metrics.queryExecutor.scannedObjects"),
        Counter("documents_inserted", "documents", "Documents inserted", "metrics.document.inserted"),
        Counter("documents_returned", "documents", "Documents returned", "metrics.document.returned"),
        Counter("network_in", "bytes", "Server received", "network.bytesIn"),
        Counter("network_out", "bytes", "Server sent", "network.bytesOut"),
        Counter("latency_reads", "microseconds", "Time in reads", "opLatencies.reads.latency"),
        Counter("latency_reads_operations", "operations", "Reads timed", "opLatencies.reads.ops"),
        Counter("latency_writes", "microseconds", "Time in writes", "opLatencies.writes.latency"),
        Counter("latency_writes_operations", "operations", "Writes timed", "opLatencies.writes.ops"),
        Gauge("uptime", "seconds", "Uptime", "uptime"),
        // From 6.3 on the server tells how many there have been since it started, and not how many there are.
        Gauge("index_builds", "count", "Index builds", "activeIndexBuilds.total") with
        {
            ToldFrom = new Version(6, 0), GoneFrom = new Version(6, 3),
        },
        Counter("flow_control_lagged", "microseconds", "Time in which flow control throttled writes", "flowControl.isLaggedTimeMicros"),
        Counter("flow_control_waited", "microseconds", "Time that writes waited for flow control", "flowControl.timeAcquiringMicros"),
        Counter("write_conflicts", "operations", "Write conflicts", "metrics.operation.writeConflicts"),
        .. RoutedCommands.SelectMany(command => ShardsAsked.Select(asked => Counter($"asked_{command}_{asked.Name}", "operations",
            $"Routed, {command}: {asked.Title}", $"shardingStatistics.numHostsTargeted.{command}.{asked.Field}") with
        {
            IsOfRouter = true, ToldFrom = new Version(5, 0),
        })),
    ];

    /// <summary>The metrics of the machine that the client runs on, from /proc, and of the client process itself.</summary>
    public static IReadOnlyList<Metric> Host { get; } =
    [
        Counter("cpu_user", "core-microseconds", "Host CPU, user", "/proc/stat user+nice"),
        Counter("cpu_system", "core-microseconds", "Host CPU, system", "/proc/stat system+irq+softirq"),
        Counter("cpu_iowait", "core-microseconds", "Host CPU, waiting for disk", "/proc/stat iowait"),
        Counter("cpu_idle", "core-microseconds", "Host CPU, idle", "/proc/stat idle"),
        Counter("cpu_steal", "core-microseconds", "Host CPU, stolen", "/proc/stat steal"),
        Gauge("memory_available", "bytes", "Memory available", "/proc/meminfo MemAvailable"),
        Gauge("memory_page_cache", "bytes", "Page cache", "/proc/meminfo Cached"),
        Gauge("memory_dirty", "bytes", "Dirty pages", "/proc/meminfo Dirty"),
        Counter("swap_in", "bytes", "Swapped in", "/proc/vmstat pswpin"),
        Counter("swap_out", "bytes", "Swapped out", "/proc/vmstat pswpout"),
        Counter("disk_read", "bytes", "Disk read", "/proc/diskstats, the disk under the data"),
        Counter("disk_written", "bytes", "Disk written", "/proc/diskstats, the disk under the data"),
        Counter("disk_busy", "milliseconds", "Disk busy", "/proc/diskstats, the disk under the data"),
        Gauge("disk_free", "bytes", "Disk free", "statvfs of the data or runs folder"),
        Counter("network_received", "bytes", "Network received, loopback included", "/proc/net/dev"),
        Counter("network_sent", "bytes", "Network sent, loopback included", "/proc/net/dev"),
        Counter("client_cpu_user", "microseconds", "Client CPU, user", "/proc/self/stat utime"),
        Counter("client_cpu_system", "microseconds", "Client CPU, system", "/proc/self/stat stime"),
        Gauge("client_resident", "bytes", "Client memory", "/proc/self/statm"),
        Counter("cpu_interrupts", "core-microseconds", "Host CPU, interrupts (a part of system)", "/proc/stat irq+softirq"),
        Counter("servers_cpu", "core-microseconds", "CPU of the servers under load on this machine", "/proc/PID/stat utime+stime"),
    ];

    /// <summary>The metrics of each shard of a sharded deployment: its part of the collection, and what its primary did.</summary>
    public static IReadOnlyList<Metric> Shard { get; } =
    [
        Gauge("documents", "documents", "Documents, orphans left out", "$collStats count - numOrphanDocs"),
        Gauge("orphans", "documents", "Orphans: moved away, not deleted yet", "$collStats numOrphanDocs"),
        Gauge("chunks", "count", "Chunks", "config.chunks"),
        Gauge("data", "bytes", "Documents uncompressed, with orphans", "$collStats size"),
        Gauge("storage", "bytes", "Files of the documents", "$collStats storageSize"),
        Gauge("storage_free", "bytes", "Free blocks in these files", "$collStats freeStorageSize"),
        Gauge("indexes", "bytes", "Files of the indexes", "$collStats totalIndexSize"),
        Counter("opcounters_insert", "operations", "Inserted documents", Status + "opcounters.insert"),
        Counter("opcounters_query", "operations", "Queries", Status + "opcounters.query"),
        Counter("opcounters_update", "operations", "Updates", Status + "opcounters.update"),
        Counter("opcounters_delete", "operations", "Deletes", Status + "opcounters.delete"),
        Counter("opcounters_getmore", "operations", "getMore", Status + "opcounters.getmore"),
        Counter("collection_reads", "operations", "Reads of the collection", "$collStats latencyStats.reads.ops"),
        Counter("collection_writes", "operations", "Writes of the collection", "$collStats latencyStats.writes.ops"),
        Counter("migrations_begun", "operations", "Migrations begun as donor", OfSharding("countDonorMoveChunkStarted")),
        Counter("documents_sent", "documents", "Documents sent to other shards", OfSharding("countDocsClonedOnDonor")),
        Counter("documents_received", "documents", "Documents received from other shards", OfSharding("countDocsClonedOnRecipient")),
        Counter("critical_section", "milliseconds", "Time in critical sections of migrations",
            OfSharding("totalCriticalSectionTimeMillis")),
        Gauge("range_deletions_due", "count", "Ranges waiting to be deleted", OfSharding("rangeDeleterTasks")) with
        {
            ToldFrom = new Version(4, 4),
        },
        Counter("range_deleted", "documents", "Documents deleted after they moved away", OfSharding("countDocsDeletedByRangeDeleter"),
            OfSharding("countDocsDeletedOnDonor")), // before 7.1
        Counter("stale_config_errors", "operations", "Stale config errors", OfSharding("countStaleConfigErrors")),
    ];

    /// <summary>
    /// The metrics of the members of replica sets, as their primary sees them: of each secondary its lag, of the primary the rest.
    /// </summary>
    public static IReadOnlyList<Metric> Replica { get; } =
    [
        Gauge("lag", "milliseconds", "Behind the primary", "replSetGetStatus members.lastAppliedWallTime"),
        Gauge("majority_lag", "milliseconds", "Majority commit point behind the primary",
            "replSetGetStatus optimes.lastCommittedWallTime"),
        Gauge("oplog_window", "seconds", "Time that the oplog reaches back", Status + "oplog"),
        Gauge("term", "count", "Term: grows with each election", "replSetGetStatus term"),
    ];

    /// <summary>All that is read from serverStatus by its place there, each once.</summary>
    public static IReadOnlyList<Metric> OfStatus { get; } = [.. Server, .. Shard.Where(static metric => metric.IsOfSharding)];

    private static string OfSharding(string field) => ShardingStatistics + field;

    private static Metric Counter(string name, string unit, string title, string path, params IReadOnlyList<string> alsoAt) =>
        new(name, unit, MetricKind.Counter, title, path) { AlsoAt = alsoAt };

    private static Metric Gauge(string name, string unit, string title, string path, params IReadOnlyList<string> alsoAt) =>
        new(name, unit, MetricKind.Gauge, title, path) { AlsoAt = alsoAt };

    /// <summary>Before 8.0, on the way to it, and in it.</summary>
    private static Metric Ticket(string name, string title, string path) =>
        Gauge(name, "count", title, $"wiredTiger.concurrentTransactions.{path}", $"admission.execution.{path}", $"queues.execution.{path}");

    /// <summary>Some metrics of a list, in the order of their names.</summary>
    /// <exception cref="ArgumentException">No metric of a name.</exception>
    public static IReadOnlyList<Metric> Only(IReadOnlyList<Metric> metrics, params IEnumerable<string> names) =>
        [.. names.Select(name => metrics[IndexOf(metrics, name)])];

    /// <summary>Column of a metric in its list.</summary>
    /// <exception cref="ArgumentException">No metric of that name.</exception>
    public static int IndexOf(IReadOnlyList<Metric> metrics, string name)
    {
        for (int i = 0; i < metrics.Count; i++)
        {
            if (metrics[i].Name == name)
                return i;
        }

        throw new ArgumentException($"no metric is named '{name}'", nameof(name));
    }
}
