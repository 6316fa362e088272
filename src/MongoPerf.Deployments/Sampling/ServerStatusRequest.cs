using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Sampling;

/// <summary>serverStatus without the sections that no sampler needs: they cost the server time.</summary>
internal static class ServerStatusRequest
{
    // 0 switches a section off; names that a server does not know are ignored.
    private static readonly string[] Unwanted =
    [
        "tcmalloc", "locks", "transactions", "security", "transportSecurity", "twoPhaseCommitCoordinator", "electionMetrics",
        "featureCompatibilityVersion", "readConcernCounters", "readPreferenceCounters", "scramCache", "shardSplits", "tenantMigrations",
        "trafficRecording", "logicalSessionRecordCache", "indexBulkBuilder", "indexStats", "catalogStats", "Instance Information",
        "opcountersRepl", "queryAnalyzers", "changeStreamPreImages", "batchedDeletes", "storageEngine", "mirroredReads",
        "defaultRWConcern", "asserts", "repl", "sharding", "freeMonitoring", "oplog",
    ];

    /// <summary>The request with metrics and wiredTiger, for <see cref="MongoPerf.Storage.MetricCatalogue.Server"/>.</summary>
    public static BsonDocument WithStorage { get; } = Without();

    /// <summary>opcounters and shardingStatistics, and what can't be left out.</summary>
    public static BsonDocument Counters { get; } =
        Without("metrics", "wiredTiger", "network", "opLatencies", "globalLock", "extra_info", "connections", "queues",
            "spillWiredTiger", "activeIndexBuilds", "flowControl");

    /// <summary>The bounds of the oplog, and what can't be left out.</summary>
    public static BsonDocument Oplog { get; } = BsonDocument.Of(
        [.. Counters.Where(static section => section.Key != "oplog").Select(static section => (section.Key, (object?)section.Value)),
            ("shardingStatistics", 0), ("opcounters", 0), ("oplog", 1)]);

    private static BsonDocument Without(params string[] others) =>
        BsonDocument.Of([("serverStatus", 1), .. Unwanted.Concat(others).Select(static name => (name, (object?)0))]);
}
