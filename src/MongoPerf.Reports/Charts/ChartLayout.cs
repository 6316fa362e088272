using MongoPerf.Reports.Plots;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// Where the parts of a chart stand, in pixels from the picture's upper left corner; <see cref="Scale"/> makes them pixels of the file.
/// </summary>
public sealed class ChartLayout
{
    public const double UsualWidth = 1600;

    /// <summary>Smaller letters can't be read.</summary>
    private const double SmallestScale = 0.4;

    /// <summary>A narrower picture leaves no room for lines beside ticks and legends, so everything in it is made smaller.</summary>
    private const double NarrowestWidth = 900;

    /// <summary>Lower panels show nothing.</summary>
    private const double LowestPanel = 60;

    /// <summary>The same where panels are as low as their legends allow: their titles can still be read.</summary>
    private const double LowestTightPanel = 72;

    /// <summary>The pixels from one row of marks' texts to the next.</summary>
    private const double MarkRow = 26;
    private const int MostMarkRows = 3;

    /// <summary>Marks of one label that are nearer than this share of the axis are counted together.</summary>
    private const double NearestMarks = 1.0 / 60;

    /// <summary>The width of a character of a text, by the size of its letters.</summary>
    private static double CharacterWidth => 0.5625 * PlotStyle.Current.FontSizes["text"];

    private const double LegendLineWidth = 88;

    /// <summary>Of a name in a legend beside a panel.</summary>
    private const int CharactersBeside = 24;

    /// <summary>The width of a character of the verdict, whose letters are larger.</summary>
    private const double VerdictCharacter = 11;

    /// <summary>The width of a character of names below the axis.</summary>
    private const double NameCharacter = 11.5;

    /// <summary>The pixels from one name beside a panel to the next.</summary>
    private const double NameRow = 24;

    private readonly Chart _chart;

    /// <summary>Each panel is just as high as it must be.</summary>
    private readonly bool _isTight;

    /// <param name="chart">What is shown.</param>
    /// <param name="width">Pixels of the layout.</param>
    /// <param name="height">Pixels of the layout; null for as many as the panels need.</param>
    public ChartLayout(Chart chart, double width = UsualWidth, double? height = null)
        : this(chart, width, height, isTight: false, scale: 1)
    {
    }

    private ChartLayout(Chart chart, double width, double? height, bool isTight, double scale)
    {
        _chart = chart;
        _isTight = isTight;
        Scale = scale;
        Width = width;
        IsGrid = chart.Columns > 1;
        SharesValues = IsGrid && chart.Panels.All(panel => panel.Y == chart.Panels[0].Y);
        HasNamesOnce = chart.Panels.All(panel =>
            panel.Series.All(series => chart.Panels[0].Series.Any(first => (first.Title, first.Color) == (series.Title, series.Color))));
        HasSlopingNames = chart.X.IsOfNames
            && chart.X.Ticks.Count * (chart.X.Ticks.Max(static tick => Words.Width(tick.Text)) + 1) > (Width - 105) / NameCharacter;
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

        LegendAbove =
            chart.HasLegendAbove ? [.. Placed([.. chart.Panels[0].Series.Where(static series => series.Title.Length > 0)], ref y)] : [];
        if (IsGrid && chart.Marks.Count > 0)
            NoteY = y += 34;
        MarkOffset = chart.Top is null ? 18 : 46;
        double top = y + (LegendAbove.Count > 0 ? 28 : 42) + (chart.Top is null ? 0 : 34) + (IsGrid ? 32 : 0)
            + (MarkRow * (Marks.Count == 0 ? 0 : Marks.Max(static mark => mark.Row)));
        int rows = (chart.Panels.Count + chart.Columns - 1) / chart.Columns;
        double between = IsGrid ? rows == 1 ? 66 : 80 : isTight ? 20 : 24;
        double[] least = [.. Enumerable.Range(0, rows).Select(row => LeastOf(row, between))];
        double[] usual = [.. least.Select(one => IsGrid ? rows == 1 ? 540 : 364 : Math.Max(one, PanelPixels() - between))];
        double bottom = HasSlopingNames ? 125 : IsGrid ? 20 : 60;
        double around = top + (rows * between) + bottom;
        LeastHeight = Math.Ceiling(around + least.Sum());
        // What is left of a given height belongs to all panels alike.
        double more = height is { } given ? Math.Max(0, (given - around - least.Sum()) / rows) : 0;
        double[] heights = height is null ? usual : [.. least.Select(one => one + more)];
        Panels = [.. chart.Panels.Select((_, i) => PlaceOf(i, top, heights, between))];
        Height = height ?? Math.Round(around + heights.Sum());
    }

