namespace MongoPerf.Reports.Charts;

/// <summary>What a chart draws: columns by name, the first of which is the axis. Stored beside the picture as CSV.</summary>
public sealed class ChartTable
{
    /// <summary>The value where a line ends; its next value begins another piece.</summary>
    public const double Gap = double.NaN;

    /// <summary>The value of a line in a row that only others have a value in: it passes by.</summary>
    public const double None = double.NegativeInfinity;

    private readonly List<double[]> _rows;

    public ChartTable(string fileName, IReadOnlyList<string> columns)
        : this(fileName, columns, [])
    {
    }

    private ChartTable(string fileName, IReadOnlyList<string> columns, List<double[]> rows)
    {
        FileName = fileName;
        Columns = columns;
        _rows = rows;
    }

    public string FileName { get; }

    public IReadOnlyList<string> Columns { get; }

    public IReadOnlyList<double[]> Rows => _rows;

    /// <summary>What the CSV has in its first column, where the places on the axis stand for names; null where they are numbers.</summary>
    public IReadOnlyList<string>? RowNames { get; init; }

    /// <summary>Makes a table of the same rows under another name.</summary>
    public ChartTable Named(string file) => new(file, Columns, _rows) { RowNames = RowNames };

    public void Add(double[] row)
    {
        if (row.Length != Columns.Count)
            throw new ArgumentException($"{FileName}: a row has {row.Length} values, the table {Columns.Count} columns", nameof(row));
        _rows.Add(row);
    }

    /// <summary>The largest finite value of the columns from <paramref name="first"/> on; 0 when there is none.</summary>
    public double Largest(int first = 1, int count = int.MaxValue) =>
        _rows.SelectMany(row => row.Skip(first).Take(count)).Where(double.IsFinite).DefaultIfEmpty(0).Max();

    /// <summary>Writes the table as CSV. Fields are empty where there is no value.</summary>
    /// <param name="writer">Gets it.</param>
    /// <param name="notMongoDb">The value of one more column, where the chart has it.</param>
    public void Write(TextWriter writer, string? notMongoDb = null)
    {
        string[] more = notMongoDb is null ? [] : [notMongoDb];
        CsvReport.Row(writer, [.. Columns.Select(Printable), .. more.Select(_ => NotMongoDb.Column)]);
        foreach ((int i, double[] row) in _rows.Index())
            CsvReport.Row(writer, [RowNames is null ? row[0] : Printable(RowNames[i]), .. row.Skip(1), .. more]);
    }

    private static string Printable(string text) => string.Concat(text.Select(static c => char.IsControl(c) ? ' ' : c));
}
