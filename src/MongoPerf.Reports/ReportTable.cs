using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>A table of finished texts, for whatever shows it.</summary>
/// <param name="Title">The title with what a reader must know about the figures.</param>
/// <param name="Columns">The first letter of a column of texts is '&lt;', which is not shown; the others hold numbers.</param>
/// <param name="Rows">The rows, each with as many fields as there are columns.</param>
public sealed record ReportTable(string Title, IReadOnlyList<string> Columns, IReadOnlyList<IReadOnlyList<string>> Rows)
{
    private const int LeastTextWidth = 10;

    /// <summary>Words up to this are not broken.</summary>
    private const int MostTextWidth = 24;

    /// <summary>Figures that others nearly say. Response and service time of the median and of one in a hundred always stay.</summary>
    private static readonly string[] LeftOutFirst =
    [
        "p95", "response p95", "docs/s", "p99.9", "response p99.9", "drain", "MB/s", "lateness p99", "response max", "failed",
        "examined/op", "p (Holm)", "95 %",
    ];

    /// <summary>Of tables whose rows are a line each, which say little more than the others.</summary>
    private static readonly string[] LeftOutOfLines = ["baseline", "95 %"];

    /// <summary>Of a name in such a line.</summary>
    private const int LeastNameWidth = 8;

    public static bool IsText(string column) => column.StartsWith('<');

    /// <summary>
    /// The heading of a column as it is shown, translated: columns themselves stay English, so that they can be told apart.
    /// </summary>
    public static string Header(string column)
    {
        string text = column.TrimStart('<');
        return text.Split(' ') is [var what, var figure] && LatencyMetric.Find(figure) is not null ? what switch
        {
            "response" => Words.Of("response ") + Words.Of(figure),
            "service" => Words.Of("service ") + Words.Of(figure),
            "lateness" => Words.Of("lateness ") + Words.Of(figure),
            _ => Words.Of(text),
        } : Words.Of(text);
    }

    /// <summary>
    /// Columns of numbers that belong together, as those of one deployment do: where a table is divided, so many stay side by side if
    /// there is room for them.
    /// </summary>
    public int Together { get; init; } = 1;

    /// <summary>Where a page leads from the first field of each row; empty for nowhere.</summary>
    public IReadOnlyList<string?> Links { get; init; } = [];

    /// <summary>
    /// The same table in at most so many characters: what a reader misses least is left out, and the title says so. What is too wide even
    /// so becomes several tables, one below the other.
    /// </summary>
    /// <remarks>Columns of texts wrap instead, between words.</remarks>
    public IEnumerable<ReportTable> Within(int width)
    {
        List<int> kept = [.. Enumerable.Range(0, Columns.Count)];
        List<string> left = [];
        foreach (string column in LeftOutFirst.Where(c => Columns.Contains(c)))
        {
            if (WidthOf(kept) <= width)
                break;
            kept.Remove(IndexOf(column));
            left.Add(column);
        }

        ReportTable fitting = left.Count == 0 ? this
            : With(Words.Of($"{Title} (no room for {string.Join(", ", left.Select(Header))}; the report has all columns)"), kept);
        return WidthOf(kept) <= width ? [fitting]
            : (fitting with { Columns = [.. fitting.Columns.Select((_, i) => fitting.Stacked(i))] }).Divided(width);
    }

