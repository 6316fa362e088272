using MongoPerf.Reporting.Plots;

namespace MongoPerf.Reporting.Charts;

/// <summary>Where the parts of a chart stand, in pixels from the picture's upper left corner.</summary>
internal sealed class ChartLayout
{
    public const double UsualWidth = 1600;

    /// <summary>Lower panels show nothing.</summary>
    private const double LowestPanel = 60;

    /// <summary>From one row of a legend beside a panel to the next.</summary>
    public const double LegendRow = 27;

    /// <summary>From one row of marks' texts to the next.</summary>
    private const double MarkRow = 26;
    private const int MostMarkRows = 3;

    /// <summary>Marks of one label that are nearer than this share of the axis are counted together.</summary>
    private const double NearestMarks = 1.0 / 60;

    /// <summary>Of a character of a text, by the size of its letters.</summary>
    private static double CharacterWidth => 0.5625 * PlotStyle.Current.Sizes["text"];


    private const double LegendLineWidth = 88;

    /// <summary>Of a character of the verdict, whose letters are larger, and of names below the axis.</summary>
    private const double VerdictCharacter = 11;
    private const double NameCharacter = 11.5;

    private readonly Chart _chart;

    /// <param name="chart">What is shown.</param>
    /// <param name="width">Pixels.</param>
    /// <param name="height">Pixels; null for as many as the panels need.</param>
    public ChartLayout(Chart chart, double width = UsualWidth, double? height = null)
    {
        _chart = chart;
        Width = width;
        IsGrid = chart.Columns > 1;
        SharesValues = IsGrid && chart.Panels.All(panel => panel.Y == chart.Panels[0].Y);
        HasNamesOnce = chart.Panels.All(panel => panel.Series.All(series => chart.Panels[0].Series.Any(first => (first.Title, first.Color) == (series.Title, series.Color))));
        HasSlopingNames = chart.X.IsOfNames && chart.X.Ticks.Count * (chart.X.Ticks.Max(static tick => Words.Width(tick.Text)) + 1) > (Width - 105) / NameCharacter;
        (Left, Right) = (LeftEdge(chart.Panels[0]), RightEdge(chart));
        Marks = PlacedMark.Place(Merged(chart.Marks), chart.X, Right - Left, IsGrid ? 0 : MostMarkRows);

        double y = 42;
        TitleY = y;
        if (chart.Subtitle.Length > 0)
            SubtitleY = y += 41;
        if (chart.Verdict.Length > 0)
        {
            VerdictY = y += 44;
            Verdict = string.Join('\n', chart.Verdict.Split('\n').Select(line => Words.Wrap(line, (int)(Width / VerdictCharacter))));
            y += 28 * Verdict.Count(static c => c == '\n');
        }

        LegendAbove = chart.HasLegendAbove ? [.. Placed([.. chart.Panels[0].Series.Where(static series => series.Title.Length > 0)], ref y)] : [];
        if (IsGrid && chart.Marks.Count > 0)
            NoteY = y += 34;
        MarkOffset = chart.Top is null ? 18 : 46;
        double top = y + (LegendAbove.Count > 0 ? 28 : 42) + (chart.Top is null ? 0 : 34) + (IsGrid ? 32 : 0) + (MarkRow * (Marks.Count == 0 ? 0 : Marks.Max(static mark => mark.Row)));
        int rows = (chart.Panels.Count + chart.Columns - 1) / chart.Columns;
        (double panel, double between) = IsGrid ? (rows == 1 ? 540 : 364, rows == 1 ? 66 : 80) : (PanelPixels() - 24, 24);
        double bottom = HasSlopingNames ? 125 : IsGrid ? 20 : 60;
        LeastHeight = Math.Ceiling(top + (rows * (Math.Max(LowestPanel, IsGrid ? 0 : LegendPixels() - between) + between)) + bottom);
        if (height is { } given)
            panel = Math.Max(LowestPanel, ((given - top - bottom) / rows) - between);
        Panels = [.. chart.Panels.Select((_, i) => PlaceOf(i, top, panel, between))];
        Height = height ?? Math.Round(top + (rows * (panel + between)) + bottom);
    }

    /// <summary>A panel's frame.</summary>
    internal readonly record struct Place(double Left, double Right, double Top, double Bottom);

    public double Width { get; }

    public double Height { get; }

    /// <summary>Panels of a lower picture would show nothing.</summary>
    public double LeastHeight { get; }

    public IReadOnlyList<Place> Panels { get; }

    /// <summary>Panels in rows and columns, with their titles above them.</summary>
    public bool IsGrid { get; }

    /// <summary>Ticks of values stand at the first of a row only.</summary>
    public bool SharesValues { get; }

    /// <summary>Names below the axis that are too long to stand side by side.</summary>
    public bool HasSlopingNames { get; }

    /// <summary>All panels have the first one's series, so that these are named beside it alone.</summary>
    public bool HasNamesOnce { get; }

    public double TitleY { get; }

    public double SubtitleY { get; }

    public double VerdictY { get; }

    /// <summary>In rows that fit.</summary>
    public string Verdict { get; } = "";

