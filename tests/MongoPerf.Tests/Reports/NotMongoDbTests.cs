using System.Text.Json;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Forecasts;
using MongoPerf.Reports.Histories;
using MongoPerf.Reports.Html;
using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports;

/// <summary>
/// Whatever was not measured on MongoDB says so wherever its figures are shown: in the first line of each screen and document, in the title
/// of each table, in each chart and its data, in each file for programs. What was measured on MongoDB nowhere says so.
/// </summary>
public sealed class NotMongoDbTests : IDisposable
{
    /// <summary>The servers that there are, with what their figures are shown with.</summary>
    private static readonly Dictionary<string, (DeploymentInfo Deployment, string? Name)> Servers = new()
    {
        ["mongod"] = (RunParts.Deployment(), null),
        ["embedded"] = (RunParts.Deployment() with
        {
            Kind = DeploymentKind.Embedded, Topology = Topology.Embedded, IsEmbedded = true,
        }, "embedded server"),
        ["embedded, given"] = (RunParts.Deployment() with
        {
            Kind = DeploymentKind.Given, Topology = Topology.Embedded, IsEmbedded = true,
        }, "embedded server"),
        ["embedded mongos"] = (RunParts.Deployment() with
        {
            Kind = DeploymentKind.Embedded, Topology = Topology.Sharded, IsEmbedded = true, ShardCount = 2, Router = "mongos",
        }, "embedded server"),
        ["null"] = (RunParts.Deployment() with { Kind = DeploymentKind.Null, Topology = Topology.Null }, "null deployment"),
        ["null, given"] = (RunParts.Deployment() with { Kind = DeploymentKind.Given, Topology = Topology.Null }, "null deployment"),
        ["FerretDB"] = (RunParts.Deployment() with { Kind = DeploymentKind.Given, StandIn = "FerretDB 2.1.0" }, "FerretDB 2.1.0"),
        ["Tokyo Tyrant"] = (RunParts.Deployment() with
        {
            Kind = DeploymentKind.Tyrant, Topology = Topology.TokyoTyrant, OtherSystem = "Tokyo Tyrant",
        }, "Tokyo Tyrant"),
    };

    private readonly TemporaryFolder _runs = new();
    private int _written;

    public static TheoryData<string> Names => [.. Servers.Keys];

    public void Dispose() => _runs.Dispose();

