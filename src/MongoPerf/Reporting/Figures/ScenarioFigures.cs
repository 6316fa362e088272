using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Figures;

/// <summary>The figures of a scenario: those that it asks for, then one for each phase that none of them shows.</summary>
internal static class ScenarioFigures
{
    public const string NamePrefix = "figure-";
    public const string AutomaticPrefix = "sweep-";

    /// <param name="runs">One, or those of a comparison; the first says what is asked for.</param>
    /// <param name="prefix">Before the charts' names.</param>
    public static IReadOnlyList<Chart> Of(IReadOnlyList<FigureRun> runs, string prefix = "")
    {
        IReadOnlyList<FigureInfo> asked = Asked(runs);
        HashSet<string> shown = [.. asked.SelectMany(figure => Taken(runs, figure)).Select(o => o.Point.Point.Phase)];
        IEnumerable<FigureInfo> automatic = SweepFigures.Of(runs).Where(figure => !figure.Of.Phases.Any(shown.Contains));
        return
        [
            .. asked.Select((figure, i) => Build(runs, figure, $"{prefix}{NamePrefix}{i + 1}")).OfType<Chart>(),
            .. automatic.Select((figure, i) => Build(runs, figure, $"{prefix}{AutomaticPrefix}{i + 1}")).OfType<Chart>(),
        ];
    }

    /// <summary>A sentence for each figure and table that the runs have no results for.</summary>
    public static IEnumerable<string> LeftOut(IReadOnlyList<FigureRun> runs)
    {
        // A run that still goes will have them.
        if (runs.Any(r => r.Stored.Run.State == RunState.Running))
            yield break;
        foreach (FigureInfo figure in Asked(runs).Where(figure => !Taken(runs, figure).Any()))
            yield return $"figure '{figure.Title}' is left out: {Why(runs, figure.Of)}";
        foreach (TableInfo table in FigureTables.Asked(runs).Where(table => FigureTables.Build(runs, table) is null))
            yield return $"table '{table.Title}' is left out: {Why(runs, table.Of)}";
    }

    private static IReadOnlyList<FigureInfo> Asked(IReadOnlyList<FigureRun> runs) => runs[0].Stored.Scenario?.Figures ?? [];

    private static Chart? Build(IReadOnlyList<FigureRun> runs, FigureInfo figure, string name) =>
        figure.X == Dimension.Time ? TimeFigure.Build(runs, figure, name) : DimensionFigure.Build(runs, figure, name);

    /// <summary>What a figure shows.</summary>
    private static IEnumerable<Observation> Taken(IReadOnlyList<FigureRun> runs, FigureInfo figure)
    {
        Observations chosen = Observations.Of(runs, figure.Of, figure.Y, [figure.X]);
        return figure.X == Dimension.Time ? chosen.All
            : chosen.All.Where(o => o.ValueOf(figure.X) is not null && figure.Y.Any(metric => o.Measure(FigureMetric.Find(metric)) is not null));
    }

    private static string Why(IReadOnlyList<FigureRun> runs, ResultChoice choice)
    {
        string[] deployments = [.. runs.Select(r => r.Deployment).Distinct()];
        if (choice.Where.FirstOrDefault(w => w.Name == Dimension.Deployment && !deployments.Contains(w.Value)) is { } missing)
            return $"it shows {missing.Value}, {(runs.Count == 1 ? "this run is" : "these runs are")} of {string.Join(", ", deployments)}";
        IEnumerable<string> wanted = choice.Where.Select(w => $"{w.Name}={w.Value}").Concat(choice.Phases.Select(p => $"phase {p}")).Concat(choice.Operations.Select(o => $"operation {o}"));
        return $"nothing was measured for it ({string.Join(", ", wanted.DefaultIfEmpty("of any phase"))})";
    }
}
