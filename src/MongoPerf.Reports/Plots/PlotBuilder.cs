using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Figures;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Plots;

/// <summary>Makes charts out of plots and stored runs.</summary>
public static class PlotBuilder
{
    /// <summary>
    /// Makes the charts for which the run has results. Plots over a growing collection are drawn growth by growth, where the first of them
    /// stands.
    /// </summary>
    public static IEnumerable<Chart> Build(StoredRun run, IReadOnlyList<PlotInfo> plots)
    {
        PlotInfo[] ofGrowths = [.. plots.Where(IsOfGrowth)];
        return plots.SelectMany(plot => !IsOfGrowth(plot) ? Build(run, plot).Where(IsWorthIt(plot))
            : plot == ofGrowths[0] ? GrowthFrame.Of(run)
                .SelectMany(frame => ofGrowths.SelectMany(one => OfGrowth(one, frame)))
            : []);
    }

    /// <summary>Makes a plot's charts: several where there are several growths, collections or phases.</summary>
    public static IEnumerable<Chart> Build(StoredRun run, PlotInfo plot) => plot.Figure is not null
        ? Build(FigureRun.Of(run), plot)
        : WithPanels(run, plot).Select(chart => PlotNames.Note(chart, plot, FigureRun.Of(run)).Marked([run]));

    private static IEnumerable<Chart> WithPanels(StoredRun run, PlotInfo plot) => plot switch
    {
        { X: PlotLanguage.Time } => One(TimeCharts.Build(run, plot)),
        { X: PlotLanguage.Documents } => GrowthFrame.Of(run).Select(frame => GrowthCharts.Build(plot, frame)).OfType<Chart>(),
        { X: PlotLanguage.Filled } => SizeChart.OfFilled(run, OperationSeconds.Of(run), plot),
        { X: PlotLanguage.Inserting } => One(MigrationChart.Build(run, OperationSeconds.Of(run), plot)),
        { X: PlotLanguage.Lap } => LapChart.Build(run, plot),
        { X: PlotLanguage.Restart } => One(RestartChart.Build(run, plot)),
        _ => [],
    };

    /// <summary>Makes the charts of a plot with y, over one run or several.</summary>
    public static IEnumerable<Chart> Build(IReadOnlyList<FigureRun> runs, PlotInfo plot) =>
        ScenarioFigures.Build(runs, plot.Figure! with { Title = plot.TitleWith() }, plot.Name)
            .Select(chart => PlotNames.Note(plot.HowToRead.Length == 0 ? chart : chart with { HowToRead = plot.Reading }, plot, runs)
                .Marked([.. runs.Select(one => one.Stored)]));

    private static IEnumerable<Chart> OfGrowth(PlotInfo plot, GrowthFrame frame) =>
        One(GrowthCharts.Build(plot, frame)).Select(chart => PlotNames.Note(chart, plot, FigureRun.Of(frame.Run)));

    /// <summary>
    /// Tells whether a chart is worth its place in a report, where a chart over numbers with one point on each line says nothing that
    /// tables don't.
    /// </summary>
    public static Func<Chart, bool> IsWorthIt(PlotInfo plot) => chart =>
        plot.Figure is null || chart.X.IsOfNames || chart.Tables.Any(static table => table.Rows.Count > 1);

    private static bool IsOfGrowth(PlotInfo plot) => plot is { X: PlotLanguage.Documents, Figure: null };

    private static IEnumerable<Chart> One(Chart? chart) => chart is null ? [] : [chart];
}
