using ScottPlot;
using SkiaSharp;

namespace MongoPerf.Reports.Charts.Drawing;

/// <summary>
/// A line that ends where values are missing, with points that the frame does not cut, and with dashes that an SVG has too. ScottPlot's
/// own has none of these.
/// </summary>
/// <param name="pieces">The pieces of the line, each drawn by itself.</param>
internal sealed class LinePlottable(IReadOnlyList<Coordinates[]> pieces) : IPlottable
{
    /// <summary>The lengths of dashes and gaps in turn, in pixels; empty for a solid line.</summary>
    public float[] Dashes { get; init; } = [];

    public LineStyle Line { get; init; } = new();

    /// <summary>What points look like; null for a line only, which shows points that stand alone.</summary>
    public MarkerStyle? Marker { get; init; }

    public bool IsVisible { get; set; } = true;

    public IAxes Axes { get; set; } = new Axes();

    public IEnumerable<LegendItem> LegendItems => [];

    public AxisLimits GetAxisLimits() => AxisLimits.NoLimits;

    public void Render(RenderPack rp)
    {
        using var path = new SKPath();
        foreach (Coordinates[] piece in pieces.Where(static piece => piece.Length > 1))
        {
            path.MoveTo(At(piece[0]));
            foreach (Coordinates one in piece.AsSpan(1))
                path.LineTo(At(one));
        }

        Stroke(rp.Canvas, rp.Paint, path, Line, Dashes);
        // Points on the frame are whole.
        rp.CanvasState.DisableClipping();
        if (Marker is not null)
            ScottPlot.Drawing.DrawMarkers(rp.Canvas, rp.Paint, pieces.SelectMany(static piece => piece).Select(Axes.GetPixel), Marker);
        else
            ScottPlot.Drawing.DrawMarkers(
                rp.Canvas, rp.Paint, pieces.Where(static piece => piece.Length == 1).Select(piece => Axes.GetPixel(piece[0])),
                new MarkerStyle(MarkerShape.FilledCircle, Line.Width + 1, Line.Color));
    }

    /// <summary>Draws a path. Dashes become shapes, as Skia's SVG knows no dashed lines.</summary>
    public static void Stroke(SKCanvas canvas, Paint paint, SKPath path, LineStyle line, float[] dashes)
    {
        if (dashes.Length == 0)
        {
            ScottPlot.Drawing.DrawPath(canvas, paint, path, line);
            return;
        }

        using SKPathEffect effect = SKPathEffect.CreateDash(dashes, 0);
        using var stroke = new SKPaint { IsStroke = true, StrokeWidth = line.Width, PathEffect = effect };
        using var outline = new SKPath();
        if (stroke.GetFillPath(path, outline))
            ScottPlot.Drawing.FillPath(canvas, paint, outline, new FillStyle { Color = line.Color });
    }

    private SKPoint At(Coordinates one)
    {
        Pixel pixel = Axes.GetPixel(one);
        return new SKPoint(pixel.X, pixel.Y);
    }
}
