using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Html;
using MongoPerf.Storage;

namespace MongoPerf.Testing;

/// <summary>A table as its readers see it.</summary>
/// <param name="Title">The line above it.</param>
internal sealed record ShownTable(string Title, IReadOnlyList<string> Columns, IReadOnlyList<IReadOnlyList<string>> Rows)
{
    /// <summary>The cell of a row; null where the table has no such column.</summary>
    public string? Cell(IReadOnlyList<string> row, string column) =>
        Columns.TakeWhile(name => name != column).Count() is var place && place < row.Count ? row[place] : null;

    public override string ToString() => $"'{Title}' ({string.Join(", ", Columns)})";
}

/// <summary>A stored run in each form in which it is shown: texts, page, JSON, CSV.</summary>
internal sealed partial class ShownRun
{
    private readonly Lazy<Report> _report;
    private readonly Lazy<string> _answer;
    private readonly Lazy<string> _full;
    private readonly Lazy<string> _markdown;
    private readonly Lazy<string> _page;
    private readonly Lazy<string> _jsonText;
    private readonly Lazy<JsonElement> _json;
    private readonly Lazy<IReadOnlyList<ShownTable>> _tables;
    private readonly Lazy<IReadOnlyList<ShownTable>> _pageTables;
    private readonly Lazy<IReadOnlyList<IReadOnlyDictionary<string, string>>> _results;
    private readonly Lazy<IReadOnlyList<Sample>> _samples;

    public ShownRun(StoredRun run)
    {
        Run = run;
        _report = new(() => RunReport.Of(run));
        _answer = new(() => Written(output => ConsoleReport.Write(_report.Value, output, new ConsoleReportOptions { Width = 80 })));
        _full = new(() => Written(output => ConsoleReport.Write(_report.Value, output, new ConsoleReportOptions { IsFull = true })));
        _markdown = new(() => Written(output => MarkdownReport.Write(_report.Value, output)));
        _page = new(() => HtmlReport.Build(
            _report.Value, new PagePictures(HtmlExplore.Of(run), new RenderedCharts([], [], []), run.Folder)));
        _jsonText = new(() => Written(output => JsonReport.Write(run, output)));
        _json = new(() => JsonDocument.Parse(_jsonText.Value).RootElement);
        _tables = new(() => [.. TablesOf(_markdown.Value)]);
        _pageTables = new(() => [.. TablesOfPage(_page.Value)]);
        _results = new(() => RowsOf(Written(output => CsvReport.WriteResults(run, output))));
        _samples = new(() => [.. run.ReadSamples()]);
    }

    public StoredRun Run { get; }

    /// <summary>Leaves out the page, and the console's form of what Markdown shows, too: they take most of the time.</summary>
    public bool IsBrief { get; init; }

    /// <summary>The last screen of a run, 80 columns wide.</summary>
    public string Answer => _answer.Value;

    /// <summary>What --full shows.</summary>
    public string Full => _full.Value;

    public string Markdown => _markdown.Value;

    public string Page => _page.Value;

    /// <summary>The page's text without its data, scripts and styles.</summary>
    public string PageText => Plain(Hidden().Replace(Page, ""));

    public string JsonText => _jsonText.Value;

    public JsonElement Json => _json.Value;

    /// <summary>The tables of the Markdown report, that of its answer first.</summary>
    public IReadOnlyList<ShownTable> Tables => _tables.Value;

    public IReadOnlyList<ShownTable> PageTables => _pageTables.Value;

    /// <summary>results.csv, a dictionary a row.</summary>
    public IReadOnlyList<IReadOnlyDictionary<string, string>> Results => _results.Value;

    /// <summary>The client's samples, without their histograms and those of steps.</summary>
    public IReadOnlyList<Sample> Samples => _samples.Value;

    /// <summary>The tables of operations with which the answer begins.</summary>
    public IEnumerable<ShownTable> AnswerTables => Tables.TakeWhile(table => table.Columns[^1] == "verdict");

    /// <summary>All texts by the form that shows them; a word that a form breaks over lines is whole again.</summary>
    public IEnumerable<(string Form, string Text)> Texts =>
    [
        ("answer", Flat(Answer)), ("Markdown", Markdown.Replace("\\", "", StringComparison.Ordinal)),
        .. IsBrief ? Array.Empty<(string, string)>() : [("full", Flat(Full)), ("page", PageText)],
    ];

