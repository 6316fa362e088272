namespace MongoPerf.Reporting.Charts;

/// <summary>A picture: panels on one axis. It says what is shown and what it means; where things stand and who draws them is <see cref="ChartLayout"/>'s and the renderer's.</summary>
/// <param name="Name">Of its files: NAME.png, NAME.svg.</param>
/// <param name="Title">As the picture has it.</param>
/// <param name="HowToRead">A sentence for the report.</param>
/// <param name="X">The axis that its panels share.</param>
/// <param name="Panels">From the top, in rows of <see cref="Columns"/>.</param>
internal sealed record Chart(string Name, string Title, string HowToRead, AxisScale X, IReadOnlyList<Panel> Panels)
{
    /// <summary>What was measured where.</summary>
    public string Subtitle { get; init; } = "";

    /// <summary>What it shows, in whole rows.</summary>
    public string Verdict { get; init; } = "";

    /// <summary>Panels beside each other.</summary>
    public int Columns { get; init; } = 1;

    /// <summary>One legend above all panels, of the first one's series; otherwise each panel has its own beside it.</summary>
    public bool HasLegendAbove { get; init; }

    /// <summary>Pixels; null chooses by the number of panels.</summary>
    public double? PanelHeight { get; init; }

    /// <summary>In any order.</summary>
    public IReadOnlyList<Mark> Marks { get; init; } = [];

    public IReadOnlyList<Band> Bands { get; init; } = [];

    /// <summary>A second scale of the same axis, along the top.</summary>
    public AxisScale? Top { get; init; }

    /// <summary>Its data files.</summary>
    public IReadOnlyList<ChartTable> Tables => [.. Panels.SelectMany(static panel => panel.Series).Select(static series => series.Table).Distinct()];
}

/// <summary>Series that share an axis of values.</summary>
/// <param name="Title">What the values are.</param>
/// <param name="Y">Of the values.</param>
/// <param name="Series">One at least.</param>
internal sealed record Panel(string Title, AxisScale Y, IReadOnlyList<Series> Series)
{
    /// <summary>Units whose values are shown in larger ones where that is shorter; those in other units stay as they are.</summary>
    public const string Bytes = "bytes";

    /// <inheritdoc cref="Bytes"/>
    public const string Microseconds = "µs";

    /// <summary>Of the values; empty where the title says it.</summary>
    public string Unit { get; init; } = "";

    /// <summary>Title and unit.</summary>
    public string Label => Unit is "" or Bytes or Microseconds ? Title : $"{Title}, {Unit}";

    /// <summary>Name of a colour of its title; empty for that of all texts.</summary>
    public string Color { get; init; } = "";

    /// <summary>Long lines, of which nobody wants to see the points.</summary>
    public bool IsState { get; init; }

    /// <summary>A line across, and what it is called.</summary>
    public (double At, string Text)? Limit { get; init; }

    /// <summary>A second scale of the values, on the right.</summary>
    public AxisScale? Right { get; init; }

    /// <summary>Of a panel that continues another: it takes the place of all rows since then, rather than adding to them.</summary>
    public bool IsAgain { get; init; }

    /// <summary>The table that all series of a panel over time share.</summary>
    public ChartTable Table => Series[0].Table;

    /// <summary>Lines that are shown together; as many as can be told apart, and fit beside a drawn panel.</summary>
    public const int MostLines = 7;

    /// <summary>A drawn chart can't show all of it.</summary>
    public bool IsCut => Series.Count(static one => one.IsShown) > MostLines;

    /// <summary>Of a panel over time: what a chart of that name draws of it.</summary>
    public Panel In(string chart)
    {
        ChartTable table = Table.Named($"{chart}-{Table.FileName}");
        return this with { Series = [.. Series.Where(static one => one.IsShown).Take(MostLines).Select(one => one with { Table = table })] };
    }

    /// <summary>Null without series.</summary>
    /// <param name="title">What the values are.</param>
    /// <param name="scaleOf">Of the largest value.</param>
    /// <param name="series">Those without values are left out.</param>
    public static Panel? Of(string title, Func<double, AxisScale> scaleOf, IEnumerable<Series> series)
    {
        Series[] shown = [.. series.Where(static one => one.HasValues)];
        return shown.Length == 0 ? null : new Panel(title, scaleOf(shown.Where(static one => one.IsShown).Select(static one => one.Largest).DefaultIfEmpty(0).Max()), shown);
    }
}

/// <summary>A column of a table, against its first.</summary>
/// <param name="Table">Where the values are.</param>
/// <param name="Column">0-based; 0 is the axis.</param>
/// <param name="Title">In the legend; empty for one that needs no name.</param>
/// <param name="Color">Name of a colour of <see cref="Palette"/>.</param>
internal sealed record Series(ChartTable Table, int Column, string Title, string Color)
{
    /// <summary>The first column are rows: values lie across, each a point in its spread.</summary>
    public bool LiesAcross { get; init; }

    /// <summary>The next two columns are the least and the greatest of what the value stands for.</summary>
    public bool HasSpread { get; init; }

    /// <summary>1 is solid; the others are dashed or dotted, each in its way.</summary>
    public int Dash { get; init; } = 1;

    /// <summary>False for one that only the page has, and that its reader switches on.</summary>
    public bool IsShown { get; init; } = true;

    /// <summary>A row's in each; see <see cref="ChartTable"/> for those that are not finite.</summary>
    public IEnumerable<double> Values => Table.Rows.Select(row => row[Column]);

    public double Largest => Table.Largest(Column, HasSpread ? 3 : 1);

    public bool HasValues => Values.Any(double.IsFinite);
}

/// <summary>Something that happened at a place of the axis.</summary>
/// <param name="At">On the axis.</param>
/// <param name="Kind">What it was, in one or two words.</param>
/// <param name="Text">More about it, for those who ask.</param>
internal sealed record Mark(double At, string Kind, string Text = "")
{
    /// <summary>What a drawn chart writes above it; the page has kind and text instead.</summary>
    public string Label { get; init; } = Kind;
}

/// <summary>Charts that are drawn into one folder.</summary>
/// <param name="Charts">In the order of the report.</param>
/// <param name="PictureNames">Pictures of an earlier report that may be there, as file patterns without their ending.</param>
internal sealed record ChartSet(IReadOnlyList<Chart> Charts, IReadOnlyList<string> PictureNames);
