namespace MongoPerf.Reporting.Explore;

/// <summary>Brings points of several lines onto common rows, and thins them where there are too many.</summary>
/// <param name="lines">How many there are.</param>
/// <param name="longestGap">Seconds without a point after which a line ends.</param>
internal sealed class PanelBuilder(int lines, double longestGap)
{
    /// <summary>Of a panel, with a few more where lines end. An hour's seconds stay as they are.</summary>
    public const int MostRows = 4000;

    /// <summary>Rows are tenths of a second apart: operations that were sampled together share one.</summary>
    private const double RowsPerSecond = 10;

    private readonly List<(long Row, double Value)>[] _points = [.. Enumerable.Range(0, lines).Select(static _ => new List<(long, double)>())];

    /// <param name="at">Seconds on the axis; not before the line's last point.</param>
    /// <param name="line">Its place.</param>
    /// <param name="value">Ignored when it is not finite.</param>
    public void Add(double at, int line, double value)
    {
        if (!double.IsFinite(value))
            return;
        List<(long Row, double Value)> points = _points[line];
        long row = (long)Math.Round(at * RowsPerSecond);
        points.Add((points.Count > 0 ? Math.Max(row, points[^1].Row + 1) : row, value));
    }

    /// <param name="line">Its place.</param>
    public bool IsEmpty(int line) => _points[line].Count == 0;

    /// <summary>Where there are more than <see cref="MostRows"/>, the least and the greatest value of equal pieces of time are left, so that no spike is lost.</summary>
    /// <param name="pieceSeconds">Length of such a piece; 0 where all points are there.</param>
    public PlotColumns Build(out double pieceSeconds)
    {
        pieceSeconds = 0;
        IEnumerable<List<(long Row, double Value)>> points = _points;
        long[] rows = RowsOf(_points);
        if (rows.Length > MostRows)
        {
            // Two rows for each piece, so never shorter than two tenths.
            long piece = Math.Max(2, (rows[^1] - rows[0] + 1 + (MostRows / 2) - 1) / (MostRows / 2));
            pieceSeconds = piece / RowsPerSecond;
            points = points.Select(line => Extremes(line, piece));
        }

        long longest = (long)(Math.Max(longestGap, pieceSeconds * 2.5) * RowsPerSecond);
        List<(long Row, double Value)>[] whole = [.. points.Select(line => WithGaps(line, longest))];
        rows = RowsOf(whole);
        return new PlotColumns([.. rows.Select(static row => row / RowsPerSecond)], [.. whole.Select(line => Column(line, rows))]);
    }

    private static long[] RowsOf(IEnumerable<List<(long Row, double Value)>> lines) => [.. lines.SelectMany(static line => line).Select(static point => point.Row).Distinct().Order()];

    private static List<(long Row, double Value)> Extremes(List<(long Row, double Value)> line, long piece)
    {
        var thinned = new List<(long, double)>();
        foreach (var points in line.GroupBy(point => point.Row / piece))
        {
            (long least, double lowest) = points.MinBy(static point => point.Value);
            (long greatest, double highest) = points.MaxBy(static point => point.Value);
            thinned.Add((points.Key * piece, least < greatest ? lowest : highest));
            thinned.Add(((points.Key * piece) + (piece / 2), least < greatest ? highest : lowest));
        }

        return thinned;
    }

    private static List<(long Row, double Value)> WithGaps(List<(long Row, double Value)> line, long longest)
    {
        var whole = new List<(long Row, double Value)>(line.Count);
        foreach ((long Row, double Value) point in line)
        {
            if (whole.Count > 0 && point.Row - whole[^1].Row > longest)
                whole.Add((whole[^1].Row + 1, PlotColumns.Gap));
            whole.Add(point);
        }

        return whole;
    }

    private static double[] Column(List<(long Row, double Value)> line, long[] rows)
    {
        double[] column = new double[rows.Length];
        Array.Fill(column, PlotColumns.None);
        int at = 0;
        foreach ((long row, double value) in line)
        {
            at = Array.BinarySearch(rows, at, rows.Length - at, row);
            column[at] = value;
        }

        return column;
    }
}
