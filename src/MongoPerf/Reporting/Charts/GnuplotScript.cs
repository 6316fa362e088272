using System.Globalization;
using System.Text;

namespace MongoPerf.Reporting.Charts;

/// <summary>Writes a chart as a script for gnuplot 5.4, which draws it as PNG and as SVG. Nothing else knows gnuplot's language.</summary>
internal sealed class GnuplotScript
{
    private const string Ink = "\"#202020\"";
    private const string Soft = "\"#606060\"";
    private const string MarkColor = "\"#8A2BE2\"";

    /// <summary>From a panel to the legend beside it, to the legend's texts, and the length of its lines.</summary>
    private const double LegendGap = 19;
    private const double LegendText = 58;
    private const double LegendLine = 29;

    /// <summary>Along a panel.</summary>
    private const double TitleCharacter = 10;

    /// <summary>What the bars of one name take of its room.</summary>
    private const double BarsShare = 0.8;

    private readonly Chart _chart;
    private readonly ChartLayout _layout;
    private readonly StringBuilder _text = new();

    private GnuplotScript(Chart chart)
    {
        _chart = chart;
        _layout = new ChartLayout(chart);
    }

    public static string Of(Chart chart)
    {
        var script = new GnuplotScript(chart);
        script.Write();
        return script._text.ToString();
    }

