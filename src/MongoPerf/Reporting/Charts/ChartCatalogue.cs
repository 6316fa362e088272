using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Figures;

namespace MongoPerf.Reporting.Charts;

/// <summary>All charts of a run, in the order of the report.</summary>
internal static class ChartCatalogue
{
    public static IReadOnlyList<string> Names { get; } = ["insert-rate", "query-rate", "query-throughput", "latency", "size", "restart", "threads", "timeline", "shards", "migrations", ScenarioFigures.NamePrefix + "*", ScenarioFigures.AutomaticPrefix + "*", LapChart.NamePrefix + "*"];

    /// <summary>Templates that others load.</summary>
    public static IReadOnlyList<string> SharedTemplates { get; } = ["common.gp", "by-documents.gp", "over-time.gp", FigureChart.Template, LapChart.Template];

    /// <summary>Those for which the run has results; none for a run that has measured nothing.</summary>
    public static IReadOnlyList<Chart> Build(StoredRun run) => run.Scenario is not null ? [.. ScenarioFigures.Of(FigureRun.Of(run)), .. LapChart.Build(run), .. new[] { TimelineChart.Build(run), ShardChart.Build(run), MigrationChart.Build(run) }.OfType<Chart>()] :
    [
        .. new[]
        {
            StepCharts.InsertRate(run),
            StepCharts.QueryRate(run),
            StepCharts.QueryThroughput(run),
            LatencyChart.Build(run),
            StepCharts.Size(run),
            RestartChart.Build(run),
            ThreadsChart.Build(run),
            TimelineChart.Build(run),
            ShardChart.Build(run),
            MigrationChart.Build(run),
        }.OfType<Chart>(),
    ];
}
