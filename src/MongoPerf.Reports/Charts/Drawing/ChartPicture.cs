using ScottPlot;
using ScottPlot.Rendering.RenderActions;
using SkiaSharp;
using PlotStyle = MongoPerf.Reports.Plots.PlotStyle;

namespace MongoPerf.Reports.Charts.Drawing;

/// <summary>
/// Draws a chart with ScottPlot where <see cref="ChartLayout"/> says: a plot for each panel on one canvas, with titles, legends and
/// ticks around them. Nothing else knows ScottPlot but what saves pictures.
/// </summary>
internal sealed class ChartPicture
{
    /// <summary>The pixels from a panel to the legend beside it, from there to the legend's texts, and the length of its lines.</summary>
    private const double LegendGap = 19;
    private const double LegendText = 58;
    private const double LegendLine = 29;

    /// <summary>The pixels from the picture's edges to what stands at them.</summary>
    private const double Edge = 29;

    /// <summary>The height from one row of a text to the next, in sizes of its letters.</summary>
    private const float RowHeight = 1.3f;

    /// <summary>The pixels that a panel's title takes for a character.</summary>
    private const double TitleCharacter = 10;

    /// <summary>The share of a name's room that its bars take.</summary>
    private const double BarsShare = 0.8;

    private const float TickLength = 5;

    /// <summary>The pixels between texts at ticks.</summary>
    private const double LeastGap = 6;

    /// <summary>The dashes by <see cref="Series.Dash"/>, from 1 on: solid, dashed, dotted and both.</summary>
    private static readonly float[][] Dashes = [[], [10, 6], [3, 5], [15, 5, 3, 5], [15, 5, 3, 5, 3, 5]];

    private readonly Chart _chart;
    private readonly ChartLayout _layout;
    private readonly ChartTheme _theme;
    private readonly SKCanvas _canvas;
    private readonly Paint _paint;

    /// <summary>
    /// The width of frames and grids in the layout's pixels: one of the picture at least, or they would be lost in a small one.
    /// </summary>
    private readonly float _hairline;

    private ChartPicture(Chart chart, ChartLayout layout, ChartTheme theme, SKCanvas canvas, Paint paint)
    {
        (_chart, _layout, _theme, _canvas, _paint) = (chart, layout, theme, canvas, paint);
        _hairline = Math.Max(1, 1 / canvas.TotalMatrix.ScaleX);
    }

    /// <summary>Font sizes, in pixels.</summary>
    private static float TitleSize => SizeOf("title");

    private static float VerdictSize => SizeOf("verdict");

    private static float TextSize => SizeOf("text");

    private static float SmallSize => SizeOf("small");

    private static float MarkSize => SizeOf("mark");

    private static float SizeOf(string text) => (float)PlotStyle.Current.FontSizes[text];

    /// <summary>Draws a chart, and leaves the background as it is.</summary>
    /// <param name="chart">What is shown.</param>
    /// <param name="layout">The chart's layout.</param>
    /// <param name="theme">The colors.</param>
    /// <param name="canvas">One of its units is a pixel of the layout.</param>
    public static void Draw(Chart chart, ChartLayout layout, ChartTheme theme, SKCanvas canvas)
    {
        using var paint = Paint.NewDisposablePaint();
        var picture = new ChartPicture(chart, layout, theme, canvas, paint);
        picture.DrawHead();
        for (int i = 0; i < chart.Panels.Count; i++)
            picture.DrawPanel(i);
    }

    private void DrawPanel(int number)
    {
        Panel panel = _chart.Panels[number];
        ChartLayout.Place place = _layout.Panels[number];
        foreach (Band band in _chart.Bands)
            FillBand(place, band);
        DrawPlot(panel, place);
        DrawPanelTitle(panel, place);
        double legendY = DrawLegendBeside(number, place);
        if (number == 0)
            DrawLegendOfBands(place, legendY);
        DrawTicks(number, panel, place);
    }

