namespace MongoPerf.Reports.Charts;

/// <summary>
/// A picture: panels on one axis. It says what is shown and what it means; where things stand and who draws them is <see
/// cref="ChartLayout"/>'s and the renderer's.
/// </summary>
/// <param name="Name">The name of its files: NAME.png, NAME.svg.</param>
/// <param name="Title">The title above the picture.</param>
/// <param name="HowToRead">A sentence for the report.</param>
/// <param name="X">The axis that its panels share.</param>
/// <param name="Panels">The panels from the top, in rows of <see cref="Columns"/>.</param>
public sealed record Chart(string Name, string Title, string HowToRead, AxisScale X, IReadOnlyList<Panel> Panels)
{
    /// <summary>The line below the title: what was measured where.</summary>
    public string Subtitle { get; init; } = "";

    /// <summary>What its data say of servers that are not MongoDB; null for MongoDB.</summary>
    public string? NotMongoDb { get; init; }

    /// <summary>What it shows, in whole sentences; a row for each candidate of a comparison.</summary>
    public string Verdict { get; init; } = "";

    /// <summary>The number of panels beside each other.</summary>
    public int Columns { get; init; } = 1;

    /// <summary>One legend above all panels, of the first one's series; otherwise each panel has its own beside it.</summary>
    public bool HasLegendAbove { get; init; }

    /// <summary>The height of a panel in pixels; null chooses it by the number of panels.</summary>
    public double? PanelHeight { get; init; }

    /// <summary>The marks in any order.</summary>
    public IReadOnlyList<Mark> Marks { get; init; } = [];

    public IReadOnlyList<Band> Bands { get; init; } = [];

    /// <summary>A second scale of the same axis, along the top.</summary>
    public AxisScale? Top { get; init; }

    /// <summary>The tables of its data files.</summary>
    public IReadOnlyList<ChartTable> Tables =>
        [.. Panels.SelectMany(static panel => panel.Series).Select(static series => series.Table).Distinct()];
}

/// <summary>Series that share an axis of values.</summary>
/// <param name="Title">What the values are.</param>
/// <param name="Y">The axis of the values.</param>
/// <param name="Series">The lines; at least one.</param>
public sealed record Panel(string Title, AxisScale Y, IReadOnlyList<Series> Series)
{
    /// <summary>A unit whose values are shown in a larger one where that is shorter; values in other units stay as they are.</summary>
    public const string Bytes = "bytes";

    /// <inheritdoc cref="Bytes"/>
    public const string Microseconds = "µs";

    /// <summary>The unit of the values; empty where the title says it.</summary>
    public string Unit { get; init; } = "";

    /// <summary>The title with the unit.</summary>
    public string Label => Unit is "" or Bytes or Microseconds ? Title : $"{Title}, {Unit}";

    /// <summary>The name of its title's color; empty for that of all texts.</summary>
    public string Color { get; init; } = "";

    /// <summary>Its lines are long, and nobody wants to see their points.</summary>
    public bool IsState { get; init; }

    /// <summary>A line across, and what it is called.</summary>
    public (double At, string Text)? Limit { get; init; }

    /// <summary>A second scale of the values, on the right.</summary>
    public AxisScale? Right { get; init; }

    /// <summary>It continues another panel and takes the place of all rows since then, rather than adding to them.</summary>
    public bool IsAgain { get; init; }

    /// <summary>The table that all series of a panel over time share.</summary>
    public ChartTable Table => Series[0].Table;

    /// <summary>The most lines that are shown together: as many as can be told apart and fit beside a drawn panel.</summary>
    public const int MostLines = 7;

    /// <summary>A drawn chart can't show all of it.</summary>
    public bool IsCut => Series.Count(static one => one.IsShown) > MostLines;

    /// <summary>How the axis of values is made for the largest of them; null where it is given.</summary>
    public Func<double, AxisScale>? ScaleOf { get; init; }

