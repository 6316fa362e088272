using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Makes panels of how far members of replica sets are behind over the time axis.</summary>
internal static class ReplicaTimeline
{
    /// <summary>The seconds after which a line ends: primaries are asked every second, and may be busy.</summary>
    private const double LongestGap = 10;

    private static readonly MemberFigure[] Figures =
    [
        Figure("seconds behind the primary", "lag", 1e-3) with { IsAlwaysShown = true },
        Figure("seconds until a write is on a majority", "majority_lag", 1e-3),
        Figure("hours that the oplog reaches back", "oplog_window", 1.0 / 3600),
        Figure("election term", "term") with { IsShownByChange = true },
    ];

    /// <returns>The panels; none without secondaries.</returns>
    /// <inheritdoc cref="ServerTimeline.Panels"/>
    public static IEnumerable<Panel> Panels(StoredRun run, TimeAxis axis, Func<int, double, PanelBuilder> builderOf, double since) =>
        run.ReadReplicaSamples().All(static sample => double.IsNaN(sample.Values[Lag])) ? []
            : MemberTimeline.Panels(run.ReadReplicaSamples, Figures, static figure => Words.Of($"Replication: {Words.Of(figure.Title)}"),
                LongestGap, axis, builderOf, since);

    private static readonly int Lag = MetricCatalogue.IndexOf(MetricCatalogue.Replica, "lag");

    private static MemberFigure Figure(string title, string metric, double factor = 1) =>
        MemberFigure.Of(title, MetricCatalogue.Replica, metric, factor) with
        {
            File = $"replication-{metric.Replace('_', '-')}", IsWhole = false,
        };
}