    private void DrawPlot(Panel panel, ChartLayout.Place place)
    {
        using var plot = new Plot();
        plot.Layout.Fixed(new PixelRect((float)place.Left, (float)place.Right, (float)place.Bottom, (float)place.Top));
        // Places on all axes are shares of their length: linear, logarithmic or the other way round is the scale's to know.
        plot.Axes.SetLimits(0, 1, 0, 1);
        foreach (IAxis axis in plot.Axes.GetAxes())
            Style(axis);
        SetTicks(plot.Axes.Bottom, _chart.X);
        SetTicks(plot.Axes.Left, panel.Y);
        plot.Axes.Right.IsVisible = panel.Right is { Label.Length: > 0 };
        if (panel.Right is { Label.Length: > 0 } right)
            SetTicks(plot.Axes.Right, right);
        plot.Axes.Top.IsVisible = false;
        plot.Grid.IsVisible = true;
        plot.Grid.LineColor = Color(_theme.Grid);
        plot.Grid.MajorLineWidth = _hairline;
        AddMarks(plot, panel);
        if (_chart.X.IsOfNames)
            AddBars(plot, panel);
        else
            AddLines(plot, panel);

        // Not Plot.Render: it draws twice, the second time over the first.
        using var pack = new RenderPack(plot, new PixelRect(0, (float)_layout.Width, (float)_layout.Height, 0), _canvas);
        foreach (IRenderAction action in (IRenderAction[])[new ReplaceNullAxesWithDefaults(), new CalculateLayout(),
            new RenderGridsBelowPlottables(), new RenderPlottables(), new RenderPanels()])
        {
            pack.CanvasState.Save();
            action.Render(pack);
            pack.CanvasState.RestoreAll();
        }
    }

    private void Style(IAxis axis)
    {
        axis.FrameLineStyle.Color = Color(_theme.Muted);
        axis.FrameLineStyle.Width = _hairline;
        axis.MajorTickStyle.Color = Color(_theme.Muted);
        axis.MajorTickStyle.Width = _hairline;
        axis.MajorTickStyle.Length = TickLength;
    }

    private static void SetTicks(IAxis axis, AxisScale scale) =>
        axis.TickGenerator = new FixedTicks([.. TicksOf(scale).Select(tick => ScottPlot.Tick.Major(scale.Share(tick.At), ""))]);

    private void AddMarks(Plot plot, Panel panel)
    {
        foreach (double at in _layout.Marks.Select(mark => _chart.X.Share(mark.X)))
            plot.Add.Plottable(new LinePlottable([[new Coordinates(at, 0), new Coordinates(at, 1)]])
            {
                Line = new LineStyle(1.5f, Color(_theme.Mark)), Dashes = [8, 6],
            });
        if (panel.Limit is not (double limit, _))
            return;
        double share = panel.Y.Share(limit);
        plot.Add.Plottable(new LinePlottable([[new Coordinates(0, share), new Coordinates(1, share)]])
        {
            Line = new LineStyle(2, ColorOf("limit")), Dashes = Dashes[2],
        });
    }

    private void AddLines(Plot plot, Panel panel)
    {
        foreach (Series series in panel.Series.Where(static series => series is { HasSpread: true, LiesAcross: false }))
        {
            foreach ((double X, double Top, double Bottom)[] piece in Spreads(panel, series))
            {
                ScottPlot.Plottables.FillY spread = plot.Add.FillY(piece);
                spread.FillStyle.Color = ColorOf(series.Color).WithOpacity(0.16);
                spread.LineStyle.IsVisible = spread.MarkerStyle.IsVisible = false;
            }
        }

        foreach (Series series in panel.Series)
        {
            if (series.LiesAcross)
                AddInterval(plot, panel, series);
            else
                plot.Add.Plottable(Line(panel, series));
        }
    }

    private LinePlottable Line(Panel panel, Series series)
    {
        float width = _layout.IsGrid ? 2 : _chart.HasLegendAbove ? 2.5f : 1.6f;
        float size = PointSize(panel, series) * (float)series.PointSize;
        return new LinePlottable(Pieces(panel, series))
        {
            Line = new LineStyle(width, ColorOf(series.Color)) { StrokeJoin = SKStrokeJoin.Round },
            Dashes = Dashes[(series.Dash - 1) % Dashes.Length],
            Marker = size > 0 ? Marker(series.Color, size) : null,
        };
    }

