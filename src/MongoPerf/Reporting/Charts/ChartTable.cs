using System.Globalization;

namespace MongoPerf.Reporting.Charts;

/// <summary>Rows of a data file: tabs between columns, names in the first line; where there is no value NaN, which breaks a line, or ?, which it passes by.</summary>
internal sealed class ChartTable
{
    /// <summary>Where a line ends; its next value begins another piece.</summary>
    public const double Gap = double.NaN;

    /// <summary>Where a line has no value in a row of others: it passes by.</summary>
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

    /// <summary>The same rows under another name.</summary>
    public ChartTable Named(string file) => new(file, Columns, _rows);

    public void Add(double[] row)
    {
        if (row.Length != Columns.Count)
            throw new ArgumentException($"{FileName}: a row has {row.Length} values, the table {Columns.Count} columns", nameof(row));
        _rows.Add(row);
    }

    /// <summary>Largest finite value of the columns from <paramref name="first"/> on; 0 when there is none.</summary>
    public double Largest(int first = 1, int count = int.MaxValue) =>
        _rows.SelectMany(row => row.Skip(first).Take(count)).Where(double.IsFinite).DefaultIfEmpty(0).Max();

    public void Write(TextWriter writer)
    {
        writer.Write("# ");
        // A title is a name from a file: one with a line break must not become a row.
        writer.Write(string.Join('\t', Columns.Select(static column => string.Concat(column.Select(static c => char.IsControl(c) ? ' ' : c)))));
        writer.Write('\n');
        foreach (double[] row in _rows)
        {
            writer.Write(string.Join('\t', row.Select(static value => double.IsFinite(value) ? value.ToString("0.######", CultureInfo.InvariantCulture) : value == None ? "?" : "NaN")));
            writer.Write('\n');
        }
    }
}