    /// <summary>gnuplot's double-quoted string: backslash and quote are escaped, so that no text can become a command.</summary>
    public static string Quote(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c is '"' or '\\')
                quoted.Append('\\').Append(c);
            else if (c == '`')
                quoted.Append('\''); // Back quotes run a program inside double quotes.
            else if (c == '\n')
                quoted.Append("\\n");
            else if (char.IsControl(c))
                quoted.Append(' ');
            else
                quoted.Append(c);
        }

        return quoted.Append('"').ToString();
    }

    private void Write()
    {
        string file = Quote(_chart.Name + ".gp");
        string size = $"noenhanced size {ChartLayout.Width},{Number(_layout.Height)}";
        Add($"# Written by mongoperf, and again by each report. Draw again after a change: gnuplot {_chart.Name}.gp");
        Add($"if (!exists(\"kind\")) {{ kind = \"png\"; load {file}; kind = \"svg\"; load {file}; exit }}");
        Add($"reset\nsvg = kind eq \"svg\"");
        Add($"# pngcairo counts texts in points, svg in pixels; it draws larger points, too.");
        Add($"text(size) = sprintf(\",%g\", svg ? size * 1.26 : size)\npoint(size) = svg ? size * 0.6 : size");
        Add($"if (svg) {{ set terminal svg {size} dynamic background rgb \"white\" font \"sans-serif,17\" }}");
        Add($"if (!svg) {{ set terminal pngcairo {size} background rgb \"white\" font \"sans-serif,13.5\" }}");
        Add($"set output {Quote(_chart.Name)}.\".\".kind");
        Add($"set encoding utf8\nset datafile separator \"\\t\"\nset datafile missing \"?\"\nunset key");
        Add($"set border {(_chart.Panels.Any(static panel => panel.Right is { Label.Length: > 0 }) ? 11 : 3)} linecolor rgb {Soft} linewidth 1");
        Add($"set tics nomirror out scale 0.5 textcolor rgb {Ink}");
        Add($"set grid xtics ytics back linetype 1 linecolor rgb \"#DDDDDD\" linewidth 1");
        WriteAxis("x", _chart.X);
        WriteBands();
        Add($"set multiplot");
        for (int i = 0; i < _chart.Panels.Count; i++)
            WritePanel(i);
        Add($"unset multiplot\nunset output");
    }

    private void WritePanel(int number)
    {
        Panel panel = _chart.Panels[number];
        ChartLayout.Place place = _layout.Panels[number];
        bool isLast = number == _chart.Panels.Count - 1;
        Add($"\n# {panel.Label.Replace('\n', ' ').Replace('\r', ' ')}\nunset label\nunset arrow");
        Add($"set lmargin at screen {X(place.Left)}\nset rmargin at screen {X(place.Right)}\nset tmargin at screen {Y(place.Top)}\nset bmargin at screen {Y(place.Bottom)}");
        if (number == 0)
            WriteHead();
        if (_layout.IsGrid)
            Add($"set label {Quote(panel.Label)} at graph 0, screen {Y(place.Top - 16)} left font text(13.5) textcolor rgb {(panel.Color.Length > 0 ? ColorOf(panel.Color) : Ink)}");
        else
            Add($"set label {Quote(Words.Wrap(panel.Label, (int)((place.Bottom - place.Top) / TitleCharacter)))} at screen {X(29)}, graph 0.5 center rotate by 90 textcolor rgb {Ink}");
        foreach (PlacedMark mark in _layout.Marks)
            Add($"set arrow from {Number(mark.X)}, graph 0 to {Number(mark.X)}, graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb {MarkColor} back");
        double legendY = WriteLegendBeside(number, place);
        if (number == 0)
            WriteLegendOfBands(place, legendY);

        bool hasNumbers = _layout.IsGrid || isLast;
        if (isLast && !_layout.IsGrid)
            Add($"set xlabel {Quote(_chart.X.Label)} textcolor rgb {Ink} offset 0, 0.3");
        Add($"set xtics {(hasNumbers && _layout.HasSlopingNames ? "rotate by -20" : "norotate")} {Ticks(_chart.X, hasNumbers)}");
        WriteAxis("y", panel.Y);
        Add($"set ytics {Ticks(panel.Y, !_layout.SharesValues || number % _chart.Columns == 0)}");
        if (panel.Right is { } right)
        {
            WriteAxis("y2", right);
            Add($"set y2tics {(right.Label.Length > 0 ? "" : "scale 0 ")}{Ticks(right, true)}\nset label {Quote(right.Label)} at screen 0.985, graph 0.5 center rotate by 90 textcolor rgb {Ink}");
        }

        WritePlot(panel);
    }

    /// <summary>What stands above the panels, and below those in a grid.</summary>
    private void WriteHead()
    {
        Label(_chart.Title, 29, _layout.TitleY, Fitting(_chart.Title, 19, 100), Ink);
        Label(_chart.Subtitle, 29, _layout.SubtitleY, Fitting(_chart.Subtitle, 12, 165), Soft);
        Label(_layout.Verdict, 29, _layout.VerdictY, 14, Ink);
        foreach ((double x, double y, Series series) in _layout.LegendAbove)
            LegendEntry(series, x, y, 42, 53, 13.5);
        if (_layout.IsGrid)
        {
            Label(string.Join(" · ", _chart.Marks.Select(static mark => mark.Label)), 109, _layout.NoteY, 11.5, MarkColor);
            Add($"set label {Quote(_chart.X.Label)} at screen 0.5, screen {Y(_layout.Height - 22)} center textcolor rgb {Ink}");
        }

        foreach (PlacedMark mark in _layout.Marks.Where(static mark => mark.Text.Length > 0))
        {
            Add($"set label {Quote(mark.Text)} at first {Number(mark.X)}, screen {Y(_layout.MarkY(mark))} {(mark.IsLeftOfLine ? "right" : "left")} font text(11.5) textcolor rgb {MarkColor}");
        }

        if (_chart.Top is not { } top)
            return;
        WriteAxis("x2", top);
        Add($"set x2tics {Ticks(top, true)} textcolor rgb {Soft}");
        Add($"set label {Quote(top.Label)} at screen {X(_layout.Panels[0].Left - 13)}, screen {Y(_layout.Panels[0].Top - 24)} right font text(12) textcolor rgb {Soft}");
    }

    /// <returns>Where the next entry would stand.</returns>
    private double WriteLegendBeside(int number, ChartLayout.Place place)
    {
        Panel panel = _chart.Panels[number];
        if (number == 1 && _chart.Top is not null)
            Add($"unset x2tics");
        double y = place.Top + 14;
        if (panel.Limit is (double at, string text))
        {
            string line = $"nohead dashtype 3 linewidth 2 linecolor rgb {ColorOf("limit")}";
            Add($"set arrow from graph 0, first {Number(at)} to graph 1, first {Number(at)} {line}");
            if (_chart.HasLegendAbove)
            {
                Add($"set label {Quote(text)} at screen {X(place.Right + 13)}, first {Number(at)} left font text(12) textcolor rgb {ColorOf("limit")}");
            }
            else
            {
                Add($"set arrow from {At(place.Right + LegendGap, y)} to {At(place.Right + LegendGap + LegendLine, y)} front {line}");
                Label(text, place.Right + LegendText, y, 12, Ink);
            }
        }

        y += ChartLayout.LegendRow;
        foreach (Series series in _layout.NamedBeside(number))
        {
            LegendEntry(series, place.Right + LegendGap, y, LegendLine, LegendText - LegendGap, 12);
            y += ChartLayout.LegendRow * ChartLayout.RowsOf(series.Title);
        }

        return y;
    }

    private void LegendEntry(Series series, double x, double y, double length, double toText, double size)
    {
        if (!series.LiesAcross)
            Add($"set arrow from {At(x, y)} to {At(x + length, y)} nohead front linewidth {(_chart.HasLegendAbove ? 2.5 : 3)} linecolor rgb {ColorOf(series.Color)} dashtype {Dash(series)}");
        if (_chart.HasLegendAbove && series.HasValues)
            Add($"set label \" \" at {At(x + (length / 2), y)} point pointtype {Palette.Of(series.Color).Shape} pointsize point(1.3) linecolor rgb {ColorOf(series.Color)} front");
        Label(series.Title, x + toText, y, size, Ink);
    }

    private void WriteBands()
    {
        foreach (Band band in _chart.Bands)
            Add($"set object rectangle from first {Number(band.From)}, graph 0 to first {Number(band.To)}, graph 1 behind fillstyle solid noborder fillcolor rgb {BandColor(band.Kind)}");
    }

    private void WriteLegendOfBands(ChartLayout.Place place, double y)
    {
        foreach ((string kind, string text) in Happenings.BandNames.Where(named => _chart.Bands.Any(band => band.Kind == named.Kind)))
        {
            Add($"set label \" \" at {At(place.Right + LegendGap + (LegendLine / 2), y)} point pointtype 5 pointsize point(2.5) linecolor rgb {BandColor(kind)} front");
            Label(text, place.Right + LegendText, y, 12, Ink);
            y += ChartLayout.LegendRow;
        }
    }

    /// <summary>Other programs lie over migrations, which shine through: 8C is what is let through of 255.</summary>
    private static string BandColor(string kind) => kind == Happenings.OtherPrograms ? $"\"#8C{Palette.Of(kind).Light[1..]}\"" : ColorOf(kind);

    private void WritePlot(Panel panel)
    {
        IEnumerable<string> parts = _chart.X.IsOfNames ? Bars(panel)
            : panel.Series.Where(static series => series is { HasSpread: true, LiesAcross: false })
                .Select(series => $"{Source(series)} using 1:{series.Column + 2}:{series.Column + 3} with filledcurves fillstyle transparent solid 0.16 noborder fillcolor rgb {ColorOf(series.Color)}")
                .Concat(panel.Series.Select(series => Drawn(panel, series)));
        Add($"plot {string.Join(", \\\n    ", parts)}");
    }

    private string Drawn(Panel panel, Series series)
    {
        string color = $"linecolor rgb {ColorOf(series.Color)}";
        double size = PointSize(panel, series);
        string point = $"pointtype {Palette.Of(series.Color).Shape} pointsize point({Number(size)})";
        if (series.LiesAcross)
            return $"{Source(series)} using {series.Column + 1}:1:{series.Column + 2}:{series.Column + 3} with xerrorbars linewidth 2.5 {color} {point}";
        string line = $"linewidth {Number(_layout.IsGrid ? 2 : _chart.HasLegendAbove ? 2.5 : 1.6)} {color} dashtype {Dash(series)}";
        return $"{Source(series)} using 1:{series.Column + 1} with {(size > 0 ? $"linespoints {line} {point}" : $"lines {line}")}";
    }

    /// <summary>Names stand apart, what was measured beside each other: bars, or points where the axis has no 0.</summary>
    private IEnumerable<string> Bars(Panel panel)
    {
        string[] colors = [.. _chart.Panels.SelectMany(static one => one.Series).Select(static series => series.Color).Distinct()];
        double width = BarsShare / colors.Length;
        Add($"set boxwidth {Number(width * 0.94)} absolute");
        foreach (Series series in panel.Series)
        {
            string beside = Number(Math.Round((Array.IndexOf(colors, series.Color) - ((colors.Length - 1) / 2.0)) * width, 4));
            string style = panel.Y.IsLogarithmic ? $"points pointtype {Palette.Of(series.Color).Shape} pointsize point(1.4)" : "boxes fillstyle solid 0.9 noborder";
            yield return $"{Source(series)} using ($1 + {beside}):{series.Column + 1} with {style} linecolor rgb {ColorOf(series.Color)}";
        }
    }

    /// <summary>gnuplot's own second is too wide for a line that bends often.</summary>
    private static string Dash(Series series) => series.Dash == 2 ? "(8, 5)" : Number(series.Dash);

    /// <summary>Rates come in short pieces that need points, a server's state is one long line.</summary>
    private double PointSize(Panel panel, Series series) => (_layout.IsGrid ? 0.8 : 1) * series.Table.Rows.Count switch
    {
        <= 3 => 1.2,
        _ when panel.IsState => 0,
        <= 40 => 1.1,
        <= 400 => 0.6,
        _ => 0.35,
    };

    private void WriteAxis(string name, AxisScale scale)
    {
        Add(scale.IsLogarithmic ? $"set logscale {name}" : $"unset logscale {name}");
        // A tick at the very end of a logarithmic axis falls to rounding.
        Add($"set {name}range [{Number(scale.IsLogarithmic ? scale.Min * 0.999 : scale.Min)}:{Number(scale.Max)}]");
    }

    private static string Ticks(AxisScale scale, bool hasTexts) => $"({string.Join(", ", scale.Ticks.Select(tick => $"{(hasTexts ? TickText(tick.Text) : "\"\"")} {Number(tick.At)}"))})";

    /// <summary>To gnuplot a text at a tick is a format for the tick's place: any % would ask for a number, or be an error.</summary>
    private static string TickText(string text) => Quote(text.Replace("%", "%%"));

    private void Label(string text, double x, double y, double size, string color)
    {
        if (text.Length > 0)
            Add($"set label {Quote(text)} at {At(x, y)} left font text({Number(size)}) textcolor rgb {color}");
    }

    /// <summary>A long line shrinks rather than leaves the picture.</summary>
    private static double Fitting(string text, double size, int characters) => Math.Round(Words.Width(text) > characters ? size * characters / Words.Width(text) : size, 2);

    private string At(double x, double y) => $"screen {X(x)}, screen {Y(y)}";

    private static string X(double pixels) => Share(pixels / ChartLayout.Width);

    private string Y(double pixels) => Share(1 - (pixels / _layout.Height));

    private static string Source(Series series) => Quote(series.Table.FileName);

    private static string ColorOf(string name) => $"\"{Palette.Of(name).Light}\"";

    private static string Share(double share) => share.ToString("0.#####", CultureInfo.InvariantCulture);

    private static string Number(double value) => value.ToString("R", CultureInfo.InvariantCulture);

    private void Add(string line) => _text.Append(line).Append('\n');
}