    /// <summary>Adds points in their intervals: values on the axis that all panels share, rows on the panel's own.</summary>
    private void AddInterval(Plot plot, Panel panel, Series series)
    {
        (double X, double Y, double Low, double High)[] rows =
        [
            .. series.Table.Rows.Where(row => double.IsFinite(row[series.Column]))
                .Select(row => (_chart.X.Share(row[series.Column]), panel.Y.Share(row[0]), _chart.X.Share(row[series.Column + 1]),
                    _chart.X.Share(row[series.Column + 2]))),
        ];
        double[] xs = [.. rows.Select(static row => row.X)];
        double[] ys = [.. rows.Select(static row => row.Y)];
        plot.Add.Plottable(new ScottPlot.Plottables.ErrorBar(xs, ys, [.. rows.Select(static row => row.High - row.X)],
            [.. rows.Select(static row => row.X - row.Low)], null, null)
        {
            LineStyle = new LineStyle(2.5f, ColorOf(series.Color)), CapSize = 5,
        });
        plot.Add.Plottable(new LinePlottable([.. rows.Select(static row => new[] { new Coordinates(row.X, row.Y) })])
        {
            Marker = Marker(series.Color, 1.2f),
        });
    }

    /// <summary>Adds bars, or points where the axis has no 0: names stand apart, what was measured of one stands side by side.</summary>
    private void AddBars(Plot plot, Panel panel)
    {
        string[] colors = [.. _chart.Panels.SelectMany(static one => one.Series).Select(static series => series.Color).Distinct()];
        double width = BarsShare / colors.Length;
        double room = _chart.X.Share(1) - _chart.X.Share(0);
        foreach (Series series in panel.Series)
        {
            double beside = (Array.IndexOf(colors, series.Color) - ((colors.Length - 1) / 2.0)) * width;
            (double X, double Y)[] places =
                [.. series.Table.Rows.Where(row => double.IsFinite(row[series.Column]))
                    .Select(row => (_chart.X.Share(row[0] + beside), panel.Y.Share(row[series.Column])))];
            if (panel.Y.IsLogarithmic)
            {
                plot.Add.Plottable(new LinePlottable([.. places.Select(static place => new[] { new Coordinates(place.X, place.Y) })])
                {
                    Marker = Marker(series.Color, 1.4f),
                });
                continue;
            }

            Bar[] bars =
            [
                .. places.Select(place => new Bar
                {
                    Position = place.X, Value = place.Y, ValueBase = panel.Y.Share(0), Size = width * 0.94 * room,
                    FillColor = ColorOf(series.Color).WithOpacity(0.9), LineWidth = 0,
                }),
            ];
            plot.Add.Bars(bars);
        }
    }

    /// <summary>
    /// Divides a line into pieces: one ends where a value is missing for good, and goes on where only other lines have values.
    /// </summary>
    private List<Coordinates[]> Pieces(Panel panel, Series series)
    {
        var pieces = new List<Coordinates[]>();
        var piece = new List<Coordinates>();
        foreach (double[] row in series.Table.Rows)
        {
            double value = row[series.Column];
            var place = new Coordinates(_chart.X.Share(row[0]), panel.Y.Share(value));
            if (double.IsFinite(place.X) && double.IsFinite(place.Y))
                piece.Add(place);
            else if (value != ChartTable.None)
                End();
        }

        End();
        return pieces;

        void End()
        {
            if (piece.Count > 0)
                pieces.Add([.. piece]);
            piece.Clear();
        }
    }

    private IEnumerable<(double X, double Top, double Bottom)[]> Spreads(Panel panel, Series series)
    {
        var piece = new List<(double X, double Top, double Bottom)>();
        foreach (double[] row in series.Table.Rows.Append(null!))
        {
            if (row is not null && double.IsFinite(row[series.Column + 1]) && double.IsFinite(row[series.Column + 2]))
            {
                piece.Add((_chart.X.Share(row[0]), panel.Y.Share(row[series.Column + 2]), panel.Y.Share(row[series.Column + 1])));
                continue;
            }

            if (row?[series.Column + 1] == ChartTable.None)
                continue;
            if (piece.Count > 1)
                yield return [.. piece];
            piece.Clear();
        }
    }

    /// <summary>
    /// Rates come in short pieces that need points, a server's state is one long line. Of very many points only those that stand alone
    /// are seen.
    /// </summary>
    private float PointSize(Panel panel, Series series) => (_layout.IsGrid ? 0.8f : 1) * series.Table.Rows.Count switch
    {
        <= 3 => 1.2f,
        _ when panel.IsState => 0,
        <= 40 => 1.1f,
        <= 400 => 0.6f,
        _ => 0,
    };

