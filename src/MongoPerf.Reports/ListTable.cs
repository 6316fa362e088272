namespace MongoPerf.Reports;

/// <summary>What <c>list</c> shows, for people and for programs.</summary>
/// <param name="Name">The name of the list in JSON, such as "runs".</param>
/// <param name="Empty">What is said where there is nothing.</param>
/// <param name="Columns">Name of the field, and what people read above the column; null for a column that only programs get.</param>
/// <param name="Rows">Values of the fields, and what people read.</param>
public sealed record ListTable(string Name, string Empty, IReadOnlyList<(string Field, string? Header)> Columns,
    IReadOnlyList<IReadOnlyList<(object? Value, string Text)>> Rows)
{
    public const string Schema = "mongoperf/list/1";

    /// <summary>A value that people read as it is.</summary>
    public static (object? Value, string Text) Plain(string? text) => (text, text ?? "");

    /// <param name="format">text, json or csv.</param>
    /// <param name="output">Gets it.</param>
    public void Write(string format, TextWriter output)
    {
        switch (format)
        {
            case "json":
                JsonReport.WriteValue(output, new Dictionary<string, object?>
                {
                    ["schema"] = Schema,
                    [Name] = Rows.Select(row => Columns.Zip(row).ToDictionary(one => one.First.Field, one => one.Second.Value)),
                });
                break;
            case "csv":
                CsvReport.Row(output, [.. Columns.Select(column => column.Field)]);
                foreach (IReadOnlyList<(object? Value, string Text)> row in Rows)
                    CsvReport.Row(output, [.. row.Select(one => one.Value is DateTimeOffset time ? time.ToString("O") : one.Value)]);
                break;
            default:
                WriteText(output);
                break;
        }
    }

    private void WriteText(TextWriter output)
    {
        if (Rows.Count == 0)
        {
            output.WriteLine(Empty);
            return;
        }

        TextColumns.Write(
            [
                [.. Columns.Select(column => column.Header).OfType<string>()],
                .. Rows.Select(row => row.Where((_, i) => Columns[i].Header is not null).Select(one => one.Text).ToArray()),
            ], output);
    }
}
