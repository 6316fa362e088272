using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Histories;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>The charts of a comparison: the figures of its scenario and the plots that suit several runs.</summary>
public static class ComparisonCharts
{
    /// <summary>Makes the charts for which the runs have results, in the order of the report.</summary>
    /// <param name="comparison">What is shown.</param>
    /// <param name="plots">Plots by their places, others than those of several runs too; null for the standard ones.</param>
    public static ChartSet Build(RunComparison comparison, IReadOnlyList<PlotInfo>? plots = null)
    {
        PlotInfo[] ofSeveral = [.. (plots ?? PlotLibrary.Standard)
            .Where(static plot => plot.IsOfSeveralRuns && !plot.IsOfHistory)];
        ComparedSide[] sides = [.. comparison.Sides];
        IEnumerable<Chart> charts =
        [
            .. Drawn(static plot => plot.Place < ChartCatalogue.PlaceOfFigures),
            .. ScenarioFigures.Of(comparison.FigureRuns).Select(chart => chart.Marked(comparison.Runs)),
            .. Drawn(static plot => plot.Place >= ChartCatalogue.PlaceOfFigures),
        ];
        // Older versions put "compare-" before the names.
        return new ChartSet([.. charts], [.. ChartCatalogue.NamesOf(ofSeveral), "compare-*"]);

        IEnumerable<Chart> Drawn(Func<PlotInfo, bool> isThere) =>
            ofSeveral.Where(isThere).SelectMany(plot => Build(sides, plot, () => comparison).Where(PlotBuilder.IsWorthIt(plot)));
    }

    /// <summary>
    /// Makes a plot's charts: ratios of all runs, y and laps of the runs laid over each other, everything else of each run.
    /// </summary>
    /// <param name="sides">The runs, the baseline first.</param>
    /// <param name="plot">A plot of several runs.</param>
    /// <param name="compare">Makes their comparison, for a plot that needs its statistics.</param>
    public static IEnumerable<Chart> Build(IReadOnlyList<ComparedSide> sides, PlotInfo plot, Func<RunComparison> compare) => plot switch
    {
        { Figure: { } } => PlotBuilder.Build(FigureRun.Of([.. sides.Select(static side => side.Stored)]), plot),
        { X: PlotLanguage.Ratio or PlotLanguage.Window or PlotLanguage.Lap } or { IsOfHistory: true } =>
            OfAll(sides, plot, compare).Select(chart => chart.Marked([.. sides.SelectMany(side => side.Stored)])),
        _ => sides.SelectMany(side => OfRun(side.First, plot)),
    };

    /// <summary>All runs in one chart.</summary>
    private static IEnumerable<Chart> OfAll(IReadOnlyList<ComparedSide> sides, PlotInfo plot, Func<RunComparison> compare) => plot switch
    {
        { X: PlotLanguage.Ratio } => new[] { RatioChart.Build(compare(), plot) }.OfType<Chart>(),
        { X: PlotLanguage.Window } => WindowChart.Build(compare(), plot),
        { IsOfHistory: true } => new[]
        {
            HistoryChart.Build(RunHistory.Of(
                sides.Select(static side => new HistoryPoint(side.Stored)), new HistoryRequest { Metrics = HistoryMetric.Of(plot) }), plot),
        }.OfType<Chart>(),
        _ => LapChart.Build([.. sides.Select(static side => (side.Title, side.First))], plot),
    };

    /// <summary>What the first run of a side has stands by itself: another run has other shards, or none.</summary>
    private static IEnumerable<Chart> OfRun(StoredRun run, PlotInfo plot) =>
        PlotBuilder.Build(run, plot with { Name = $"{plot.Name}-{Slug(run.Run.Id)}" })
            .Select(chart => chart with { Title = $"{chart.Title}: {run.Run.Id}" });

    /// <summary>A text as part of a file's name: its letters and digits, with hyphens for everything else.</summary>
    public static string Slug(string text) => string.Join(
        '-',
        new string([.. text.Select(static c => char.IsAsciiLetterOrDigit(c) ? c : ' ')]).Split(' ', StringSplitOptions.RemoveEmptyEntries));

    /// <summary>Makes a line for each side, named and colored alike in all charts.</summary>
    /// <param name="comparison">The sides.</param>
    /// <param name="table">The columns of the sides follow each other.</param>
    /// <param name="first">The column of the first side.</param>
    /// <param name="perSide">The number of columns of each side.</param>
    internal static IEnumerable<Series> Lines(
        RunComparison comparison, ChartTable table, int first, int perSide) => comparison.Sides.Select(
            (side, i) =>
                new Series(table, first + (i * perSide), i == 0 ? Words.Of($"baseline {side.Title}") : side.Title, Palette.OfLine(i)));

    /// <summary>The columns of a table: the axis, then the same ones for each side.</summary>
    internal static IReadOnlyList<string> Columns(RunComparison comparison, string x, IReadOnlyList<string> names) =>
        [x, .. comparison.Sides.SelectMany(side => names.Select(name => $"{side.Id} {name}"))];
}
