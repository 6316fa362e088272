using System.Globalization;
using MongoPerf.Reports;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>One frozen run, made once, and its reports line by line.</summary>
public sealed class ApprovedReportTests : IClassFixture<ApprovedReportTests.Fixture>
{
    private readonly StoredRun _run;
    private readonly string _folder;

    public ApprovedReportTests(Fixture fixture)
    {
        _run = fixture.Run;
        _folder = fixture.Folder;
    }

    public sealed class Fixture : IDisposable
    {
        private readonly TemporaryFolder _runs = new();

        public Fixture()
        {
            Folder = _runs.Path;
            Run = StoredRun.Open(FrozenRun.Build(_runs.Path));
        }

        public string Folder { get; }

        public StoredRun Run { get; }

        public void Dispose()
        {
            Run.Dispose();
            _runs.Dispose();
        }
    }

    [Fact]
    public void Console_of_the_frozen_run_is_approved()
    {
        Report report = RunReport.Of(
            _run, [new Fact("written", "runs/2026-11-21-a/report/report.md"), new Fact("report", "runs/2026-11-21-a/report/index.html")]);
        Approved.Check("console.txt", Text(o => ConsoleReport.Write(report, o, new ConsoleReportOptions { Width = 80 })));
        Approved.Check("console-full.txt", Text(o => ConsoleReport.Write(report, o, new ConsoleReportOptions { IsFull = true })));
    }

    [Fact]
    public void The_ending_is_a_screen_of_80_columns_in_which_no_row_of_the_table_wraps()
    {
        string[] lines = Text(o => ConsoleReport.Write(RunReport.Of(_run), o, new ConsoleReportOptions { Width = 80 })).Split('\n');
        Assert.All(lines, line => Assert.InRange(line.Length, 0, 80));
        Assert.InRange(lines.Length, 15, 30);
        Assert.All((string[])["unack", "batch", "safe", "q4", "q5", "q6", "q7"],
            operation => Assert.Single(lines, line => line.StartsWith(operation + " ", StringComparison.Ordinal)));
        Assert.InRange(lines.Count(line => line.StartsWith("finding ", StringComparison.Ordinal)), 1, 3);
        Assert.Single(lines, line => line.StartsWith("next ", StringComparison.Ordinal));
    }

    [Fact]
    public void Console_without_a_terminal_has_no_escape_codes_and_draws_with_ASCII()
    {
        string text = Text(o => ConsoleReport.Write(RunReport.Of(_run), o, new ConsoleReportOptions { IsFull = true }));
        Assert.All(text, c => Assert.True(c is '\n' or >= ' ' and < '\u007f' or 'µ' or '×', $"U+{(int)c:X4}"));
        Assert.All(text.Split('\n'), line => Assert.True(line.Length <= ConsoleReport.FullWidth));
        Assert.Contains('\u001b', Text(o => ConsoleReport.Write(RunReport.Of(_run), o, new ConsoleReportOptions { IsTerminal = true })));
    }

    [Fact]
    public void Markdown_of_the_frozen_run_is_approved() =>
        Approved.Check("report.md", Text(o => MarkdownReport.Write(RunReport.Of(_run), o)));

    [Fact]
    public void Json_of_the_frozen_run_is_approved()
    {
        string text = Text(o => JsonReport.Write(_run, o));
        Approved.Check("result.json", text);
        Assert.Equal(text, Text(o => JsonReport.Write(_run, o)));
    }

    [Fact]
    public void Csv_of_the_frozen_run_is_approved()
    {
        Approved.Check("results.csv", Text(o => CsvReport.WriteResults(_run, o)));
        Approved.Check("sizes.csv", Text(o => CsvReport.WriteSizes(_run, o)));
        Approved.Check("samples.csv", FirstRows(Text(o => SampleFiles.Write(_run, o, TextWriter.Null)), 30));
        Approved.Check("server.csv", FirstRows(Text(o => CsvReport.WriteServerSamples(_run, o)), 30));
        Approved.Check("host.csv", FirstRows(Text(o => CsvReport.WriteHostSamples(_run, o)), 30));
    }

