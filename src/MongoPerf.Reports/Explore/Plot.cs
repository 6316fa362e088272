using MongoPerf.Reports.Charts;

namespace MongoPerf.Reports.Explore;

/// <summary>What people explore: panels above each other on one axis of time. Knows neither how charts are drawn nor HTML.</summary>
/// <param name="Seconds">Length of the axis, pauses left out.</param>
/// <param name="Panels">The panels from the top, each with a table of its own.</param>
internal sealed record Plot(double Seconds, IReadOnlyList<Panel> Panels)
{
    /// <summary>Second on the axis from which it continues another plot; 0 for a whole one.</summary>
    public double Since { get; init; }

    /// <summary>The marks in time order.</summary>
    public IReadOnlyList<Mark> Marks { get; init; } = [];

    public IReadOnlyList<Band> Bands { get; init; } = [];

    /// <summary>The phases in time order; those that ran side by side overlap.</summary>
    public IReadOnlyList<Band> Phases { get; init; } = [];

    /// <summary>Documents by time where something grew, never falling; null where time is the only axis.</summary>
    public ChartTable? Documents { get; init; }

    public PlotRanges? Ranges { get; init; }

    /// <inheritdoc cref="Chart.NotMongoDb"/>
    public string? NotMongoDb { get; init; }

    /// <summary>What a reader must know, such as what was left out; whole sentences.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];
}

/// <summary>Histograms of an operation's durations over the run, from which percentiles of any range are made.</summary>
/// <param name="BlockSeconds">A range is rounded to blocks of this length; 1 is as fine as it was measured.</param>
/// <param name="Series">One for each operation.</param>
internal sealed record PlotRanges(int BlockSeconds, IReadOnlyList<PlotRange> Series);

/// <param name="Title">The operation.</param>
/// <param name="Color">Name of a color of <see cref="Palette"/>.</param>
/// <param name="IsResponse">Response times, because a rate was set; otherwise service times.</param>
/// <param name="Blocks">How many <paramref name="Bytes"/> hold.</param>
/// <param name="Bytes">The bytes that <see cref="RangeHistograms"/> writes.</param>
internal sealed record PlotRange(string Title, string Color, bool IsResponse, int Blocks, byte[] Bytes);