    /// <param name="color">The name in the palette, which has the shape too.</param>
    /// <param name="size">The size; 1 is that of points which stand for one number.</param>
    private MarkerStyle Marker(string color, float size)
    {
        (MarkerShape shape, float factor) = Palette.Of(color).Marker switch
        {
            Charts.Marker.Circle => (MarkerShape.FilledCircle, 1f),
            Charts.Marker.Square => (MarkerShape.FilledSquare, 0.9f),
            Charts.Marker.Triangle => (MarkerShape.FilledTriangleUp, 1.3f),
            Charts.Marker.TriangleDown => (MarkerShape.FilledTriangleDown, 1.3f),
            Charts.Marker.Diamond => (MarkerShape.FilledDiamond, 1.2f),
            Charts.Marker.OpenCircle => (MarkerShape.OpenCircle, 1f),
            Charts.Marker.OpenSquare => (MarkerShape.OpenSquare, 0.9f),
            _ => (MarkerShape.OpenTriangleUp, 1.3f),
        };
        return new MarkerStyle(shape, 8.4f * size * factor, ColorOf(color)) { LineWidth = 1.6f };
    }

    /// <summary>Draws what stands above the panels, and below those in a grid.</summary>
    private void DrawHead()
    {
        double room = _layout.Width - (2 * Edge);
        Write(_chart.Title, Edge, _layout.TitleY, TitleSize, _theme.Text, room: room);
        Write(_chart.Subtitle, Edge, _layout.SubtitleY, SmallSize, _theme.Muted, room: room);
        Write(_layout.Verdict, Edge, _layout.VerdictY, VerdictSize, _theme.Text, room: room);
        foreach ((double x, double y, Series series) in _layout.LegendAbove)
            DrawLegendEntry(series, x, y, 42, 53, TextSize);
        if (_layout.IsGrid)
        {
            Write(string.Join(" · ", _chart.Marks.Select(static mark => mark.Label)), 109, _layout.NoteY, MarkSize, _theme.Mark,
                room: _layout.Width - 109 - Edge);
            Write(_chart.X.Label, _layout.Width / 2, _layout.Height - 22, TextSize, _theme.Text, SKTextAlign.Center);
        }

        ChartLayout.Place first = _layout.Panels[0];
        foreach (PlacedMark mark in _layout.Marks)
            Write(mark.Text, PlaceOf(first, _chart.X, mark.X), _layout.MarkY(mark), MarkSize, _theme.Mark,
                mark.IsLeftOfLine ? SKTextAlign.Right : SKTextAlign.Left);

        if (_chart.Top is not { } top)
            return;
        foreach (Tick tick in TicksOf(top))
        {
            float x = (float)PlaceOf(first, top, tick.At);
            ScottPlot.Drawing.DrawLine(_canvas, _paint, new Pixel(x, (float)first.Top), new Pixel(x, (float)first.Top - TickLength),
                Color(_theme.Muted), width: _hairline, antiAlias: false);
            Write(tick.Text, x, first.Top - 20, TextSize, _theme.Muted, SKTextAlign.Center);
        }

        ScottPlot.Drawing.DrawLine(_canvas, _paint, new Pixel((float)first.Left, (float)first.Top),
            new Pixel((float)first.Right, (float)first.Top), Color(_theme.Muted), width: _hairline, antiAlias: false);
        Write(top.Label, first.Left - 13, first.Top - 20, SmallSize, _theme.Muted, SKTextAlign.Right);
    }

    private void DrawPanelTitle(Panel panel, ChartLayout.Place place)
    {
        if (_layout.IsGrid)
            Write(panel.Label, place.Left, place.Top - 16, TextSize, panel.Color.Length > 0 ? _theme.ColorOf(panel.Color) : _theme.Text,
                room: place.Right - place.Left);
        else
            DrawTitleBeside(panel.Label, place);
        if (panel.Right is { Label.Length: > 0 } right)
            Write(right.Label, _layout.Width * 0.985, (place.Top + place.Bottom) / 2, TextSize, _theme.Text,
                SKTextAlign.Center, rotation: -90);
    }

    /// <summary>Writes a title in two rows at most, which shrink where a panel is low.</summary>
    private void DrawTitleBeside(string title, ChartLayout.Place place)
    {
        double height = place.Bottom - place.Top;
        string wrapped = Words.Wrap(title, (int)(height / TitleCharacter));
        for (int width = Words.Width(title) / 2; wrapped.Count(static c => c == '\n') > 1; width++)
            wrapped = Words.Wrap(title, width);
        Write(wrapped, Edge, (place.Top + place.Bottom) / 2, TextSize, _theme.Text, SKTextAlign.Center, rotation: -90, room: height + 20);
    }

