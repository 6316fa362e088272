namespace MongoPerf.Reports;

/// <summary>Rows of text in columns. For another program each row is one line; at a terminal the last column wraps.</summary>
public static class TextColumns
{
    /// <summary>Columns of a terminal; less for the last column is no room to read in, so it gets lines of its own.</summary>
    private const int LeastLast = 20;

    /// <param name="rows">The first one may be the headings; all have as many fields.</param>
    /// <param name="output">Gets them.</param>
    public static void Write(IReadOnlyList<IReadOnlyList<string>> rows, TextWriter output) =>
        Write(rows, output, !Console.IsOutputRedirected && Console.WindowWidth is > 0 and int columns ? columns : null);

    /// <param name="rows">The first one may be the headings; all have as many fields.</param>
    /// <param name="output">Gets them.</param>
    /// <param name="terminal">Its columns; null when it is none.</param>
    public static void Write(IReadOnlyList<IReadOnlyList<string>> rows, TextWriter output, int? terminal)
    {
        if (rows.Count == 0)
            return;
        IReadOnlyList<string>[] lines = [.. rows.Select(row => row.Select(text => text.ReplaceLineEndings(" ")).ToArray())];
        int[] widths = [.. Enumerable.Range(0, rows[0].Count - 1).Select(column => lines.Max(row => Words.Width(row[column])) + 1)];
        int first = widths.Sum();
        int width = terminal ?? int.MaxValue;
        bool isBelow = width - first < LeastLast && lines.Any(row => first + Words.Width(row[^1]) > width);
        // Also where it is below: the name of the row stands out.
        int indent = isBelow ? widths[0] : first;
        foreach (IReadOnlyList<string> row in lines)
        {
            string before = string.Concat(row.Zip(widths, static (text, width) => text + new string(' ', width - Words.Width(text))));
            string last = Words.Wrap(row[^1], width - indent).Replace("\n", "\n" + new string(' ', indent), StringComparison.Ordinal);
            output.WriteLine(isBelow && last.Length > 0
                ? $"{before.TrimEnd()}\n{new string(' ', indent)}{last}"
                : (before + last).TrimEnd());
        }
    }
}
