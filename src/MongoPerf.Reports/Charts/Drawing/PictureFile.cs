using System.Text;
using System.Text.RegularExpressions;
using SkiaSharp;

namespace MongoPerf.Reports.Charts.Drawing;

/// <summary>Makes pictures of charts. The same chart gives the same bytes.</summary>
public static partial class PictureFile
{
    /// <summary>Whether a failure means that the library that draws can't be loaded on this machine.</summary>
    public static bool MeansNoLibrary(Exception failure) =>
        failure is DllNotFoundException or TypeInitializationException { InnerException: DllNotFoundException };

    /// <summary>Says in a line why the library can't be loaded.</summary>
    /// <param name="failure">A failure of which <see cref="MeansNoLibrary"/> is true.</param>
    public static string NoLibraryText(Exception failure) =>
        $"the library that draws can't be loaded ({(failure.InnerException ?? failure).Message.Split('\n')[0].Trim()})";

    private static readonly SKPngEncoderOptions Compression = new(SKPngEncoderFilterFlags.AllFilters, 6);

    public static byte[] Png(Chart chart, ChartTheme theme, double scale = 1) => Png(chart, new ChartLayout(chart), theme, scale);

    public static string Svg(Chart chart, ChartTheme theme) => Svg(chart, new ChartLayout(chart), theme);

    /// <param name="chart">What is drawn.</param>
    /// <param name="layout">The chart's layout.</param>
    /// <param name="theme">The colors.</param>
    /// <param name="scale">The pixels of the picture for one of the layout.</param>
    public static byte[] Png(Chart chart, ChartLayout layout, ChartTheme theme, double scale)
    {
        using SKSurface surface = SKSurface.Create(new SKImageInfo(
            (int)Math.Round(layout.Width * scale), (int)Math.Round(layout.Height * scale), SKColorType.Rgba8888, SKAlphaType.Opaque));
        surface.Canvas.Clear(SKColor.Parse(theme.Background));
        surface.Canvas.Scale((float)scale);
        ChartPicture.Draw(chart, layout, theme, surface.Canvas);
        using SKPixmap pixels = surface.PeekPixels();
        using SKData data = pixels.Encode(Compression) ?? throw new InvalidOperationException("Skia encoded no PNG");
        return data.ToArray();
    }

    /// <inheritdoc cref="Png(Chart, ChartLayout, ChartTheme, double)"/>
    public static string Svg(Chart chart, ChartLayout layout, ChartTheme theme)
    {
        using var stream = new MemoryStream();
        using (SKCanvas canvas = SKSvgCanvas.Create(new SKRect(0, 0, (float)layout.Width, (float)layout.Height), stream))
        {
            using var ground = new SKPaint { Color = SKColor.Parse(theme.Background) };
            canvas.DrawRect(0, 0, (float)layout.Width, (float)layout.Height, ground);
            ChartPicture.Draw(chart, layout, theme, canvas);
        }

        // Skia numbers clip paths across pictures, so they are renumbered here.
        var clips = new List<string>();
        string svg = ClipName().Replace(Encoding.UTF8.GetString(stream.ToArray()), name =>
        {
            if (!clips.Contains(name.Value))
                clips.Add(name.Value);
            return $"clip{clips.IndexOf(name.Value) + 1}";
        });
        // As large as the page wants it, and readable where the font is not installed: Verdana's letters are as wide.
        return svg.Replace($"width=\"{layout.Width}\" height=\"{layout.Height}\">",
            $"viewBox=\"0 0 {layout.Width} {layout.Height}\">", StringComparison.Ordinal)
            .Replace("font-family=\"DejaVu Sans\"", "font-family=\"DejaVu Sans, Verdana, sans-serif\"", StringComparison.Ordinal);
    }

    [GeneratedRegex(@"(?<=id=""|url\(#)cl_[0-9a-f]+")]
    private static partial Regex ClipName();
}
