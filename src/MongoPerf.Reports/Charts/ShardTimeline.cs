using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Makes panels of what each shard holds and does over the time axis.</summary>
internal static class ShardTimeline
{
    /// <summary>The seconds after which a line ends: shards are asked every two seconds, and less often when they answer slowly.</summary>
    private const double LongestGap = 30;

    private static readonly MemberFigure[] OfCollection =
    [
        Figure("documents", "documents") with { IsAlwaysShown = true }, Figure("chunks", "chunks") with { IsAlwaysShown = true },
        Figure("orphans", "orphans"),
    ];

    private static readonly MemberFigure[] OfShard =
    [
        new("% of operations", "operations", static (before, now) =>
            before is null ? double.NaN : MemberFigure.PerSecond(before, now, ShardOperations.Between(before, now)))
        {
            IsShare = true,
        },
        Figure("documents sent to other shards, per second", "documents_sent"),
        Figure("critical sections of migrations, ms per second", "critical_section"),
        Figure("ranges waiting to be deleted", "range_deletions_due"),
        Figure("documents deleted after they moved away, per second", "range_deleted"),
    ];

    /// <returns>The panels; none for fewer than two shards.</returns>
    /// <inheritdoc cref="ServerTimeline.Panels"/>
    public static IEnumerable<Panel> Panels(StoredRun run, TimeAxis axis, Func<int, double, PanelBuilder> builderOf, double since) =>
        MemberTimeline.Panels(run.ReadShardSamples, [.. OfCollection, .. OfShard], figure => TitleOf(figure, Distribution.WatchedIn(run)),
            LongestGap, axis, builderOf, since);

    /// <summary>Titles a panel: what shards hold is one collection's, what they do is all that they do.</summary>
    private static string TitleOf(MemberFigure figure, string? collection) =>
        collection is null || !OfCollection.Contains(figure)
            ? Words.Of($"Shards: {Words.Of(figure.Title)}")
            : Words.Of($"Shards: {Words.Of(figure.Title)} of {collection}");

    private static MemberFigure Figure(string title, string metric) => MemberFigure.Of(title, MetricCatalogue.Shard, metric);
}
