using System.Text.Json.Serialization;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>Something that a run shows and a reader would otherwise have to see in its charts.</summary>
public sealed record Finding
{
    /// <summary>What kind it is: one of <see cref="FindingIds"/>, never renamed.</summary>
    public required string Id { get; init; }

    /// <summary>The text in one line.</summary>
    public required string Text { get; init; }

    /// <summary>Labels of the operations that show it, the plainest first; empty for the run as a whole.</summary>
    public IReadOnlyList<string> Operations { get; init; } = [];

    public FindingRange? Range { get; init; }

    /// <summary>Rate within the range, or after it, to that before or beside it; null where nothing is known of it.</summary>
    public FindingEffect? Rate { get; init; }

    /// <summary>The same of the 99th percentile.</summary>
    public FindingEffect? P99 { get; init; }

    public IReadOnlyList<FindingEvidence> Evidence { get; init; } = [];

    /// <summary>Null where nothing is known of it.</summary>
    public string? Cause { get; init; }

    /// <summary>The cause is no more than something that happened at the same time.</summary>
    public bool IsCoincidence { get; init; }

    /// <summary>The experiment that would refute the cause, or the finding where it has none.</summary>
    public required string Refute { get; init; }

    /// <summary>The verdicts say it already, above the findings.</summary>
    [JsonIgnore]
    public bool IsVerdict { get; init; }

    /// <summary>Findings with more of it come first.</summary>
    [JsonIgnore]
    public double Weight { get; init; }

    /// <summary>The line with its cause.</summary>
    [JsonIgnore]
    public string Line => Cause is null ? Text : IsCoincidence ? Words.Of($"{Text}; seen together: {Cause}") : Words.Of($"{Text}; {Cause}");
}

/// <summary>Where a finding lies. Seconds are those of the charts over time: since the start, pauses cut out.</summary>
public sealed record FindingRange(double? FromSeconds, double? ToSeconds, long? FromDocuments = null, long? ToDocuments = null);

/// <summary>A ratio with its 95 % interval, where there is one.</summary>
public sealed record FindingEffect(double Ratio, double? Low, double? High)
{
    /// <summary>How it was found, where the finding's text has other figures.</summary>
    [JsonIgnore]
    public string? By { get; init; }

    public static FindingEffect Of(double ratio, Interval? interval) => new(ratio, interval?.Low, interval?.High);
}

/// <param name="Chart">Name of the chart that shows it; null where no chart does.</param>
/// <param name="Text">The figures.</param>
public sealed record FindingEvidence(string? Chart, string Text);

/// <summary>All kinds. Stable: result.json and scripts name them.</summary>
internal static class FindingIds
{
    public const string SizeCliff = "size-cliff";
    public const string SizeDecline = "size-decline";
    public const string Stall = "stall";
    public const string SlowDrift = "slow-drift";
    public const string Period = "period";
    public const string SlowStart = "slow-start";
    public const string RateDrop = "rate-drop";
    public const string RateDip = "rate-dip";
    public const string RateRise = "rate-rise";
    public const string TicketQueue = "ticket-queue";
    public const string DirtyCache = "dirty-cache";
    public const string EvictionByClients = "eviction-by-clients";
    public const string PlanChanged = "plan-changed";
    public const string PlanScans = "plan-scans";
    public const string ReplySize = "reply-size";
    public const string ClientLimit = "client-limit";
    public const string OtherLoad = "other-load";
    public const string EmbeddedServer = "embedded-server";
    public const string DebugBuild = "debug-build";
    public const string FailedOperations = "failed-operations";
    public const string WrongEffect = "wrong-effect";
    public const string Retries = "transaction-retries";
    public const string LostWrites = "lost-writes";
    public const string Outage = "outage";
    public const string ShardImbalance = "shard-imbalance";
    public const string InFlight = "in-flight";
    public const string CutOff = "cut-off";
    public const string NothingMeasured = "nothing-measured";
    public const string SizeRise = "size-rise";
    public const string LinearGrowth = "linear-growth";
    public const string BytesGrow = "bytes-grow";
    public const string FoundNothing = "found-nothing";
    public const string ChangedNothing = "changed-nothing";
    public const string OffPace = "off-pace";
    public const string WarmUp = "warm-up";
    public const string SlowStartGrows = "slow-start-grows";
    public const string Variation = "variation";
    public const string MigrationCost = "migration-cost";
    public const string Resharded = "resharded";
    public const string IndexBuildCost = "index-build-cost";
    public const string HotShard = "hot-shard";
    public const string ImbalanceOverTime = "imbalance-over-time";
    public const string InsertsToOneShard = "inserts-to-one-shard";
    public const string AsksAllShards = "asks-all-shards";
    public const string RangeDeletionCost = "range-deletion-cost";
    public const string FlowControl = "flow-control";
    public const string WriteConflicts = "write-conflicts";
    public const string PlanDiffers = "plan-differs";
    public const string PlanExamines = "plan-examines";
    public const string ThreadPeak = "thread-peak";
    public const string RateFollowsCache = "rate-follows-cache";
    public const string DiskLimit = "disk-limit";
    public const string NetworkLimit = "network-limit";
    public const string ConnectionsRunOut = "connections-run-out";
    public const string FewSamples = "few-samples";
    public const string TwoPeaks = "two-peaks";
    public const string Crossover = "crossover";
    public const string ShardedFaster = "sharded-faster";
    public const string ShardedSlower = "sharded-slower";
    public const string ClientStopped = "client-stopped";
    public const string FirstOperation = "first-operation";

    public static IReadOnlyList<string> All { get; } =
    [
        SizeCliff, SizeDecline, Stall, SlowDrift, Period, SlowStart, RateDrop, RateDip, RateRise, TicketQueue,
        DirtyCache, EvictionByClients,
        PlanChanged, PlanScans, ReplySize, ClientLimit, OtherLoad, EmbeddedServer, DebugBuild, FailedOperations, WrongEffect, Retries,
        LostWrites, Outage, ShardImbalance,
        InFlight, CutOff, NothingMeasured,
        SizeRise, LinearGrowth, BytesGrow, WarmUp, SlowStartGrows, Variation, MigrationCost, Resharded, IndexBuildCost,
        HotShard, ImbalanceOverTime, PlanExamines,
        ThreadPeak, RateFollowsCache, DiskLimit, NetworkLimit, ConnectionsRunOut, FewSamples, TwoPeaks, Crossover,
        ShardedFaster, ShardedSlower, InsertsToOneShard, AsksAllShards, RangeDeletionCost, FlowControl, PlanDiffers,
        WriteConflicts, OffPace, FoundNothing, ChangedNothing, ClientStopped, FirstOperation,
    ];
}