    [Fact]
    public void Every_row_of_a_csv_file_has_as_many_fields_as_its_head()
    {
        foreach (Action<StoredRun, TextWriter> write in new Action<StoredRun, TextWriter>[]
            {
                CsvReport.WriteResults, CsvReport.WriteSizes, (run, rows) => SampleFiles.Write(run, rows, TextWriter.Null),
                CsvReport.WriteServerSamples, CsvReport.WriteHostSamples,
            })
        {
            string[] rows = Text(o => write(_run, o)).Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
            Assert.True(rows.Length > 1);
            Assert.All(rows, row => Assert.Equal(rows[0].Count(c => c == ','), row.Count(c => c == ',')));
            Assert.Distinct(rows[0].Split(','));
        }
    }

    [Fact]
    public void Reports_do_not_depend_on_the_culture()
    {
        string[] before = AllTexts();
        CultureInfo culture = CultureInfo.CurrentCulture;
        var commas = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        commas.NumberFormat.NumberDecimalSeparator = ",";
        commas.NumberFormat.NumberGroupSeparator = ".";
        commas.NumberFormat.NegativeSign = "~";
        commas.DateTimeFormat.DateSeparator = "/";
        commas.DateTimeFormat.TimeSeparator = ".";
        CultureInfo.CurrentCulture = commas;
        try
        {
            Assert.Equal(before, AllTexts());
        }
        finally
        {
            CultureInfo.CurrentCulture = culture;
        }
    }

    [Fact]
    public void Text_files_are_written_whole_and_can_be_written_again()
    {
        string folder = Path.Combine(_folder, "report");
        IReadOnlyList<string> files = ReportWriter.WriteTextFiles(_run, folder);
        Assert.Equal(
            ["report.md", "result.json", "results.csv", "sizes.csv", "samples.csv", "server.csv", "host.csv", "latencies.hlog"],
            files.Select(Path.GetFileName));
        string[] first = [.. files.Select(File.ReadAllText)];
        ReportWriter.WriteTextFiles(_run, folder);
        Assert.Equal(first, files.Select(File.ReadAllText));
        Assert.Equal(files.Order(), Directory.GetFiles(folder).Order());
    }

    [Fact]
    public void Latency_log_holds_every_measured_operation_once()
    {
        string[] lines = [.. Text(o => SampleFiles.Write(_run, TextWriter.Null, o)).Split('\n')
            .Where(l => l.StartsWith("Tag=", StringComparison.Ordinal))];
        foreach (string phase in new[] { "unack", "batch", "safe", "q4", "q5", "q6", "q7" })
        {
            long logged = lines.Where(l => l.StartsWith($"Tag={phase},", StringComparison.Ordinal))
                .Sum(l => MongoPerf.Measurement.HistogramEncoding.Decode(Convert.FromBase64String(l.Split(',')[^1])).TotalCount);
            Assert.Equal(_run.Phases.Where(p => p.Phase == phase).SelectMany(p => p.Operations).Sum(o => o.Operations), logged);
        }
    }

    private string[] AllTexts() =>
    [
        Text(o => ConsoleReport.Write(RunReport.Of(_run), o)),
        Text(o => MarkdownReport.Write(RunReport.Of(_run), o)),
        Text(o => JsonReport.Write(_run, o)),
        Text(o => CsvReport.WriteResults(_run, o)), Text(o => SampleFiles.Write(_run, o, o)),
    ];

    private static string FirstRows(string text, int rows) => string.Concat(text.Split("\r\n").Take(rows).Select(row => row + "\r\n"));

    private static string Text(Action<TextWriter> write)
    {
        using var output = new StringWriter();
        write(output);
        return output.ToString();
    }
}