    public double NoteY { get; }

    /// <summary>Empty where each panel has its own.</summary>
    public IReadOnlyList<(double X, double Y, Series Series)> LegendAbove { get; }

    /// <summary>In the axis' unit, each text in its row.</summary>
    public IReadOnlyList<PlacedMark> Marks { get; }

    /// <summary>From the first panel up to the lowest row of marks' texts.</summary>
    private double MarkOffset { get; }

    private double Left { get; }

    private double Right { get; }

    public double MarkY(PlacedMark mark) => Panels[0].Top - MarkOffset - (MarkRow * (mark.Row - 1));

    /// <summary>Those that a legend beside the panel names.</summary>
    public IEnumerable<Series> NamedBeside(int panel) =>
        _chart.HasLegendAbove || (HasNamesOnce && panel > 0) ? [] : _chart.Panels[panel].Series.Where(static series => series.Title.Length > 0);

    /// <summary>Rows that a title takes in a legend; its further ones stand closer.</summary>
    public static double RowsOf(string title) => 1 + (0.7 * title.Count(static c => c == '\n'));

    /// <summary>Those of one label that lie on one another are counted together.</summary>
    private IEnumerable<Mark> Merged(IReadOnlyList<Mark> marks)
    {
        var merged = new List<(Mark First, int Count)>();
        foreach (Mark mark in marks.OrderBy(static mark => mark.At))
        {
            int same = merged.FindLastIndex(one => one.First.Label == mark.Label && _chart.X.Share(mark.At) - _chart.X.Share(one.First.At) < NearestMarks);
            if (same >= 0)
                merged[same] = (merged[same].First, merged[same].Count + 1);
            else
                merged.Add((mark, 1));
        }

        return merged.Select(static one => one.Count == 1 ? one.First : one.First with { Label = $"{one.First.Label} ×{one.Count}" });
    }

    private Place PlaceOf(int panel, double top, double height, double between)
    {
        double above = top + (panel / _chart.Columns * (height + between));
        if (!IsGrid)
            return new Place(Left, Right, above, above + height);
        double first = SharesValues ? 96 : 0;
        double across = (Width - 16 - first) / _chart.Columns;
        double left = first + (panel % _chart.Columns * across);
        return new Place(left + (SharesValues ? 13 : 120), left + across - 19, above, above + height);
    }

    /// <summary>Of a panel and the room below it.</summary>
    private double PanelPixels()
    {
        double pixels = _chart.PanelHeight ?? _chart.Panels.Count switch { 1 => 660, 2 => 360, 3 => 280, 4 => 240, _ => 205 };
        return Math.Max(pixels, LegendPixels());
    }

    /// <summary>What legends beside panels need of each.</summary>
    private double LegendPixels()
    {
        double[] legends = [.. Enumerable.Range(0, _chart.Panels.Count).Select(panel => NamedBeside(panel).Sum(static series => RowsOf(series.Title))).Select(static rows => rows == 0 ? 0 : 40 + (LegendRow * rows))];
        // The first panel's legend may run down beside those below, if they have none.
        return legends.Skip(1).All(static legend => legend == 0) ? legends[0] / legends.Length : legends.Max();
    }

    /// <summary>Room for the ticks and the title beside them.</summary>
    private static double LeftEdge(Panel panel) =>
        Math.Max(136, (panel.Title.Length > 0 ? 65 : 40) + (panel.Y.Ticks.SelectMany(static tick => tick.Text.Split('\n')).Max(static row => Words.Width(row)) * 9.5));

    private double RightEdge(Chart chart)
    {
        bool isNamed = chart.Bands.Count > 0 || chart.Panels.Any(static panel => panel.Limit is not null || panel.Series.Any(static series => series.Title.Length > 0));
        if (!chart.HasLegendAbove && isNamed)
            return Width - 256;
        Panel panel = chart.Panels[0];
        double ticks = panel.Right is { } right ? 30 + (right.Ticks.Max(static tick => Words.Width(tick.Text)) * CharacterWidth) + (right.Label.Length > 0 ? 40 : 0) : 0;
        return Width - Math.Max(ticks, panel.Limit is null ? panel.Right is null ? 40 : 120 : 176);
    }

    /// <summary>In one row, or in as many columns as there is room for; lines that share a colour stand below each other.</summary>
    private (double X, double Y, Series Series)[] Placed(Series[] series, ref double y)
    {
        if (series.Length == 0)
            return [];
        double room = Width - 170;
        double[] widths = [.. series.Select(static one => LegendLineWidth + (Words.Width(one.Title) * CharacterWidth))];
        int most = Math.Min(series.Length, series.Select(static one => one.Color).Distinct().Count());
        int columns = most == series.Length && widths.Sum() <= room ? series.Length : Math.Clamp((int)(room / widths.Max()), 1, most);
        double first = y + 36;
        y += 36 + (32 * ((series.Length - 1) / columns));
        bool isOneRow = columns == series.Length;
        return [.. series.Select((one, i) => (136 + (isOneRow ? widths.Take(i).Sum() : i % columns * room / columns), first + (32 * (i / columns)), one))];
    }
}
