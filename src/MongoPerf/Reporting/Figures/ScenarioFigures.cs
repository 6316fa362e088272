using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Figures;

/// <summary>The figures of a scenario file, then one for each phase with several values of a parameter that none of them shows.</summary>
internal static class ScenarioFigures
{
    public const string NamePrefix = "figure-";
    public const string AutomaticPrefix = "sweep-";

    /// <param name="runs">One, or those of a comparison; the first one's scenario counts.</param>
    /// <param name="prefix">Before the charts' names.</param>
    public static IReadOnlyList<Chart> Of(IReadOnlyList<FigureRun> runs, string prefix = "")
    {
        IReadOnlyList<FigureInfo> figures = Listed(runs);
        HashSet<string> shown = [.. figures.SelectMany(figure => Taken(runs, figure)).Select(o => o.Phase.Phase)];
        IEnumerable<FigureInfo> automatic = SweepFigures.Of(runs).Where(figure => !figure.Of.Phases.Any(shown.Contains));
        return
        [
            .. figures.Select((figure, i) => Build(runs, figure, $"{prefix}{NamePrefix}{i + 1}")).OfType<Chart>(),
            .. automatic.Select((figure, i) => Build(runs, figure, $"{prefix}{AutomaticPrefix}{i + 1}")).OfType<Chart>(),
        ];
    }

    /// <summary>A sentence for each figure and table that the runs have no results for.</summary>
    public static IEnumerable<string> LeftOut(IReadOnlyList<FigureRun> runs)
    {
        // A run that is still going will have them.
        if (runs.Any(r => r.Stored.Run.State == RunState.Running))
            yield break;
        foreach (FigureInfo figure in Listed(runs).Where(figure => !Taken(runs, figure).Any()))
            yield return Words.Of($"no figure '{figure.Title}': {Why(runs, figure.Of)}");
        foreach (TableInfo table in FigureTables.Listed(runs).Where(table => FigureTables.Build(runs, table) is null))
            yield return Words.Of($"no table '{table.Title}': {Why(runs, table.Of)}");
    }

    private static IReadOnlyList<FigureInfo> Listed(IReadOnlyList<FigureRun> runs) =>
        [.. runs[0].Stored.Settings.Plan.Figures.Select(figure => figure with { Title = FigureTables.TrueTitle(runs[0].Stored.Settings.Plan, figure.Title) })];

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
            return Words.Of($"it shows {missing.Value}, {(runs.Count == 1 ? Words.Of("this run used") : Words.Of("these runs used"))} {string.Join(", ", deployments)}");
        IEnumerable<string> wanted = choice.Where.Select(w => $"{w.Name}={w.Value}").Concat(choice.Phases.Select(p => Words.Of($"phase {p}"))).Concat(choice.Operations.Select(o => Words.Of($"operation {o}")));
        return Words.Of($"no results ({string.Join(", ", wanted.DefaultIfEmpty(Words.Of("any phase")))})");
    }
}