    /// <summary>Draws the texts of ticks, whose lines are the plot's. One that would lie on the last is left out.</summary>
    private void DrawTicks(int number, Panel panel, ChartLayout.Place place)
    {
        bool isLast = number == _chart.Panels.Count - 1;
        if (_layout.IsGrid || isLast)
        {
            double end = double.NegativeInfinity;
            foreach (Tick tick in TicksOf(_chart.X))
            {
                double x = PlaceOf(place, _chart.X, tick.At);
                double half = _layout.HasSlopingNames ? 0 : WidthOf(tick.Text, TextSize) / 2;
                if (x - half < end)
                    continue;
                end = x + half + LeastGap;
                if (_layout.HasSlopingNames)
                    Write(tick.Text, x, place.Bottom + 16, TextSize, _theme.Text, rotation: 20);
                else
                    Write(tick.Text, x, place.Bottom + 20, TextSize, _theme.Text, SKTextAlign.Center);
            }
        }

        if (isLast && !_layout.IsGrid)
            Write(_chart.X.Label, (place.Left + place.Right) / 2, place.Bottom + (_layout.HasSlopingNames ? 122 : 54), TextSize,
                _theme.Text, SKTextAlign.Center);
        if (!_layout.SharesValues || number % _chart.Columns == 0)
        {
            foreach ((string text, double y) in Apart(place, panel.Y))
                Write(text, place.Left - 12, y, TextSize, _theme.Text, SKTextAlign.Right, isCentered: true);
        }

        foreach ((string text, double y) in panel.Right is null ? [] : Apart(place, panel.Right))
            Write(text, place.Right + 12, y, TextSize, _theme.Text, isCentered: true);
    }

    /// <summary>Chooses the texts of an axis of values that don't lie on one another.</summary>
    private static IEnumerable<(string Text, double Y)> Apart(ChartLayout.Place place, AxisScale scale)
    {
        double last = double.NegativeInfinity;
        foreach (Tick tick in TicksOf(scale))
        {
            double y = HeightOf(place, scale, tick.At);
            if (Math.Abs(y - last) < TextSize)
                continue;
            last = y;
            yield return (tick.Text, y);
        }
    }

    private static double WidthOf(string text, float size)
    {
        using var font = new SKFont(ChartFonts.Of(text), size);
        return text.Split('\n').Max(row => font.MeasureText(row));
    }

    /// <returns>Where the next entry would stand.</returns>
    private double DrawLegendBeside(int number, ChartLayout.Place place)
    {
        Panel panel = _chart.Panels[number];
        double y = place.Top + _layout.LegendTop;
        if (panel.Limit is (double at, string text))
        {
            if (_chart.HasLegendAbove)
            {
                Write(text, place.Right + 13, HeightOf(place, panel.Y, at), SmallSize, _theme.ColorOf("limit"));
            }
            else
            {
                double top = place.Top + 14;
                Stroke(place.Right + LegendGap, top, LegendLine, new LineStyle(2, ColorOf("limit")), Dashes[2]);
                Write(text, place.Right + LegendText, top, SmallSize, _theme.Text);
                y = top + _layout.LegendRow;
            }
        }

        foreach (Series series in _layout.NamedBeside(number))
        {
            DrawLegendEntry(series, place.Right + LegendGap, y, LegendLine, LegendText - LegendGap, SmallSize);
            y += _layout.LegendRow * ChartLayout.RowsOf(series.Title);
        }

        return y;
    }

    private void DrawLegendEntry(Series series, double x, double y, double length, double toText, float size)
    {
        if (!series.LiesAcross)
            Stroke(x, y, length, new LineStyle(_chart.HasLegendAbove ? 2.5f : 3, ColorOf(series.Color)),
                Dashes[(series.Dash - 1) % Dashes.Length]);
        if (_chart.HasLegendAbove && series.HasValues)
            Marker(series.Color, 1.1f).Render(_canvas, new Pixel((float)(x + (length / 2)), (float)y), _paint);
        Write(series.Title, x + toText, y, size, _theme.Text);
    }

    private void DrawLegendOfBands(ChartLayout.Place place, double y)
    {
        foreach ((string kind, string text) in Happenings.BandNames.Where(named => _chart.Bands.Any(band => band.Kind == named.Kind)))
        {
            Fill(place.Right + LegendGap + 5, place.Right + LegendGap + LegendLine - 5, y - 9, y + 9, BandColor(kind));
            Write(text, place.Right + LegendText, y, SmallSize, _theme.Text);
            y += _layout.LegendRow;
        }
    }

