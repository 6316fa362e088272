namespace MongoPerf.Reports.Charts;

/// <summary>Brings points of several lines onto common rows, and thins them where there are too many. One thread.</summary>
/// <param name="lines">The number of lines.</param>
/// <param name="seconds">The length of the axis; 0 for what continues a panel and is short.</param>
/// <param name="longestGap">The seconds without a point after which a line ends.</param>
/// <param name="ends">The seconds on the axis at which lines end, too, however near their next points are; null for none.</param>
internal sealed class PanelBuilder(int lines, double seconds, double longestGap, IEnumerable<double>? ends = null)
{
    /// <summary>The most rows of a panel, with a few more where lines end. An hour's seconds stay as they are.</summary>
    public const int MostRows = 4000;

    /// <summary>Rows are tenths of a second apart: operations that were sampled together share one.</summary>
    private const double RowsPerSecond = 10;

    /// <summary>The points of a line that are held before they are thinned: a run of weeks takes no more memory than this.</summary>
    private const int MostPoints = 4 * MostRows;

    /// <summary>The rows of a piece of time of which two points are left.</summary>
    private readonly long _piece = Math.Max(2, (long)Math.Ceiling(seconds * RowsPerSecond / (MostRows / 2)));

    private readonly List<(long Row, double Value)>[] _points = [.. Enumerable.Range(0, lines)
        .Select(static _ => new List<(long, double)>())];

    private readonly double[] _ends = [.. (ends ?? []).Order()];

    /// <summary>How many ends each line has passed.</summary>
    private readonly int[] _passed = new int[lines];

    /// <summary>
    /// The length of the pieces of time of which the table holds the least and the greatest value; 0 where it holds all points.
    /// </summary>
    public double PieceSeconds { get; private set; }

    /// <param name="at">Seconds on the axis, not before the line's last point.</param>
    /// <param name="line">The place of the line.</param>
    /// <param name="value">The value; one that is not finite is ignored.</param>
    public void Add(double at, int line, double value)
    {
        if (!double.IsFinite(value))
            return;
        List<(long Row, double Value)> points = _points[line];
        // By time, not by row: the last point of one session and the first of the next may share a row.
        int passed = _passed[line];
        while (passed < _ends.Length && _ends[passed] <= at)
            passed++;
        if (passed > _passed[line] && points.Count > 0)
            Append(points, 0, ChartTable.Gap);
        _passed[line] = passed;
        Append(points, (long)Math.Round(at * RowsPerSecond), value);
        if (points.Count > MostPoints)
            _points[line] = Extremes(points);
    }

    /// <summary>Ends a line, however near its next point is: nothing is known between its last point and that.</summary>
    /// <param name="line">The place of the line.</param>
    public void End(int line)
    {
        List<(long Row, double Value)> points = _points[line];
        if (points.Count > 0 && !double.IsNaN(points[^1].Value))
            Append(points, 0, ChartTable.Gap);
    }

    /// <summary>
    /// Makes the table. Of more rows than <see cref="MostRows"/> the least and the greatest value of equal pieces of time are left, so that
    /// no spike is lost.
    /// </summary>
    /// <param name="file">The table's file.</param>
    /// <param name="titles">The lines' titles.</param>
    public ChartTable Build(string file, IEnumerable<string> titles)
    {
        IEnumerable<List<(long Row, double Value)>> points = _points;
        if (RowsOf(_points).Length > MostRows)
        {
            PieceSeconds = _piece / RowsPerSecond;
            points = points.Select(Extremes);
        }

        long longest = (long)(Math.Max(longestGap, PieceSeconds * 2.5) * RowsPerSecond);
        List<(long Row, double Value)>[] whole = [.. points.Select(line => WithGaps(line, longest))];
        var table = new ChartTable(file, ["seconds", .. titles]);
        int[] next = new int[whole.Length];
        foreach (long row in RowsOf(whole))
            table.Add([row / RowsPerSecond,
                .. whole.Select((line, i) => next[i] < line.Count && line[next[i]].Row == row ? line[next[i]++].Value : ChartTable.None)]);
        return table;
    }

    private static long[] RowsOf(IEnumerable<List<(long Row, double Value)>> lines) =>
        [.. lines.SelectMany(static line => line).Select(static point => point.Row).Distinct().Order()];

    /// <summary>Adds a point at a row, or at the first one that is free.</summary>
    private static void Append(List<(long Row, double Value)> line, long row, double value) =>
        line.Add((line.Count > 0 ? Math.Max(row, line[^1].Row + 1) : row, value));

    private List<(long Row, double Value)> Extremes(List<(long Row, double Value)> line)
    {
        var thinned = new List<(long, double)>();
        for (int next = 0; next < line.Count;)
        {
            if (double.IsNaN(line[next].Value))
            {
                Append(thinned, line[next++].Row, ChartTable.Gap);
                continue;
            }

            long piece = line[next].Row / _piece;
            (long Row, double Value) least = line[next], greatest = line[next];
            for (; next < line.Count && line[next].Row / _piece == piece && !double.IsNaN(line[next].Value); next++)
            {
                if (line[next].Value < least.Value)
                    least = line[next];
                if (line[next].Value > greatest.Value)
                    greatest = line[next];
            }

            bool rises = least.Row < greatest.Row;
            Append(thinned, piece * _piece, rises ? least.Value : greatest.Value);
            Append(thinned, (piece * _piece) + (_piece / 2), rises ? greatest.Value : least.Value);
        }

        return thinned;
    }

    private static List<(long Row, double Value)> WithGaps(List<(long Row, double Value)> line, long longest)
    {
        var whole = new List<(long Row, double Value)>(line.Count);
        foreach ((long Row, double Value) point in line)
        {
            if (whole.Count > 0 && !double.IsNaN(whole[^1].Value) && point.Row - whole[^1].Row > longest)
                Append(whole, 0, ChartTable.Gap);
            whole.Add(point);
        }

        return whole;
    }
}
