using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>
/// Draws the figures of a scenario file, then one for each phase with several values of a parameter that none of them shows.
/// </summary>
internal static class ScenarioFigures
{
    public const string NamePrefix = "figure-";
    public const string AutomaticPrefix = "sweep-";

    /// <summary>The most charts of one figure: a sweep may have hundreds of values.</summary>
    private const int MostParts = 12;

    /// <param name="runs">One run, or those of a comparison; the first one's scenario counts.</param>
    public static IReadOnlyList<Chart> Of(IReadOnlyList<FigureRun> runs)
    {
        IReadOnlyList<FigureInfo> figures = Listed(runs);
        HashSet<string> shown = [.. figures.SelectMany(figure => Shown(runs, figure, out _)).Select(o => o.Phase.Phase)];
        IEnumerable<FigureInfo> automatic = SweepFigures.Of(runs).Where(figure => !figure.Of.Phases.Any(shown.Contains));
        return
        [
            .. figures.SelectMany((figure, i) => Build(runs, figure, $"{NamePrefix}{i + 1}")),
            .. automatic.SelectMany((figure, i) => Build(runs, figure, $"{AutomaticPrefix}{i + 1}")),
        ];
    }

    /// <summary>Says in a sentence which figures and tables the runs have no results for.</summary>
    public static IEnumerable<string> LeftOut(IReadOnlyList<FigureRun> runs)
    {
        // A run that is still going will have them.
        if (runs.Any(r => r.Stored.Run.State == RunState.Running))
            yield break;
        foreach (FigureInfo figure in Listed(runs).Where(figure => Shown(runs, figure, out _).Length == 0))
            yield return Words.Of($"no figure '{figure.Title}': {Why(runs, figure.Of)}");
        foreach (TableInfo table in FigureTables.Listed(runs).Where(table => FigureTables.Build(runs, table) is null))
            yield return Words.Of($"no table '{table.Title}': {Why(runs, table.Of)}");
    }

    private static IReadOnlyList<FigureInfo> Listed(IReadOnlyList<FigureRun> runs) => runs[0].Stored.Settings.Plan.Figures;

    /// <summary>Makes one chart, or one for each value of a dimension where one would have more lines than can be told apart.</summary>
    public static IEnumerable<Chart> Build(IReadOnlyList<FigureRun> runs, FigureInfo figure, string name)
    {
        FigureInfo[] parts = Parts(runs, figure);
        return parts.Select((part, i) => Draw(runs, part, parts.Length == 1 ? name : $"{name}-{i + 1}")).OfType<Chart>();
    }

    private static Chart? Draw(IReadOnlyList<FigureRun> runs, FigureInfo figure, string name) =>
        figure.X == Dimension.Time ? TimeFigure.Build(runs, figure, name) : DimensionFigure.Build(runs, figure, name);

    /// <summary>
    /// Divides a figure by a dimension whose parts have few enough lines, and more than one to compare; otherwise it stays whole.
    /// </summary>
    /// <remarks>Deployments are compared, so they stay together, and what the file wants as lines is divided last.</remarks>
    private static FigureInfo[] Parts(IReadOnlyList<FigureRun> runs, FigureInfo figure)
    {
        Observation[] shown = Shown(runs, figure, out IReadOnlyList<string> dimensions);
        if (LinesOf(shown) <= FigureChart.MostLines)
            return [figure];
        foreach (string dimension in dimensions.Where(d => d != Dimension.Deployment).OrderBy(d => d == figure.Lines))
        {
            ILookup<string?, Observation> parts = shown.ToLookup(o => o.ValueOf(dimension));
            if (parts.Count is > 1 and <= MostParts
                && parts.All(part => part.Key is not null && LinesOf(part) is > 1 and <= FigureChart.MostLines))
                return [.. parts.Select(part => PartOf(figure, dimension, part.Key!))];
        }

        return [figure];

        int LinesOf(IEnumerable<Observation> observations) => observations.Select(o => Observations.Key(o, dimensions)).Distinct().Count();
    }

    private static FigureInfo PartOf(FigureInfo figure, string dimension, string value) => figure with
    {
        Title = $"{figure.Title} ({FigureChart.ValueText(dimension, value)})",
        Lines = figure.Lines == dimension ? null : figure.Lines,
        Of = figure.Of with { Where = [.. figure.Of.Where.Where(w => w.Name != dimension), new ParameterValue(dimension, value)] },
    };

    /// <summary>Chooses what a figure shows, and the dimensions that tell its lines apart.</summary>
    private static Observation[] Shown(IReadOnlyList<FigureRun> runs, FigureInfo figure, out IReadOnlyList<string> lines)
    {
        IReadOnlyList<Observation> chosen = Observations.Of(runs, figure, out lines);
        return figure.X == Dimension.Time ? [.. chosen]
            : [.. chosen.Where(o =>
                o.ValueOf(figure.X) is not null && figure.Y.Any(metric => o.Measure(FigureMetric.Find(metric)) is not null))];
    }

    private static string Why(IReadOnlyList<FigureRun> runs, ResultChoice choice)
    {
        string[] deployments = [.. runs.Select(r => r.Deployment).Distinct()];
        if (choice.Where.FirstOrDefault(w => w.Name == Dimension.Deployment && !deployments.Contains(w.Value)) is { } missing)
            return Words.Of($"it shows {missing.Value}, "
                + $"but {(runs.Count == 1 ? Words.Of("this run used") : Words.Of("these runs used"))} {string.Join(", ", deployments)}");
        IEnumerable<string> wanted = choice.Where.Select(w => $"{w.Name}={w.Value}")
            .Concat(choice.Phases.Select(p => Words.Of($"phase {p}"))).Concat(choice.Operations.Select(o => Words.Of($"operation {o}")));
        return Words.Of($"no results ({string.Join(", ", wanted.DefaultIfEmpty(Words.Of("any phase")))})");
    }
}