    private void FillBand(ChartLayout.Place place, Band band) =>
        Fill(Math.Max(place.Left, PlaceOf(place, _chart.X, band.From)), Math.Min(place.Right, PlaceOf(place, _chart.X, band.To)), place.Top,
            place.Bottom, BandColor(band.Kind));

    /// <summary>Chooses a band's color: other programs lie over migrations, which shine through.</summary>
    private Color BandColor(string kind) => kind == Happenings.OtherPrograms ? ColorOf(kind).WithOpacity(0.45) : ColorOf(kind);

    private void Fill(double left, double right, double top, double bottom, Color color)
    {
        if (right > left)
            ScottPlot.Drawing.FillRectangle(_canvas, new PixelRect((float)left, (float)right, (float)bottom, (float)top), _paint,
                new FillStyle { Color = color, AntiAlias = false });
    }

    private void Stroke(double x, double y, double length, LineStyle line, float[] dashes)
    {
        using var path = new SKPath();
        path.MoveTo((float)x, (float)y);
        path.LineTo((float)(x + length), (float)y);
        LinePlottable.Stroke(_canvas, _paint, path, line, dashes);
    }

    /// <summary>Writes a text, its further rows below the first.</summary>
    /// <param name="text">The text; may be empty.</param>
    /// <param name="x">The place where it begins, ends or has its middle.</param>
    /// <param name="y">The middle of its first row's capitals; of all rows where it is centered.</param>
    /// <param name="size">The size of letters in pixels.</param>
    /// <param name="color">The color as #RRGGBB.</param>
    /// <param name="align">What stands at <paramref name="x"/>.</param>
    /// <param name="rotation">The rotation about the place, in degrees clockwise.</param>
    /// <param name="isCentered">The rows together are centered.</param>
    /// <param name="room">The most pixels of a row: all rows shrink with a longer one.</param>
    private void Write(
        string text, double x, double y, float size, string color, SKTextAlign align = SKTextAlign.Left, float rotation = 0,
        bool isCentered = false, double room = double.PositiveInfinity)
    {
        if (text.Length == 0)
            return;
        string[] rows = [.. text.Split('\n').Select(Drawable)];
        if (double.IsFinite(room))
            size *= (float)Math.Min(1, room / rows.Max(row => WidthOf(row, size)));
        using var ink = new SKPaint { Color = SKColor.Parse(color), IsAntialias = true };
        _canvas.Save();
        _canvas.Translate((float)x, (float)y);
        _canvas.RotateDegrees(rotation);
        for (int i = 0; i < rows.Length; i++)
        {
            using var font = new SKFont(ChartFonts.Of(rows[i]), size) { Hinting = SKFontHinting.Slight, Subpixel = true };
            float middle = (i - (isCentered ? (rows.Length - 1) / 2f : 0)) * size * RowHeight;
            _canvas.DrawText(rows[i], 0, middle + (font.Metrics.CapHeight / 2), align, font, ink);
        }

        _canvas.Restore();
    }

    /// <summary>Replaces what no font draws and no XML may have.</summary>
    private static string Drawable(string text) =>
        string.Concat(text.EnumerateRunes()
            .Select(static rune => System.Text.Rune.IsControl(rune) || rune.Value is 0xFFFE or 0xFFFF ? " " : rune.ToString()));

    /// <summary>The ticks on the axis, whose end may fall to rounding.</summary>
    private static IEnumerable<Tick> TicksOf(AxisScale scale) => scale.Ticks.Where(tick => scale.Share(tick.At) is > -0.0001 and < 1.0001);

    private static double PlaceOf(ChartLayout.Place place, AxisScale scale, double at) =>
        place.Left + (scale.Share(at) * (place.Right - place.Left));

    private static double HeightOf(ChartLayout.Place place, AxisScale scale, double at) =>
        place.Bottom - (scale.Share(at) * (place.Bottom - place.Top));

    private Color ColorOf(string name) => Color(_theme.ColorOf(name));

    private static Color Color(string hex) => ScottPlot.Color.FromHex(hex);

    /// <summary>Gives the same ticks, whatever the axis shows.</summary>
    private sealed class FixedTicks(ScottPlot.Tick[] ticks) : ITickGenerator
    {
        public ScottPlot.Tick[] Ticks => ticks;

        public int MaxTickCount { get; set; } = int.MaxValue;

        public void Regenerate(CoordinateRange range, Edge edge, PixelLength size, Paint paint, LabelStyle labelStyle)
        {
        }
    }
}
