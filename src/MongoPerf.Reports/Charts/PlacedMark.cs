using MongoPerf.Reports.Plots;

namespace MongoPerf.Reports.Charts;

/// <summary>A vertical line with its label above the plot.</summary>
/// <param name="X">The place in the unit of the x-axis.</param>
/// <param name="Text">The label; empty when there was no room for it.</param>
/// <param name="Row">The row of the label: 1 is next to the plot, 0 means that there was no room.</param>
/// <param name="IsLeftOfLine">The label stands left of the line, as on the right it would leave the picture.</param>
public sealed record PlacedMark(double X, string Text, int Row, bool IsLeftOfLine)
{
    private const double Gap = 14;

    /// <summary>The width of a character, by the size of its letters.</summary>
    private static double CharacterWidth => PlotStyle.Current.FontSizes["mark"] * 8.9 / 15;

    /// <summary>
    /// Gives each mark the lowest row in which its label covers no other; labels that find none are left out, their lines stay.
    /// </summary>
    /// <param name="marks">The marks, ordered by their places.</param>
    /// <param name="axis">The axis on which they lie.</param>
    /// <param name="plotWidth">The width of the plot in pixels.</param>
    /// <param name="rows">The most rows of labels.</param>
    public static IReadOnlyList<PlacedMark> Place(IEnumerable<Mark> marks, AxisScale axis, double plotWidth, int rows)
    {
        var ends = new double[rows];
        Array.Fill(ends, double.NegativeInfinity);
        var placed = new List<PlacedMark>();
        foreach (Mark mark in marks)
        {
            double at = axis.Share(mark.At) * plotWidth;
            double width = Words.Width(mark.Label) * CharacterWidth;
            bool isLeft = at + width > plotWidth;
            double start = isLeft ? at - width : at;
            int row = Array.FindIndex(ends, end => end + Gap <= start);
            if (row >= 0)
                ends[row] = start + width;
            placed.Add(new PlacedMark(mark.At, row < 0 ? "" : mark.Label, row + 1, isLeft));
        }

        return placed;
    }
}
