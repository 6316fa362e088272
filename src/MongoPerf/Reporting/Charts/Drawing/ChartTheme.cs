namespace MongoPerf.Reporting.Charts.Drawing;

/// <summary>Colours of a picture, as #RRGGBB.</summary>
/// <param name="Ground">Behind everything.</param>
/// <param name="Ink">Of titles and ticks.</param>
/// <param name="Soft">Of what matters less, and of frames.</param>
/// <param name="Grid">Of the lines behind the data.</param>
/// <param name="Mark">Of marks and their labels.</param>
/// <param name="IsDark">The palette's colours for a dark ground.</param>
internal sealed record ChartTheme(string Ground, string Ink, string Soft, string Grid, string Mark, bool IsDark)
{
    public static ChartTheme Light { get; } = new("#FFFFFF", "#202020", "#606060", "#DDDDDD", "#8A2BE2", false);

    /// <summary>For paper: black letters, and lines that a copier keeps.</summary>
    public static ChartTheme Print { get; } = new("#FFFFFF", "#000000", "#303030", "#C4C4C4", "#5B1A9C", false);

    public static ChartTheme Dark { get; } = new("#181A1D", "#E6E6E6", "#A8A8A8", "#383C42", "#B583F0", true);

    /// <param name="name">In <see cref="Palette"/>.</param>
    public string ColorOf(string name) => IsDark ? Palette.Of(name).Dark : Palette.Of(name).Light;
}
