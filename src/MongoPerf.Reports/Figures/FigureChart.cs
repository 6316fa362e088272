namespace MongoPerf.Reports.Figures;

/// <summary>What figures over a dimension and figures over time have in common: panels above each other, a line for each value.</summary>
internal static class FigureChart
{
    /// <summary>The most lines of a figure: as many as there are colors that can be told apart.</summary>
    public const int MostLines = 8;
    private const int LegendCharacters = 22;

    /// <summary>Makes the line below the title: the runs that a figure shows.</summary>
    public static string Subtitle(IEnumerable<Observation> shown) => FigureRun.Subtitle([.. shown.Select(o => o.Run).Distinct()]);

    /// <summary>Makes a title for a legend beside the plot, in several rows if it must be.</summary>
    public static string Legend(string title) => Words.Wrap(title, LegendCharacters);

    /// <summary>Titles a line by what its observations have in common; the only line needs no legend and has no title.</summary>
    public static string LineTitle(Observation one, IReadOnlyList<string> dimensions)
    {
        // A phase need not have every parameter.
        string[] values = [.. dimensions.Where(d => one.ValueOf(d) is not null).Select(d => ValueText(d, one.ValueOf(d)))];
        return values.Length == 0 && dimensions.Count > 0 ? Units.None : string.Join(", ", values);
    }

    /// <summary>Says in a sentence that lines had to be left out; empty where none were.</summary>
    public static string LeftOut(int lines) =>
        lines > MostLines ? Words.Of($" Only the first {MostLines} of {lines} lines are shown.") : "";

    /// <summary>Names a value where its dimension is not named beside it.</summary>
    public static string ValueText(string dimension, string? value) => dimension switch
    {
        _ when value is null => Units.None,
        Dimension.Phase or Dimension.Operation or Dimension.Deployment => value,
        Dimension.Threads => value == "1" ? Words.Of("1 thread") : Words.Of($"{value} threads"),
        Dimension.Size => Words.Of($"at {value}"),
        _ => $"{dimension}={value}",
    };
}
