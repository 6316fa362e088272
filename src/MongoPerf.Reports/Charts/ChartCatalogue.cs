using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>All charts of a run, in the order of the report.</summary>
public static class ChartCatalogue
{
    /// <summary>Figures of scenarios stand behind plots of lower places.</summary>
    public const double PlaceOfFigures = 50;

    /// <summary>Patterns of the names that charts of these plots and of figures have.</summary>
    public static IReadOnlyList<string> NamesOf(IReadOnlyList<PlotInfo> plots) =>
        [.. plots.Select(static plot => plot.Name + "*"), ScenarioFigures.NamePrefix + "*", ScenarioFigures.AutomaticPrefix + "*"];

    /// <inheritdoc cref="Build(StoredRun, IReadOnlyList{PlotInfo})"/>
    public static IReadOnlyList<Chart> Build(StoredRun run) => Build(run, PlotLibrary.Standard);

    /// <summary>Makes the charts for which the run has results; none for a run that has measured nothing.</summary>
    /// <param name="run">A run, finished or not.</param>
    /// <param name="plots">Plots by their places; those of several runs are passed by.</param>
    public static IReadOnlyList<Chart> Build(StoredRun run, IReadOnlyList<PlotInfo> plots)
    {
        PlotInfo[] ofOne = [.. plots.Where(static plot => plot.IsOfOneRun)];
        IEnumerable<Chart> charts =
        [
            .. PlotBuilder.Build(run, [.. ofOne.Where(static plot => plot.Place < PlaceOfFigures)]),
            .. ScenarioFigures.Of(FigureRun.Of(run)),
            .. PlotBuilder.Build(run, [.. ofOne.Where(static plot => plot.Place >= PlaceOfFigures)]),
        ];
        return [.. charts.Select(chart => chart.Marked([run]))];
    }
}
