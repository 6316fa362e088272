using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Figures;
using MongoPerf.Reporting.Plots;

namespace MongoPerf.Reporting.Charts;

/// <summary>All charts of a run, in the order of the report.</summary>
internal static class ChartCatalogue
{
    /// <summary>Figures of scenarios stand behind plots of lower places.</summary>
    private const double PlaceOfFigures = 50;

    /// <summary>Patterns of the charts' names.</summary>
    public static IReadOnlyList<string> NamesOf(IReadOnlyList<PlotInfo> plots) =>
        [.. plots.Select(static plot => plot.Name + "*"), ScenarioFigures.NamePrefix + "*", ScenarioFigures.AutomaticPrefix + "*"];

    /// <inheritdoc cref="Build(StoredRun, IReadOnlyList{PlotInfo})"/>
    public static IReadOnlyList<Chart> Build(StoredRun run) => Build(run, PlotLibrary.Standard);

    /// <summary>Those for which the run has results; none for a run that has measured nothing.</summary>
    /// <param name="run">Finished or not.</param>
    /// <param name="plots">By their places.</param>
    public static IReadOnlyList<Chart> Build(StoredRun run, IReadOnlyList<PlotInfo> plots) =>
    [
        .. PlotBuilder.Build(run, [.. plots.Where(static plot => plot.Place < PlaceOfFigures)]),
        .. ScenarioFigures.Of(FigureRun.Of(run)),
        .. PlotBuilder.Build(run, [.. plots.Where(static plot => plot.Place >= PlaceOfFigures)]),
    ];
}