    /// <summary>Runs of many shapes: each of a growth or not, with one thread count or several, finished or not.</summary>
    [Theory]
    [MemberData(nameof(Names))]
    public void Every_form_of_a_run_says_what_it_was_measured_on(string server)
    {
        var random = new Random(42);
        for (int i = 0; i < 12; i++)
        {
            using StoredRun run = Write(server, random);
            string? name = Servers[server].Name;
            RequireReport(RunReport.Of(run), name);
            RequireCharts(ChartCatalogue.Build(run), name);
            RequireCsv(Written(output => CsvReport.WriteResults(run, output)), name);
            RequireCsv(Written(output => CsvReport.WriteSizes(run, output)), name);
            RequireJson(output => JsonReport.Write(run, output), name);
            RequireText(output => JunitReport.Write([run], output), name);
            RequireText(output => YcsbReport.Write(run, output), name);
            Assert.Equal(name, NotMongoDb.Of(run));
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Every_file_of_a_report_says_it(string server)
    {
        foreach (int sizes in (int[])[0, 2])
        {
            using StoredRun run = Noisy(server, sizes);
            Assert.Equal(Servers[server].Name, RunPlot.Of(run)!.NotMongoDb?.Split(',')[0]);
            IReadOnlyList<string> files = ReportWriter.WriteTextFiles(run, Path.Combine(run.Folder, "report"));
            Assert.True(files.Count >= 8);
            foreach (string file in files)
                RequireFile(file, Servers[server].Name);
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Every_form_of_a_comparison_says_on_what_each_side_was_measured(string server)
    {
        foreach (string other in (string[])[server, "mongod"])
        {
            foreach (int sizes in (int[])[0, 5])
            {
                using StoredRun a = Noisy(server, sizes);
                using StoredRun b = Noisy(other, sizes);
                RunComparison comparison = RunComparer.Compare(
                    [new ComparedSide([a]), new ComparedSide([b])], [], RunComparer.DefaultNoiseThreshold);
                string? name = NameOf(server, other);
                Report report = ComparisonReport.Of(comparison);
                RequireReport(report, name);
                RequireCharts(ComparisonCharts.Build(comparison).Charts, name);
                RequireJson(output => ComparisonJson.Write(comparison, output), name);
                RequireCsv(Written(output => ComparisonCsv.Write(comparison, output)), name);
                RequireText(output => JunitReport.Write(comparison, output), name);
                if (name is not null)
                {
                    Assert.All(comparison.Candidates, one => Assert.Null(SingleOrSharded.Find(comparison, one)));
                    Assert.DoesNotContain(report.Sections, section => section.Title is "Decided" or "Undecided");
                    Assert.DoesNotContain(report.Blocks.Concat(report.Answer).OfType<Block.Verdicts>().SelectMany(block => block.Lines),
                        verdict => verdict.Mark == "decided");
                }
            }
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Every_form_of_a_history_a_forecast_and_a_spread_says_on_what_they_were_measured(string server)
    {
        using StoredRun a = Noisy(server, 8);
        using StoredRun b = Noisy("mongod", 8);
        foreach (StoredRun[] runs in (StoredRun[][])[[a], [a, b]])
        {
            string? name = runs.Length == 1 ? Servers[server].Name : NameOf(server, "mongod");
            RunHistory history = RunHistory.Of(runs.Select(run => new HistoryPoint([run])), new HistoryRequest
            {
                Metrics = [new HistoryMetric(FigureMetric.Find("rate"))],
            });
            RequireReport(HistoryReport.Of(history), name);
            RequireCharts([.. PlotLibrary.Standard.Where(plot => plot.IsOfHistory)
                .Select(plot => HistoryChart.Build(history, plot)).OfType<Chart>()], name);
            RequireJson(output => HistoryJson.Write(history, output), name);
            RequireCsv(Written(output => HistoryCsv.Write(history, output)), runs.Length == 1 ? name : null, isOfAll: false);
            RequireText(output => JunitReport.Write(history, output), name);
            RunForecast[] forecasts = [.. runs.Select(run => RunForecast.Of(run, new ForecastRequest { Documents = [1_000_000] })!)];
            RequireReport(ForecastReport.Of(forecasts, "a b"), name);
            RequireJson(output => ForecastJson.Write(forecasts, output), name);
            RequireCsv(Written(output => ForecastCsv.Write(forecasts, output)), runs.Length == 1 ? name : null, isOfAll: false);
        }

        string? only = Servers[server].Name;
        var check = ForecastCheck.Of(a)!;
        RequireReport(ForecastReport.Of(check), only);
        RequireJson(output => ForecastJson.WriteCheck(check, output), only);
        RequireCsv(Written(output => ForecastCsv.WriteCheck(check, output)), only);
        var spread = RepeatSpread.Of(new ComparedSide([a, Noisy(server, 8)]), RunComparer.DefaultNoiseThreshold);
        RequireReport(ComparisonReport.Of(spread), only);
        RequireJson(output => ComparisonJson.WriteSpread(spread, output), only);
        RequireCsv(Written(output => ComparisonCsv.WriteSpread(spread, output)), only);
    }

    [Fact]
    public void It_is_said_in_Chinese_too()
    {
        using StoredRun run = Write("embedded", new Random(1));
        using IDisposable chinese = Words.In(Language.Chinese);
        Report report = RunReport.Of(run);
        Assert.EndsWith("（嵌入式服务器，而非 MongoDB）", report.Title, StringComparison.Ordinal);
        Assert.All(ChartCatalogue.Build(run), chart => Assert.Contains("嵌入式服务器，而非 MongoDB", chart.Subtitle, StringComparison.Ordinal));
    }

    /// <summary>Two sides on one embedded server are told apart by what it played, not by a parameter.</summary>
    [Fact]
    public void Sides_on_the_embedded_server_are_named_by_what_it_played()
    {
        using StoredRun a = Noisy("embedded", 0);
        using StoredRun b = Noisy("embedded mongos", 0);
        RunComparison comparison = RunComparer.Compare(
            [new ComparedSide([a]), new ComparedSide([b])], [], RunComparer.DefaultNoiseThreshold);
        Assert.Equal(
            "MongoPerf: 2 shards on the embedded server against the embedded server (embedded server, not MongoDB)",
            ComparisonReport.Of(comparison).Title);
    }

    /// <summary>Its version is that of the MongoDB that it follows.</summary>
    [Fact]
    public void What_stands_in_for_MongoDB_is_never_called_mongod()
    {
        using StoredRun a = Noisy("mongod", 0);
        using StoredRun b = Noisy("FerretDB", 0);
        RunComparison comparison = RunComparer.Compare(
            [new ComparedSide([a]), new ComparedSide([b])], [], RunComparer.DefaultNoiseThreshold);
        Assert.Equal(["one mongod", "FerretDB 2.1.0"], ComparisonTitle.Names(comparison));
    }

    [Fact]
    public void A_list_of_runs_names_what_each_was_on()
    {
        foreach (string server in Servers.Keys)
            Noisy(server, 0).Dispose();
        ListTable table = ListReport.Runs(RunCatalogue.List(_runs.Path), _ => null);
        int column = table.Columns.Index().First(one => one.Item.Field == "notMongoDb").Index;
        int deployment = table.Columns.Index().First(one => one.Item.Field == "deployment").Index;
        Assert.Equal(Servers.Values.Select(server => server.Name), table.Rows.Select(row => (string?)row[column].Value));
        Assert.All(table.Rows, row => Assert.Equal(
            row[column].Value is null, !row[deployment].Text.Contains("not MongoDB", StringComparison.Ordinal)));
    }

    private static string? NameOf(string one, string other) => Servers[one].Name ?? Servers[other].Name;

    private StoredRun Noisy(string server, int sizes) => StoredRun.Open(new NoisyRun
    {
        Id = $"2026-11-21-{(char)('a' + _written++)}", Sizes = sizes, Seconds = 3, NoiseSeed = (ulong)_written,
        Phases = ["batch", "q4", "size"],
        Deployment = Servers[server].Deployment,
    }.Write(_runs.Path));

    private StoredRun Write(string server, Random random) => new GrowingRun
    {
        Steps = random.Next(1, 4), SecondsPerPhase = random.Next(1, 4), Threads = random.Next(2) == 0 ? [8] : [1, 8],
        IsFinished = random.Next(3) > 0, HasServerSamples = random.Next(2) == 0,
        Phases = random.Next(2) == 0 ? ["batch", "q4", "size"] : ["unack", "q5", "q7"],
        Deployment = Servers[server].Deployment, Events = [(2, "reconnect")],
    }.Write(_runs.At($"r{_written++}"));

    /// <param name="report">In all its forms.</param>
    /// <param name="name">What its figures are not MongoDB's of; null where they are.</param>
    private static void RequireReport(Report report, string? name)
    {
        string[] lines =
        [
            First(Console(report, isFull: false)), First(Console(report, isFull: true)),
            First(Written(to => MarkdownReport.Write(report, to))),
        ];
        string page = HtmlReport.Build(report, new PagePictures(HtmlExplore.Of([]), new RenderedCharts([], [], []), ""));
        ReportTable[] tables = [.. report.Blocks.Concat(report.Answer).OfType<Block.Table>().Select(block => block.Content)];
        Assert.NotEmpty(tables);
        if (name is null)
        {
            Assert.DoesNotContain("not MongoDB", page + string.Concat(lines) + Console(report, isFull: true), StringComparison.Ordinal);
            return;
        }

        Assert.All(lines, line => Assert.Contains($"{name}, not MongoDB", line, StringComparison.Ordinal));
        Assert.Matches($@"<title>[^<]*{name}, not MongoDB[^<]*</title>", page);
        Assert.Matches($@"<h1>.*{name}, not MongoDB\)</h1><ul class=""cautions""[^>]*><li>.*{name}, not MongoDB; ", Shown(page));
        Assert.All(tables, table => Assert.Contains($"{name}, not MongoDB)", table.Title, StringComparison.Ordinal));
    }

    private static void RequireCharts(IReadOnlyList<Chart> charts, string? name)
    {
        foreach (Chart chart in charts)
        {
            Assert.Equal(name is null, chart.NotMongoDb is null);
            if (name is null)
                Assert.DoesNotContain("not MongoDB", chart.Subtitle, StringComparison.Ordinal);
            else
                Assert.Contains(name, chart.Subtitle, StringComparison.Ordinal);
            foreach (ChartTable table in chart.Tables)
            {
                string csv = Written(output => table.Write(output, chart.NotMongoDb));
                if (name is not null)
                    RequireCsv(csv, name);
                else
                    Assert.DoesNotContain(NotMongoDb.Column, csv, StringComparison.Ordinal);
            }
        }
    }

    private static void RequireFile(string file, string? name)
    {
        string text = File.ReadAllText(file);
        switch (Path.GetExtension(file))
        {
            case ".csv":
                RequireCsv(text, name);
                break;
            case ".json":
                RequireJson(output => output.Write(text), name);
                break;
            default:
                Assert.Equal(name is not null, First(text).Contains($"{name}, not MongoDB", StringComparison.Ordinal));
                break;
        }
    }

    private static void RequireJson(Action<TextWriter> write, string? name)
    {
        string text = Written(write);
        using var json = JsonDocument.Parse(text);
        // The second line: before any figure.
        Assert.Equal("notMongoDb", json.RootElement.EnumerateObject().ElementAt(1).Name);
        string? said = json.RootElement.GetProperty("notMongoDb").GetString();
        if (name is null)
            Assert.Null(said);
        else
            Assert.Contains(name, said, StringComparison.Ordinal);
    }

    /// <param name="csv">The file.</param>
    /// <param name="name">What its last column names.</param>
    /// <param name="isOfAll">Otherwise each row is of a run of its own, and only some need be of that.</param>
    private static void RequireCsv(string csv, string? name, bool isOfAll = true)
    {
        string[] lines = csv.Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        Assert.EndsWith("," + NotMongoDb.Column, lines[0], StringComparison.Ordinal);
        string[] last = [.. lines.Skip(1).Select(line => line.TrimEnd('"')[(line.TrimEnd('"').LastIndexOfAny([',', '"', ':']) + 1)..])];
        if (!isOfAll && name is null)
            return;
        if (name is null)
            Assert.All(last, Assert.Empty);
        else
            Assert.All(lines.Skip(1), line => Assert.Contains(name, line, StringComparison.Ordinal));
    }

    private static void RequireText(Action<TextWriter> write, string? name) =>
        Assert.Equal(name is not null, First(Written(write)).Contains($"{name}, not MongoDB", StringComparison.Ordinal));

    private static string Console(Report report, bool isFull)
    {
        // Wide: a line is not broken where it is looked for.
        return Written(output => ConsoleReport.Write(report, output, new ConsoleReportOptions { Width = 400, IsFull = isFull }));
    }

    /// <summary>Without what only keeps words whole, and without line ends between elements.</summary>
    private static string Shown(string page) => page.Replace("<span class=\"whole\">", "", StringComparison.Ordinal)
        .Replace("</span>", "", StringComparison.Ordinal).Replace(">\n", ">", StringComparison.Ordinal);

    private static string First(string text) => text.Split('\n')[0];

    private static string Written(Action<TextWriter> write)
    {
        using var output = new StringWriter();
        write(output);
        return output.ToString();
    }
}
