using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Reports.Histories;

/// <summary>A metric of all operations, or of one.</summary>
/// <param name="Metric">A metric of results.</param>
/// <param name="Operation">The operation as reports call it, or its phase; null for all of them.</param>
public sealed record HistoryMetric(FigureMetric Metric, string? Operation = null)
{
    /// <summary>The metrics that histories can show: all but a size that the plan sets.</summary>
    public static AllowedNames Names { get; } =
        LatencyMetric.AllowedWith([.. FigureMetric.Names.Listed.Where(static name => name != Dimension.Documents)]);

    /// <summary>Those that a plot over history shows.</summary>
    public static IReadOnlyList<HistoryMetric> Of(PlotInfo plot) =>
        [.. plot.Panels.Select(panel => panel.Show).Distinct().Select(name => new HistoryMetric(FigureMetric.Find(name)))];
}
