using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Figures;

namespace MongoPerf.Reporting.Charts;

/// <summary>All charts of a run, in the order of the report.</summary>
internal static class ChartCatalogue
{
    public static IReadOnlyList<string> Names { get; } =
    [
        .. GrowthCharts.Names.Select(name => name + "*"), "restart", TimelineChart.Name, ShardChart.Name, "migrations",
        ScenarioFigures.NamePrefix + "*", ScenarioFigures.AutomaticPrefix + "*", LapChart.NamePrefix + "*",
    ];

    /// <summary>Those for which the run has results; none for a run that has measured nothing.</summary>
    public static IReadOnlyList<Chart> Build(StoredRun run)
    {
        OperationSeconds seconds = OperationSeconds.Of(run);
        return
        [
            .. GrowthCharts.Of(run),
            .. ScenarioFigures.Of(FigureRun.Of(run)),
            .. LapChart.Build(run),
            .. SizeChart.OfFilled(run, seconds),
            .. new[] { RestartChart.Build(run), TimelineChart.Build(run), ShardChart.Build(run), MigrationChart.Build(run, seconds) }.OfType<Chart>(),
        ];
    }
}
