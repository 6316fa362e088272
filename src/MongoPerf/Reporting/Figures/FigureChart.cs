using MongoPerf.Reporting.Charts;
using Panel = MongoPerf.Reporting.Charts.TimelinePanels.Panel;

namespace MongoPerf.Reporting.Figures;

/// <summary>What figures over a dimension and figures over time have in common: panels above each other, a line for each value.</summary>
internal static class FigureChart
{
    public const string Template = "figure.gp";

    /// <summary>As many as there are colours that can be told apart.</summary>
    public const int MostLines = 8;
    private const int LegendCharacters = 22;
    private const int LegendRowPixels = 27;

    /// <summary>Height of the plots, by their number.</summary>
    private static int PanelPixels(int panels) => panels switch { 1 => 520, 2 => 360, 3 => 280, 4 => 240, _ => OverTime.PanelPixels };

    /// <param name="name">Of its files.</param>
    /// <param name="title">Above it.</param>
    /// <param name="shown">What it shows: the runs are named.</param>
    /// <param name="all">One at least.</param>
    public static GnuplotSettings Head(string name, string title, IEnumerable<Observation> shown, IReadOnlyList<Panel> all)
    {
        Panel[] panels = WithOneLegend(all);
        var settings = GnuplotSettings.Of(name, title, FigureRun.Subtitle([.. shown.Select(o => o.Run).Distinct()]))
            .Set("panel_pixels", Math.Max(PanelPixels(panels.Length), PixelsForLegend(panels)))
            .Set("documents_tics", "")
            .SetBands([]);
        TimelinePanels.Set(settings, panels);
        return settings;
    }

    /// <summary>A line has its colour in every panel, so it is named where it comes first.</summary>
    private static Panel[] WithOneLegend(IReadOnlyList<Panel> panels)
    {
        var named = new HashSet<string>();
        return [.. panels.Select(panel => panel with { Lines = [.. panel.Lines.Select(line => named.Add(line.Color) ? line : line with { Title = "" })] })];
    }

    /// <summary>The first panel's legend may run down beside those below, if they have none.</summary>
    private static double PixelsForLegend(Panel[] panels)
    {
        double[] pixels = [.. panels.Select(panel => panel.Lines.Sum(line => TimelinePanels.RowsOf(line.Title))).Select(rows => rows == 0 ? 0 : 40 + (LegendRowPixels * rows))];
        return pixels.Skip(1).All(p => p == 0) ? pixels[0] / panels.Length : pixels.Max();
    }

    public static string Colour(int line) => $"s{line + 1}";

    /// <summary>In a legend beside the plot, in several rows if it must be.</summary>
    public static string Legend(string title) => ChartText.Wrap(title, LegendCharacters);

    /// <summary>Of one line: what its observations have in common; nothing for the only one, which needs no legend.</summary>
    public static string LineTitle(Observation one, IReadOnlyList<string> dimensions)
    {
        // A phase need not have every parameter.
        string[] values = [.. dimensions.Where(d => one.ValueOf(d) is not null).Select(d => ValueText(d, one.ValueOf(d)))];
        return values.Length == 0 && dimensions.Count > 0 ? Units.None : string.Join(", ", values);
    }

    /// <summary>A sentence, where lines had to be left out.</summary>
    public static string LeftOut(int lines) => lines > MostLines ? Words.Of($" Only the first {MostLines} of {lines} lines are shown.") : "";

    /// <summary>What a value is called where its dimension is not named beside it.</summary>
    public static string ValueText(string dimension, string? value) => dimension switch
    {
        _ when value is null => Units.None,
        Dimension.Phase or Dimension.Operation or Dimension.Deployment => value,
        Dimension.Threads => value == "1" ? Words.Of("1 thread") : Words.Of($"{value} threads"),
        Dimension.Size => Words.Of($"at {value}"),
        _ => $"{dimension}={value}",
    };
}