    /// <summary>
    /// The same table with each row in one line of at most so many characters: columns are left out, first those that hold nothing, then
    /// names on the left are shortened, so that they still differ.
    /// </summary>
    /// <param name="width">Of a line.</param>
    /// <param name="gap">Blanks between two columns.</param>
    /// <returns>Null where there is no room for lines even so.</returns>
    public ReportTable? InLines(int width, int gap)
    {
        List<int> kept = [.. Enumerable.Range(0, Columns.Count)];
        IEnumerable<string> empty = Columns.Where((_, i) => i > 0 && IsEmpty(i));
        foreach (string column in empty.Union(LeftOutOfLines.Where(c => Columns.Contains(c))))
        {
            if (Over(kept) > 0)
                kept.Remove(IndexOf(column));
        }

        int name = Widest(0) - Math.Max(0, Over(kept));
        if (name < Math.Max(Words.Width(Header(Columns[0])), Math.Min(LeastNameWidth, Widest(0))))
            return null;
        ReportTable table = With(Title, kept);
        string[] names = Words.Cut([.. table.Rows.Select(row => row[0])], name);
        return table with { Rows = [.. table.Rows.Zip(names, (row, cut) => (IReadOnlyList<string>)[cut, .. row.Skip(1)])] };

        int Over(List<int> columns) => columns.Sum(Widest) + ((columns.Count - 1) * gap) - width;
    }

    /// <summary>The same table without columns that hold nothing.</summary>
    public ReportTable WithoutEmpty() =>
        With(Title, [.. Enumerable.Range(0, Columns.Count).Where(i => !IsEmpty(i))]) with { Links = Links };

    private bool IsEmpty(int column) => Rows.All(row => row[column] == Units.None);

    /// <summary>The characters that each column needs.</summary>
    public int[] Widths => [.. Enumerable.Range(0, Columns.Count).Select(Widest)];

    /// <summary>Each part has what names its rows: the texts on the left, or the first column of numbers, such as documents.</summary>
    private IEnumerable<ReportTable> Divided(int width)
    {
        int[] names = [.. Enumerable.Range(0, Math.Max(1, Columns.TakeWhile(IsText).Count()))];
        List<int> part = [.. names];
        string title = Title;
        IEnumerable<int[]> groups = Enumerable.Range(names.Length, Columns.Count - names.Length).Chunk(Together);
        foreach (int[] next in groups.SelectMany(group => WidthOf([.. names, .. group]) > width ? group.Chunk(1) : [group]))
        {
            if (part.Count > names.Length && WidthOf([.. part, .. next]) > width)
            {
                yield return With(title, part);
                title = Words.Of($"{Title} (continued)");
                part = [.. names];
            }

            part.AddRange(next);
        }

        yield return With(title, part);
    }

    private ReportTable With(string title, IReadOnlyList<int> columns) =>
        new(title, [.. columns.Select(i => Columns[i])], [.. Rows.Select(row => (IReadOnlyList<string>)[.. columns.Select(i => row[i])])]);

    /// <summary>A column of numbers with its header in several lines, none wider than its widest figure or word.</summary>
    private string Stacked(int column)
    {
        if (IsText(Columns[column]))
            return Columns[column];
        string[] words = Header(Columns[column]).Split(' ');
        int most = Math.Max(words.Max(Words.Width), Rows.Select(row => Words.Width(row[column])).DefaultIfEmpty().Max());
        List<string> lines = [];
        foreach (string word in words)
        {
            if (lines.Count > 0 && Words.Width(lines[^1]) + 1 + Words.Width(word) <= most)
                lines[^1] += " " + word;
            else
                lines.Add(word);
        }

        return string.Join('\n', lines);
    }

    private int IndexOf(string column) => Columns.TakeWhile(c => c != column).Count();

    private int WidthOf(IReadOnlyList<int> columns) => 1 + columns.Sum(i => 3 + (IsText(Columns[i])
        ? Math.Max(Math.Min(LeastTextWidth, Widest(i)), Math.Min(MostTextWidth, LongestWord(i)))
        : Widest(i)));

    private int LongestWord(int column) =>
        Rows.Select(row => row[column]).Append(Header(Columns[column])).SelectMany(text => Words.Tied(text).Split(' ')).Max(LongestPiece);

    /// <summary>A Chinese text may be broken anywhere.</summary>
    private static int LongestPiece(string word) => word.EnumerateRunes().Any(Words.IsWide) ? 2 : word.Length;

    private int Widest(int column) =>
        Math.Max(Header(Columns[column]).Split('\n').Max(Words.Width), Rows.Select(row => Words.Width(row[column])).DefaultIfEmpty().Max());
}
