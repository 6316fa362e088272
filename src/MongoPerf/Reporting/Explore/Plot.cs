using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Explore;

/// <summary>What people explore: panels above each other on one axis of time. Knows neither gnuplot nor HTML.</summary>
/// <param name="Seconds">Length of the axis, pauses left out.</param>
/// <param name="Panels">From the top.</param>
internal sealed record Plot(double Seconds, IReadOnlyList<PlotPanel> Panels)
{
    /// <summary>Second on the axis from which it continues another plot; 0 for a whole one.</summary>
    public double Since { get; init; }

    /// <summary>In time order.</summary>
    public IReadOnlyList<Mark> Marks { get; init; } = [];

    public IReadOnlyList<Band> Bands { get; init; } = [];

    /// <summary>In time order; those that ran side by side overlap.</summary>
    public IReadOnlyList<Band> Phases { get; init; } = [];

    /// <summary>Documents by time where something grew, never falling; null where time is the only axis.</summary>
    public PlotColumns? Documents { get; init; }

    public PlotRanges? Ranges { get; init; }

    /// <summary>All columns as <see cref="PlotEncoding"/> packs them; null where nobody had to know yet how long they are.</summary>
    public byte[]? Packed { get; init; }

    /// <summary>What a reader must know, such as what was left out; whole sentences.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];
}

/// <summary>Lines that share an axis of values.</summary>
/// <param name="Title">What they are.</param>
/// <param name="Unit">Of the values: "µs" and "bytes" are shown in larger units where that is shorter, the others as they are.</param>
/// <param name="Series">What the columns are, in their order.</param>
/// <param name="Columns">Where the points lie.</param>
internal sealed record PlotPanel(string Title, string Unit, IReadOnlyList<PlotSeries> Series, PlotColumns Columns)
{
    public bool IsLogarithmic { get; init; }

    /// <summary>Of a plot that continues another: takes the place of all rows from <see cref="Plot.Since"/> on, rather than adding to them.</summary>
    public bool IsAgain { get; init; }
}

/// <summary>Points of several lines in common rows.</summary>
/// <param name="At">Of each row, seconds on the axis, rising, in whole tenths.</param>
/// <param name="Values">A column for each line.</param>
internal sealed record PlotColumns(double[] At, IReadOnlyList<double[]> Values)
{
    /// <summary>Where a line has no point in a row: it passes by.</summary>
    public const double None = double.NaN;

    /// <summary>Where a line ends; its next point begins another piece.</summary>
    public const double Gap = double.PositiveInfinity;
}

/// <summary>How a line looks.</summary>
internal enum PlotStyle
{
    Solid,
    Dashed,
    Dotted,
}

/// <param name="Title">In the legend.</param>
/// <param name="Color">Name of a colour of <see cref="Palette"/>.</param>
internal sealed record PlotSeries(string Title, string Color)
{
    public PlotStyle Style { get; init; }

    /// <summary>False for one that the reader switches on.</summary>
    public bool IsShown { get; init; } = true;
}

/// <summary>Histograms of an operation's durations over the run, from which percentiles of any range are made.</summary>
/// <param name="BlockSeconds">A range is rounded to blocks of this length; 1 is as fine as it was measured.</param>
/// <param name="Series">One for each operation.</param>
internal sealed record PlotRanges(int BlockSeconds, IReadOnlyList<PlotRange> Series);

/// <param name="Title">The operation.</param>
/// <param name="Color">Name of a colour of <see cref="Palette"/>.</param>
/// <param name="IsResponse">Response times, because a rate was set; otherwise service times.</param>
/// <param name="Blocks">How many <paramref name="Bytes"/> hold.</param>
/// <param name="Bytes">As <see cref="RangeHistograms"/> writes them.</param>
internal sealed record PlotRange(string Title, string Color, bool IsResponse, int Blocks, byte[] Bytes);