    /// <summary>
    /// Lays out a chart for a picture of a given size. Where that is too low for panels of equal height, each gets what its legend needs;
    /// where it is too low for that too, or too narrow, everything in it is made smaller.
    /// </summary>
    /// <param name="chart">What is shown.</param>
    /// <param name="width">Pixels of the picture.</param>
    /// <param name="height">Pixels of the picture; null for as many as the panels need.</param>
    /// <param name="leastHeight">Pixels of the picture below which letters would be too small to read.</param>
    public static ChartLayout Fit(Chart chart, double width, double? height, out double leastHeight)
    {
        double scale = Math.Min(1, width / NarrowestWidth);
        var smallest = new ChartLayout(chart, width / SmallestScale, null, isTight: true, SmallestScale);
        leastHeight = Math.Ceiling(smallest.LeastHeight * SmallestScale);
        var layout = new ChartLayout(chart, width / scale, height / scale, isTight: false, scale);
        if (!layout.IsTooLow)
            return layout;
        // The wider a layout is, the fewer rows its texts take: the second look fits.
        for (int i = 0; i < 3 && layout.IsTooLow; i++)
        {
            layout = new ChartLayout(chart, width / scale, height / scale, isTight: true, scale);
            if (layout.IsTooLow)
                scale = Math.Max(SmallestScale, height!.Value / layout.LeastHeight);
        }

        return layout;
    }

    /// <summary>A panel's frame.</summary>
    public readonly record struct Place(double Left, double Right, double Top, double Bottom);

    public double Width { get; }

    public double Height { get; }

    /// <summary>Pixels of the picture for one of the layout: less than 1 where everything had to be made smaller.</summary>
    public double Scale { get; }

    /// <summary>The pixels from one row of a legend beside a panel to the next.</summary>
    public double LegendRow => _isTight ? 20 : 27;

    /// <summary>The pixels from the top of a panel to the first row of the legend beside it, unless its limit stands there.</summary>
    public double LegendTop => _isTight ? 14 : 14 + LegendRow;

    /// <summary>Panels of a lower picture would show nothing, or leave no room for the legends.</summary>
    public double LeastHeight { get; }

    /// <summary>The height that was given is less than <see cref="LeastHeight"/>, by more than rounding.</summary>
    public bool IsTooLow => Height < LeastHeight - 0.5;

    public IReadOnlyList<Place> Panels { get; }

    /// <summary>Panels stand in rows and columns, with their titles above them.</summary>
    public bool IsGrid { get; }

    /// <summary>Ticks of values stand at the first of a row only.</summary>
    public bool SharesValues { get; }

    /// <summary>Names below the axis are too long to stand side by side, so they slope.</summary>
    public bool HasSlopingNames { get; }

    /// <summary>All panels have the first one's series, so that these are named beside it alone.</summary>
    public bool HasNamesOnce { get; }

    public double TitleY { get; }

    public double SubtitleY { get; }

    public double VerdictY { get; }

    /// <summary>The verdict in rows that fit.</summary>
    public string Verdict { get; } = "";

    public double NoteY { get; }

    /// <summary>Where the entries of the legend above all panels stand; empty where each panel has its own.</summary>
    public IReadOnlyList<(double X, double Y, Series Series)> LegendAbove { get; }

    /// <summary>The marks in the axis' unit, each text in its row.</summary>
    public IReadOnlyList<PlacedMark> Marks { get; }

    /// <summary>The pixels from the first panel up to the lowest row of marks' texts.</summary>
    private double MarkOffset { get; }

    private double Left { get; }

    private double Right { get; }

    public double MarkY(PlacedMark mark) => Panels[0].Top - MarkOffset - (MarkRow * (mark.Row - 1));

    /// <summary>
    /// The series that a legend beside the panel names. Names in one row are shortened to what there is room for, so that they differ.
    /// </summary>
    public IEnumerable<Series> NamedBeside(int panel)
    {
        if (_chart.HasLegendAbove || (HasNamesOnce && panel > 0))
            return [];
        Series[] named = [.. _chart.Panels[panel].Series.Where(static series => series.Title.Length > 0)];
        string[] titles = Words.Cut([.. named.Select(static one => one.Title.Contains('\n') ? "" : one.Title)], CharactersBeside);
        return named.Zip(titles, static (one, title) => title.Length == 0 ? one : one with { Title = title });
    }

    /// <summary>The rows that a title takes in a legend; its further ones stand closer.</summary>
    public static double RowsOf(string title) => 1 + (0.7 * title.Count(static c => c == '\n'));