    /// <summary>The same with some of its lines only, in that order and all of them shown.</summary>
    /// <param name="titles">The lines by their titles in the legend; empty for the usual ones.</param>
    /// <returns>Null when it has none of them.</returns>
    public Panel? Only(IReadOnlyList<string> titles)
    {
        if (titles.Count == 0)
            return this;
        Series[] lines = [.. titles.Distinct()
            .SelectMany(title => Series.Where(line => line.Title == title)).Select(static line => line with { IsShown = true })];
        if (lines.Length == 0)
            return null;
        double[] values = [.. lines.SelectMany(static line => line.Values).Where(static value => double.IsFinite(value)).DefaultIfEmpty(1)];
        AxisScale scale = Y.IsLogarithmic
            ? AxisScale.OfLatency(values.Min(), values.Max())
            : ScaleOf?.Invoke(lines.Max(static line => line.Largest)) ?? Y;
        return this with { Series = lines, Y = scale };
    }

    /// <summary>Makes what a chart of that name draws of a panel over time.</summary>
    public Panel In(string chart)
    {
        ChartTable table = Table.Named($"{chart}-{Table.FileName}");
        return this with
        {
            Series = [.. Series.Where(static one => one.IsShown).Take(MostLines).Select(one => one with { Table = table })],
        };
    }

    /// <summary>Makes a panel of the series that have values; null when none has any.</summary>
    /// <param name="title">What the values are.</param>
    /// <param name="scaleOf">Makes the axis for the largest value.</param>
    /// <param name="series">The lines; those without values are left out.</param>
    public static Panel? Of(string title, Func<double, AxisScale> scaleOf, IEnumerable<Series> series)
    {
        Series[] shown = [.. series.Where(static one => one.HasValues)];
        if (shown.Length == 0)
            return null;
        double largest = shown.Where(static one => one.IsShown).Select(static one => one.Largest).DefaultIfEmpty(0).Max();
        return new Panel(title, scaleOf(largest), shown) { ScaleOf = scaleOf };
    }
}

/// <summary>A column of a table, against its first.</summary>
/// <param name="Table">Where the values are.</param>
/// <param name="Column">The column, 0-based; 0 is the axis.</param>
/// <param name="Title">The name in the legend; empty for a line that needs none.</param>
/// <param name="Color">The name of a color of <see cref="Palette"/>.</param>
public sealed record Series(ChartTable Table, int Column, string Title, string Color)
{
    /// <summary>The first column holds rows: values lie across, each a point in its spread.</summary>
    public bool LiesAcross { get; init; }

    /// <summary>The next two columns are the least and the greatest of what the value stands for.</summary>
    public bool HasSpread { get; init; }

    /// <summary>1 is solid; the others are dashed or dotted, each in its way.</summary>
    public int Dash { get; init; } = 1;

    /// <summary>The size of its points; 1 is the usual one.</summary>
    public double PointSize { get; init; } = 1;

    /// <summary>False for one that only the page has, and that its reader switches on.</summary>
    public bool IsShown { get; init; } = true;

    /// <summary>
    /// "p50", "p99" or "max", with which its title ends, of a line that has others beside it: a page shows one of them at a time.
    /// </summary>
    public string? Percentile { get; init; }

    /// <summary>The value in each row; see <see cref="ChartTable"/> for those that are not finite.</summary>
    public IEnumerable<double> Values => Table.Rows.Select(row => row[Column]);

    public double Largest => Table.Largest(Column, HasSpread ? 3 : 1);

    public bool HasValues => Values.Any(double.IsFinite);
}

/// <summary>Something that happened at a place of the axis.</summary>
/// <param name="At">Its place on the axis.</param>
/// <param name="Kind">What it was, in one or two words.</param>
/// <param name="Text">More about it, for those who ask.</param>
public sealed record Mark(double At, string Kind, string Text = "")
{
    /// <summary>What a drawn chart writes above it; the page has kind and text instead.</summary>
    public string Label { get; init; } = Kind;
}

/// <summary>Charts that are drawn into one folder.</summary>
/// <param name="Charts">The charts in the order of the report.</param>
/// <param name="PictureNames">Pictures of an earlier report that may be there, as file patterns without their ending.</param>
public sealed record ChartSet(IReadOnlyList<Chart> Charts, IReadOnlyList<string> PictureNames);
