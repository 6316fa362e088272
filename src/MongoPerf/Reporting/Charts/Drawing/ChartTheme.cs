using MongoPerf.Reporting.Plots;

namespace MongoPerf.Reporting.Charts.Drawing;

/// <summary>Colours of a picture, as #RRGGBB; plots/style.yaml has them.</summary>
/// <param name="Ground">Behind everything.</param>
/// <param name="Ink">Of titles and ticks.</param>
/// <param name="Soft">Of what matters less, and of frames.</param>
/// <param name="Grid">Of the lines behind the data.</param>
/// <param name="Mark">Of marks and their labels.</param>
/// <param name="IsDark">The palette's colours for a dark ground.</param>
internal sealed record ChartTheme(string Ground, string Ink, string Soft, string Grid, string Mark, bool IsDark)
{
    public static ChartTheme Light => Of("light");

    public static ChartTheme Dark => Of("dark");

    /// <param name="name">light, dark or print.</param>
    public static ChartTheme Of(string name) => PlotStyle.Current.Themes[name];

    /// <param name="name">In <see cref="Palette"/>.</param>
    public string ColorOf(string name) => IsDark ? Palette.Of(name).Dark : Palette.Of(name).Light;
}
