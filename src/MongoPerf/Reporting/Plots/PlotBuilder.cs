using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Figures;

namespace MongoPerf.Reporting.Plots;

/// <summary>Makes the charts of plots from a run's data.</summary>
internal static class PlotBuilder
{
    /// <summary>
    /// Those for which the run has results. Plots over a growing collection are drawn growth by growth, where the first of them stands.
    /// </summary>
    public static IEnumerable<Chart> Build(StoredRun run, IReadOnlyList<PlotInfo> plots)
    {
        PlotInfo[] ofGrowths = [.. plots.Where(IsOfGrowth)];
        foreach (PlotInfo plot in plots)
        {
            IEnumerable<Chart> charts = !IsOfGrowth(plot) ? Build(run, plot) : plot == ofGrowths[0] ? GrowthFrame.Of(run).SelectMany(frame => ofGrowths.Select(one => GrowthCharts.Build(one, frame)).OfType<Chart>()) : [];
            foreach (Chart chart in charts)
                yield return chart;
        }
    }

    /// <summary>Several where there are several growths, collections or phases.</summary>
    public static IEnumerable<Chart> Build(StoredRun run, PlotInfo plot) => plot switch
    {
        { Figure: { } } => Build([new FigureRun(run, FigureRun.Of(run)[0].Deployment, FigureRun.Of(run)[0].Server)], plot),
        { X: PlotLanguage.Time } => One(TimeCharts.Build(run, plot)),
        { X: PlotLanguage.Documents } => GrowthFrame.Of(run).Select(frame => GrowthCharts.Build(plot, frame)).OfType<Chart>(),
        { X: PlotLanguage.Filled } => SizeChart.OfFilled(run, OperationSeconds.Of(run), plot),
        { X: PlotLanguage.Inserting } => One(MigrationChart.Build(run, OperationSeconds.Of(run), plot)),
        { X: PlotLanguage.Lap } => LapChart.Build(run, plot),
        _ => One(RestartChart.Build(run, plot)),
    };

    /// <summary>Of one with y, over one run or several.</summary>
    public static IEnumerable<Chart> Build(IReadOnlyList<FigureRun> runs, PlotInfo plot) =>
        ScenarioFigures.Build(runs, plot.Figure!, plot.Name).Select(chart => plot.HowToRead.Length == 0 ? chart : chart with { HowToRead = plot.Reading });

    private static bool IsOfGrowth(PlotInfo plot) => plot is { X: PlotLanguage.Documents, Figure: null };

    private static IEnumerable<Chart> One(Chart? chart) => chart is null ? [] : [chart];
}
