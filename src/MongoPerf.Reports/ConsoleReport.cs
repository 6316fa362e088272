using System.Globalization;
using MongoPerf.Reports.Findings;
using Spectre.Console;

namespace MongoPerf.Reports;

public sealed record ConsoleReportOptions
{
    /// <summary>False for pipes and files and with NO_COLOR: no escape codes, tables of ASCII.</summary>
    public bool IsTerminal { get; init; }

    /// <summary>Columns; in fewer than <see cref="ConsoleReport.FullWidth"/> tables leave something out.</summary>
    public int Width { get; init; } = ConsoleReport.FullWidth;

    /// <summary>Shows the whole report, its answer last; otherwise the answer alone.</summary>
    public bool IsFull { get; init; }

    /// <summary>Makes the options for standard output.</summary>
    /// <param name="isFull">As <see cref="IsFull"/>.</param>
    public static ConsoleReportOptions ForStandardOutput(bool isFull = false)
    {
        bool isTerminal = !Console.IsOutputRedirected && string.IsNullOrEmpty(Environment.GetEnvironmentVariable("NO_COLOR"));
        return new ConsoleReportOptions
        {
            IsTerminal = isTerminal,
            IsFull = isFull,
            Width = Console.IsOutputRedirected
                ? WidthOf(Environment.GetEnvironmentVariable("COLUMNS"))
                : Math.Max(ConsoleReport.MinimumWidth, Console.WindowWidth),
        };
    }

    /// <summary>The width of a file or pipe.</summary>
    /// <param name="columns">The environment's COLUMNS; what is no number of columns counts for nothing.</param>
    public static int WidthOf(string? columns) =>
        int.TryParse(columns, NumberStyles.None, CultureInfo.InvariantCulture, out int width) && width > 0
            ? Math.Clamp(width, ConsoleReport.MinimumWidth, ConsoleReport.MostWidth) : ConsoleReport.FullWidth;
}

/// <summary>A report on a terminal or in a pipe: lines with a label each, and tables.</summary>
public static class ConsoleReport
{
    /// <summary>The widest table needs it; lines of text wrap.</summary>
    public const int FullWidth = 132;

    /// <summary>The least width: in less, tables are cut by the terminal.</summary>
    public const int MinimumWidth = 80;

    /// <summary>The widest that COLUMNS may ask for.</summary>
    public const int MostWidth = 1000;

    /// <summary>Between the columns of a plain table.</summary>
    private const string Gap = "  ";

    public static void Write(Report report, TextWriter output, ConsoleReportOptions? options = null)
    {
        options ??= new ConsoleReportOptions();
        // Spectre pads and wraps; what it leaves at line ends is of no use in a file.
        using var text = new StringWriter { NewLine = "\n" };
        IAnsiConsole console = MakeConsole(text, options);
        Block? before = null;
        foreach (Block block in BlocksOf(report.For(Media.Console), options.IsFull))
        {
            bool isApart = block is Block.Table || before is Block.Table { IsPlain: true }
                || (block is Block.Facts && before is not (Block.Facts or Block.Foremost));
            if (before is not null && isApart)
                console.WriteLine();
            Show(console, block, options);
            before = block;
        }

        foreach (string line in Words.Untied(text.ToString()).TrimEnd('\n').Split('\n'))
        {
            output.Write(line.TrimEnd(' '));
            output.Write('\n');
        }
    }

    /// <summary>
    /// The last that a terminal shows is what is read first, so the answer ends it; what the rest has said is left out of it.
    /// </summary>
    private static IEnumerable<Block> BlocksOf(Report report, bool isFull) =>
        report.Answer.Count == 0 ? report.Blocks
        : !isFull ? report.Answer
        : report.Blocks.Concat(report.Answer.Where(block => block is Block.Table or Block.Facts)
            .Select(block => Unsaid(report, block)).Where(block => !block.IsEmpty));

    private static Block Unsaid(Report report, Block block)
    {
        if (block is not Block.Facts facts)
            return block;
        HashSet<Fact> said = [.. report.Blocks.OfType<Block.Facts>().SelectMany(one => one.Lines)];
        return facts with { Lines = [.. facts.Lines.Where(fact => fact.Name != "more" && !said.Contains(fact))] };
    }