    /// <summary>A figure as text shows it: 1.2 ms is 1,200 (µs), 44k is 44,000; null for no figure.</summary>
    public static double? ValueOf(string? cell)
    {
        if (cell is null || Figure().Match(cell.Trim()) is not { Success: true } match)
            return null;
        double value = double.Parse(match.Groups["number"].Value, CultureInfo.InvariantCulture);
        return value * match.Groups["unit"].Value switch
        {
            "ms" or "k" => 1e3, "s" or "M" => 1e6, "G" => 1e9, _ => 1,
        };
    }

    private static string Written(Action<TextWriter> write)
    {
        using var output = new StringWriter();
        write(output);
        return output.ToString();
    }

    private static string Flat(string text) => LineBreak().Replace(text, " ");

    private static IEnumerable<ShownTable> TablesOf(string markdown)
    {
        string title = "";
        string[] lines = markdown.Split('\n');
        for (int i = 0; i < lines.Length; i++)
        {
            if (!lines[i].StartsWith('|'))
            {
                if (lines[i].Length > 0)
                    title = lines[i].TrimStart('#', ' ').TrimEnd(':').Replace("\\", "", StringComparison.Ordinal);
                continue;
            }

            IReadOnlyList<string> head = CellsOf(lines[i]);
            var rows = new List<IReadOnlyList<string>>();
            for (i += 2; i < lines.Length && lines[i].StartsWith('|'); i++)
                rows.Add(CellsOf(lines[i]));
            yield return new ShownTable(title, head, rows);
        }
    }

    private static string[] CellsOf(string line) =>
        [.. CellEnd().Split(line)[1..^1].Select(cell => cell.Trim().Replace("\\", "", StringComparison.Ordinal))];

    private static IEnumerable<ShownTable> TablesOfPage(string page)
    {
        foreach (Match table in PageTable().Matches(Hidden().Replace(page, "")))
        {
            string[][] rows = [.. PageRow().Matches(table.Value)
                .Select(row => PageCell().Matches(row.Value).Select(cell => Plain(cell.Groups["text"].Value)).ToArray())];
            yield return new ShownTable("", rows[0], rows[1..]);
        }
    }

    private static string Plain(string html) => WebUtility.HtmlDecode(Tag().Replace(html, " ")).Replace('\u00a0', ' ').Trim();

    private static IReadOnlyList<IReadOnlyDictionary<string, string>> RowsOf(string csv)
    {
        string[][] rows = [.. csv.Split("\r\n", StringSplitOptions.RemoveEmptyEntries).Select(FieldsOf)];
        return [.. rows.Skip(1).Select(row => rows[0].Zip(row).ToDictionary(pair => pair.First, pair => pair.Second))];
    }

    private static string[] FieldsOf(string line)
    {
        var fields = new List<string>();
        var field = new StringBuilder();
        bool isQuoted = false;
        foreach (char c in line)
        {
            if (c == '"')
                isQuoted = !isQuoted;
            else if (c == ',' && !isQuoted)
                (_, _) = (Add(), field.Clear());
            else
                field.Append(c);
        }

        Add();
        return [.. fields];

        bool Add()
        {
            fields.Add(field.ToString());
            return true;
        }
    }

    [GeneratedRegex(@"\n +")]
    private static partial Regex LineBreak();

    [GeneratedRegex(@"(?<!\\)\|")]
    private static partial Regex CellEnd();

    [GeneratedRegex("<(script|style|pre)\\b.*?</\\1>", RegexOptions.Singleline)]
    private static partial Regex Hidden();

    [GeneratedRegex("<table\\b.*?</table>", RegexOptions.Singleline)]
    private static partial Regex PageTable();

    [GeneratedRegex("<tr\\b.*?</tr>", RegexOptions.Singleline)]
    private static partial Regex PageRow();

    [GeneratedRegex("<t[hd]\\b[^>]*>(?<text>.*?)</t[hd]>", RegexOptions.Singleline)]
    private static partial Regex PageCell();

    [GeneratedRegex("<[^>]*>")]
    private static partial Regex Tag();

    [GeneratedRegex(@"^(?<number>-?\d[\d,]*(\.\d+)?) ?(?<unit>µs|ms|s|k|M|G|docs/s|ops/s|writes/s)?$")]
    private static partial Regex Figure();
}