    /// <summary>Counts marks of one label that lie on one another together.</summary>
    private IEnumerable<Mark> Merged(IReadOnlyList<Mark> marks)
    {
        var merged = new List<(Mark First, int Count)>();
        foreach (Mark mark in marks.OrderBy(static mark => mark.At))
        {
            int same = merged.FindLastIndex(one =>
                one.First.Label == mark.Label && _chart.X.Share(mark.At) - _chart.X.Share(one.First.At) < NearestMarks);
            if (same >= 0)
                merged[same] = (merged[same].First, merged[same].Count + 1);
            else
                merged.Add((mark, 1));
        }

        return merged.Select(static one => one.Count == 1 ? one.First : one.First with { Label = $"{one.First.Label} ×{one.Count}" });
    }

    private Place PlaceOf(int panel, double top, double[] heights, double between)
    {
        int row = panel / _chart.Columns;
        double height = heights[row];
        double above = top + heights.Take(row).Sum() + (row * between);
        if (!IsGrid)
            return new Place(Left, Right, above, above + height);
        double first = SharesValues ? 96 : 0;
        double across = (Width - 16 - first) / _chart.Columns;
        double left = first + (panel % _chart.Columns * across);
        return new Place(left + (SharesValues ? 13 : 120), left + across - 19, above, above + height);
    }

    /// <summary>The pixels of a panel and the room below it.</summary>
    private double PanelPixels()
    {
        double pixels = _chart.PanelHeight ?? _chart.Panels.Count switch { 1 => 660, 2 => 360, 3 => 280, 4 => 240, _ => 205 };
        return Math.Max(pixels, LegendPixels());
    }

    /// <summary>The least height of a row of panels: that of its legend, of all panels alike unless they are tight.</summary>
    private double LeastOf(int row, double between)
    {
        double lowest = Math.Max(_isTight ? LowestTightPanel : LowestPanel, _chart.Panels.Max(NamesOf));
        return IsGrid ? lowest : Math.Max(lowest, _isTight && HasLegendsBelow ? LegendOf(row) : LegendPixels() - between);
    }

    /// <summary>The height of the names of a panel whose values lie across; 0 for any other.</summary>
    private static double NamesOf(Panel panel) => !panel.Series.Any(static series => series.LiesAcross) ? 0
        : NameRow * panel.Y.Ticks.Sum(static tick => 1 + tick.Text.Count(static c => c == '\n'));

    /// <summary>The pixels that legends beside panels, and the room below, need of each.</summary>
    private double LegendPixels()
    {
        double[] legends = [.. Enumerable.Range(0, _chart.Panels.Count).Select(LegendOf)];
        return HasLegendsBelow ? legends.Max() : legends[0] / legends.Length;
    }

    /// <summary>False where the first panel's legend may run down beside those below, which have none.</summary>
    private bool HasLegendsBelow => Enumerable.Range(1, _chart.Panels.Count - 1).Any(panel => LegendOf(panel) > 0);

    /// <summary>The height of the legend beside a panel; the first one names the bands too.</summary>
    private double LegendOf(int panel)
    {
        double rows = NamedBeside(panel).Sum(static series => RowsOf(series.Title));
        if (panel == 0 && !_chart.HasLegendAbove)
            rows += Happenings.BandNames.Count(named => _chart.Bands.Any(band => band.Kind == named.Kind));
        bool hasLimit = _isTight && !_chart.HasLegendAbove && _chart.Panels[panel].Limit is not null;
        return rows == 0 && !hasLimit ? 0 : LegendTop - 1 + (LegendRow * (rows + (hasLimit ? 1 : 0)));
    }

    /// <summary>Leaves room for the ticks and the title beside them.</summary>
    private static double LeftEdge(Panel panel) =>
        Math.Max(136, (panel.Title.Length > 0 ? 65 : 40)
            + (panel.Y.Ticks.SelectMany(static tick => tick.Text.Split('\n')).Max(static row => Words.Width(row)) * 9.5));

    private double RightEdge(Chart chart)
    {
        bool isNamed = chart.Bands.Count > 0
            || chart.Panels.Any(static panel => panel.Limit is not null || panel.Series.Any(static series => series.Title.Length > 0));
        if (!chart.HasLegendAbove && isNamed)
            return Width - 256;
        Panel panel = chart.Panels[0];
        double ticks = panel.Right is { } right
            ? 30 + (right.Ticks.Max(static tick => Words.Width(tick.Text)) * CharacterWidth) + (right.Label.Length > 0 ? 40 : 0)
            : 0;
        return Width - Math.Max(ticks, panel.Limit is null ? panel.Right is null ? 40 : 120 : 176);
    }

    /// <summary>
    /// Places entries in one row, or in as many columns as there is room for; lines that share a color stand below each other.
    /// </summary>
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
        return [.. series.Select((one, i) =>
            (136 + (isOneRow ? widths.Take(i).Sum() : i % columns * room / columns), first + (32 * (i / columns)), one))];
    }
}
