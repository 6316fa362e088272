using MongoPerf.Reports.Plots;

namespace MongoPerf.Reports.Charts.Drawing;

/// <summary>The colors of a picture that carry no data, as #RRGGBB; plots/style.yaml has them.</summary>
/// <param name="Background">The color behind everything.</param>
/// <param name="Text">The color of titles and ticks.</param>
/// <param name="Muted">The color of what matters less, and of frames.</param>
/// <param name="Grid">The color of the lines behind the data.</param>
/// <param name="Mark">The color of marks and their labels.</param>
/// <param name="IsDark">Lines have the palette's colors for a dark background.</param>
public sealed record ChartTheme(string Background, string Text, string Muted, string Grid, string Mark, bool IsDark)
{
    public static ChartTheme Light => Of("light");

    public static ChartTheme Dark => Of("dark");

    /// <param name="name">light, dark or print.</param>
    public static ChartTheme Of(string name) => PlotStyle.Current.Themes[name];

    /// <summary>The color of a line or band, as #RRGGBB.</summary>
    /// <param name="name">Its name in <see cref="Palette"/>.</param>
    public string ColorOf(string name) => IsDark ? Palette.Of(name).Dark : Palette.Of(name).Light;
}