    private static void Show(IAnsiConsole console, Block block, ConsoleReportOptions options)
    {
        switch (block)
        {
            case Block.Paragraph { Tone: Tone.Conclusion } paragraph:
                Line(console, "result", paragraph.Text, Color.Default);
                break;
            case Block.Paragraph paragraph:
                console.Write(Tied(paragraph.Text + "\n"));
                break;
            case Block.Verdicts verdicts:
                foreach (Verdict verdict in verdicts.Lines)
                    Line(console, verdict.Mark, verdict.Text, ColorOf(verdict.Grade));
                break;
            case Block.Cautions cautions:
                foreach (string caution in cautions.Lines)
                    Line(console, "note", caution, ColorOf(Grade.Note));
                break;
            case Block.Findings findings:
                Show(console, findings.All);
                break;
            case Block.Foremost foremost:
                Show(console, foremost.All.Select(one => one.Finding));
                break;
            case Block.Facts facts:
                foreach (Fact fact in facts.Lines)
                    Line(console, fact.Name, fact.Text, fact.Grade is { } grade ? ColorOf(grade) : Color.Grey);
                break;
            case Block.Table { IsPlain: true } table:
                ShowPlain(console, table.Content, options);
                break;
            case Block.Table table:
                Show(console, [.. table.Content.Within(options.Width)], options.IsTerminal);
                break;
            default:
                throw new InvalidOperationException($"the console shows no {block.GetType().Name}");
        }
    }

    private static void Show(IAnsiConsole console, IEnumerable<Finding> findings)
    {
        foreach (Finding finding in findings)
            Line(console, "finding", finding.Line, ColorOf(Grade.Note));
    }

    private static void ShowPlain(IAnsiConsole console, ReportTable source, ConsoleReportOptions options)
    {
        if (source.InLines(options.Width, Gap.Length) is not { } table)
        {
            Show(console, [.. source.Within(options.Width)], options.IsTerminal);
            return;
        }

        console.Write(Tied(table.Title + "\n", new Style(decoration: options.IsTerminal ? Decoration.Bold : Decoration.None)));
        int[] widths = table.Widths;
        string[] heads = [.. table.Columns.Select(ReportTable.Header)];
        foreach (IReadOnlyList<string> row in table.Rows.Prepend(heads))
        {
            IEnumerable<string> cells = row.Select((cell, i) => ReportTable.IsText(table.Columns[i])
                ? cell + Blanks(cell, i)
                : Blanks(cell, i) + cell);
            var style = new Style(decoration: options.IsTerminal && ReferenceEquals(row, heads) ? Decoration.Dim : Decoration.None);
            console.Write(new Text(string.Join(Gap, cells).TrimEnd() + "\n", style));
        }

        string Blanks(string cell, int column) => new(' ', widths[column] - Words.Width(cell));
    }

    private static void Show(IAnsiConsole console, IReadOnlyList<ReportTable> parts, bool isTerminal)
    {
        foreach ((int i, ReportTable part) in parts.Index())
        {
            if (i > 0)
                console.WriteLine();
            Show(console, part, isTerminal);
        }
    }

    private static void Show(IAnsiConsole console, ReportTable source, bool isTerminal)
    {
        var table = new Table { Border = isTerminal ? TableBorder.Rounded : TableBorder.Ascii2, UseSafeBorder = true };
        foreach (string column in source.Columns)
        {
            var header = new TableColumn(new Text(ReportTable.Header(column)));
            table.AddColumn(ReportTable.IsText(column) ? header.LeftAligned() : header.RightAligned().NoWrap());
        }

        foreach (IReadOnlyList<string> row in source.Rows)
            table.AddRow(row.Select(field => Tied(field)));
        // A title of the table's own would be centred and wrapped to the table's width.
        console.Write(Tied(source.Title + "\n", new Style(decoration: isTerminal ? Decoration.Bold : Decoration.None)));
        console.Write(table);
    }

    private static void Line(IAnsiConsole console, string label, string text, Color color)
    {
        var grid = new Grid();
        grid.AddColumn(new GridColumn().Width(9).NoWrap());
        grid.AddColumn(new GridColumn());
        grid.AddRow(new Text(Words.Of(label), new Style(color)), Tied(text));
        console.Write(grid);
    }

    private static Text Tied(string text, Style? style = null) => new(Words.Tied(text), style);

    private static IAnsiConsole MakeConsole(TextWriter output, ConsoleReportOptions options)
    {
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = options.IsTerminal ? AnsiSupport.Yes : AnsiSupport.No,
            ColorSystem = options.IsTerminal ? ColorSystemSupport.Standard : ColorSystemSupport.NoColors,
            Interactive = InteractionSupport.No,
            Out = new AnsiConsoleOutput(output),
        });
        console.Profile.Width = options.Width;
        console.Profile.Capabilities.Unicode = options.IsTerminal;
        return console;
    }

    private static Color ColorOf(Grade grade) => grade switch
    {
        Grade.Good => Color.Green,
        Grade.Note => Color.Yellow,
        _ => Color.Red,
    };
}
