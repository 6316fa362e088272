using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Findings;
using Spectre.Console;

namespace MongoPerf.Reporting;

/// <summary>How to print, and what the caller knows beyond the run.</summary>
internal sealed record ConsoleReportOptions
{
    /// <summary>False for pipes and files and with NO_COLOR: no escape codes, tables of ASCII.</summary>
    public bool IsTerminal { get; init; }

    /// <summary>Columns; in fewer than <see cref="ConsoleReport.FullWidth"/> tables leave something out.</summary>
    public int Width { get; init; } = ConsoleReport.FullWidth;

    /// <summary>Paths as they are to be shown.</summary>
    public IReadOnlyList<string> FilesWritten { get; init; } = [];

    /// <summary>The report's page, named last; null when none was written.</summary>
    public string? Page { get; init; }

    /// <summary>As typed after --out; null for the default.</summary>
    public string? RunsFolder { get; init; }

    /// <summary>What the run's server has left on the disk; null for nothing.</summary>
    public string? Left { get; init; }

    /// <summary>For standard output.</summary>
    public static ConsoleReportOptions ForStandardOutput()
    {
        bool isTerminal = !Console.IsOutputRedirected && string.IsNullOrEmpty(System.Environment.GetEnvironmentVariable("NO_COLOR"));
        return new ConsoleReportOptions
        {
            IsTerminal = isTerminal,
            Width = Console.IsOutputRedirected ? WidthOf(System.Environment.GetEnvironmentVariable("COLUMNS")) : Math.Max(ConsoleReport.MinimumWidth, Console.WindowWidth),
        };
    }

    /// <summary>Of a file or pipe.</summary>
    /// <param name="columns">The environment's COLUMNS; what is no number of columns counts for nothing.</param>
    public static int WidthOf(string? columns) => int.TryParse(columns, NumberStyles.None, CultureInfo.InvariantCulture, out int width) && width > 0
        ? Math.Clamp(width, ConsoleReport.MinimumWidth, ConsoleReport.MostWidth) : ConsoleReport.FullWidth;
}

/// <summary>What a run's end shows: verdict and findings first, then environment, tables, files and what to type next.</summary>
internal static class ConsoleReport
{
    /// <summary>The widest table needs it; lines of text wrap.</summary>
    public const int FullWidth = 132;

    /// <summary>In less, tables are cut by the terminal.</summary>
    public const int MinimumWidth = 80;

    /// <summary>Of what COLUMNS may ask for.</summary>
    public const int MostWidth = 1000;

    private const int MostFindings = 5;

    public static void Write(StoredRun run, TextWriter output, ConsoleReportOptions? options = null)
    {
        options ??= new ConsoleReportOptions();
        Print(output, options, console => Write(run, console, options));
    }

    /// <summary>What is written to a console of the right width and colours goes to the output.</summary>
    public static void Print(TextWriter output, ConsoleReportOptions options, Action<IAnsiConsole> write)
    {
        // Spectre pads and wraps; what it leaves at line ends is of no use in a file.
        using var text = new StringWriter { NewLine = "\n" };
        write(MakeConsole(text, options));
        foreach (string line in text.ToString().TrimEnd('\n').Split('\n'))
        {
            output.Write(line.TrimEnd(' '));
            output.Write('\n');
        }
    }

    private static void Write(StoredRun run, IAnsiConsole console, ConsoleReportOptions options)
    {
        foreach (Verdict verdict in Verdict.Of(run))
            Labelled(console, verdict);
        WriteFindings(console, RunFindings.Shown(run));
        console.WriteLine();
        foreach ((string name, string line) in ReportLines.Environment(run))
            Labelled(console, name, line, Color.Grey);
        foreach (ReportTable table in ReportTables.All(run))
            WriteTable(console, table.Within(options.Width), options.IsTerminal);
        console.WriteLine();
        foreach (string file in options.FilesWritten)
            Labelled(console, "written", file, Color.Grey);
        if (options.Left is not null)
            Labelled(console, "left", options.Left, Color.Grey);
        Labelled(console, "next", ReportLines.Next(run, options.RunsFolder), Color.Grey);
        if (options.Page is not null)
            Labelled(console, "report", options.Page, Color.Green);
    }

    /// <summary>The most important; nothing where there is none.</summary>
    private static void WriteFindings(IAnsiConsole console, IReadOnlyList<Finding> findings)
    {
        foreach (Finding finding in findings.Take(MostFindings))
            Labelled(console, "finding", finding.Line, Color.Yellow);
        if (findings.Count > MostFindings)
            Labelled(console, "finding", Words.Of($"{findings.Count - MostFindings} more in the report"), Color.Grey);
    }

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

    public static void Labelled(IAnsiConsole console, Verdict verdict) => Labelled(console, verdict.Mark, verdict.Text, ColourOf(verdict.Grade));

    public static void Labelled(IAnsiConsole console, string label, string text, Color colour)
    {
        var grid = new Grid();
        grid.AddColumn(new GridColumn().Width(9).NoWrap());
        grid.AddColumn(new GridColumn());
        grid.AddRow(new Text(Words.Of(label), new Style(colour)), new Text(text));
        console.Write(grid);
    }

    public static void WriteTable(IAnsiConsole console, ReportTable source, bool isTerminal)
    {
        var table = new Table { Border = isTerminal ? TableBorder.Rounded : TableBorder.Ascii2, UseSafeBorder = true };
        foreach (string column in source.Columns)
        {
            var header = new TableColumn(new Text(ReportTable.Header(column)));
            table.AddColumn(ReportTable.IsText(column) ? header.LeftAligned() : header.RightAligned().NoWrap());
        }

        foreach (IReadOnlyList<string> row in source.Rows)
            table.AddRow(row.Select(field => new Text(field)));
        console.WriteLine();
        // A title of the table's own would be centred and wrapped to the table's width.
        console.Write(new Text(source.Title + "\n", new Style(decoration: isTerminal ? Decoration.Bold : Decoration.None)));
        console.Write(table);
    }

    private static Color ColourOf(Grade grade) => grade switch
    {
        Grade.Good => Color.Green,
        Grade.Note => Color.Yellow,
        _ => Color.Red,
    };
}
