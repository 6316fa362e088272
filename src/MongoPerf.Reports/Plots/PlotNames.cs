using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Figures;

namespace MongoPerf.Reports.Plots;

/// <summary>Checks the names in a plot against the runs that it was drawn of: what a run does not have is left out.</summary>
public static class PlotNames
{
    /// <param name="plot">The plot.</param>
    /// <param name="runs">The runs that it was drawn of.</param>
    /// <param name="charts">Its charts.</param>
    public static IReadOnlyList<UnknownName> FindUnknown(PlotInfo plot, IReadOnlyList<FigureRun> runs, IReadOnlyList<Chart> charts)
    {
        if (plot.Figure is { } figure)
            return [.. FigureNames.FindUnknown(figure, runs)];
        // Over history, lines are deployments; the names are those of operations, with which the titles of panels begin.
        IEnumerable<Panel> panels = charts.SelectMany(static chart => chart.Panels);
        string[] drawn = [.. (plot.IsOfHistory ? panels.Select(static panel => panel.Title)
            : panels.SelectMany(static panel => panel.Series).Select(static line => line.Title)).Distinct()];
        return
        [
            .. plot.Panels.Where(panel => PlotReader.LinesOf(plot.X, panel.Show) is null).SelectMany(static panel => panel.Lines).Distinct()
                .Where(name => !drawn.Any(title => IsOf(title, name))).Select(static name => new UnknownName("lines", name, [])),
        ];
    }

    /// <summary>Says below a chart which of the names in its plot's file are left out.</summary>
    internal static Chart Note(Chart chart, PlotInfo plot, IReadOnlyList<FigureRun> runs)
    {
        string names = string.Join(", ", FindUnknown(plot, runs, [chart]).Select(static one => $"'{one.Name}'"));
        return names.Length == 0 ? chart : chart with
        {
            HowToRead = $"{chart.HowToRead} {Words.Of($"Left out, because nothing of that name was measured: {names}.")}".TrimStart(),
        };
    }

    /// <summary>Where an operation ran with several numbers of threads, its lines have them behind its name.</summary>
    private static bool IsOf(string title, string name) => title.StartsWith(name, StringComparison.Ordinal)
        && (title.Length == name.Length || !char.IsLetterOrDigit(title[name.Length]));
}
