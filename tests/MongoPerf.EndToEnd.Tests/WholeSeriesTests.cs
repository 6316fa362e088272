using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>
/// One series from its start to its end, and everything that it leaves behind, on both servers that the program can start.
/// </summary>
[Collection(HeavyTests.Name)]
public sealed class WholeSeriesTests(FinishedSeries series) : IClassFixture<FinishedSeries>
{
    [Theory, EachServer]
    public void A_series_ends_with_code_0_at_its_target_and_names_the_page_of_its_report(string kind)
    {
        ProgramResult result = series.Of(kind).Result;
        Assert.Contains(Path.Combine(series.Of(kind).Runs.Id, "report", "index.html"), result.Output, StringComparison.Ordinal);
        Assert.Contains("step 2 complete", result.Errors, StringComparison.Ordinal);
        Assert.Equal(kind == "embedded", result.Output.Contains("not MongoDB", StringComparison.Ordinal));
        if (kind == "mongod")
            Assert.Contains($"{MongodBinary.Version}", result.Output, StringComparison.Ordinal);
    }

    [Theory, EachServer]
    public void Every_document_of_the_target_is_the_generators_and_no_other_is_there(string kind)
    {
        using TestServer server = TestServer.OnDataOf(series.Of(kind).Runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, FinishedSeries.Target);
        Assert.Equal(["mongoperf", "series"], Documents.CollectionNames(connection, "mongoperf"));
    }

    [Theory, EachServer]
    public void The_json_of_report_has_every_field_of_the_schema_and_adds_up(string kind)
    {
        JsonElement report = series.Of(kind).Report("json", json => JsonShape.Check(JsonShape.Run, json));
        Assert.Equal("mongoperf/1", report.Text("schema"));
        Assert.Equal(series.Of(kind).Runs.Id, report.GetProperty("run").Text("id"));
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal(42, report.GetProperty("run").Number("seed"));
        Assert.StartsWith("mongoperf series --target 6k", report.GetProperty("run").Text("commandLine"), StringComparison.Ordinal);
        Assert.Equal(kind, report.GetProperty("deployment").Text("kind"));
        Assert.Equal(kind == "embedded", report.GetProperty("deployment").GetProperty("isEmbedded").GetBoolean());
        JsonResults.AssertAdds(report.GetProperty("accounting"));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
        Assert.Empty(report.Items("errors"));
        Assert.Equal([3000, 6000], report.GrowthSteps().Select(step => step.Documents));
        foreach (GrownStep step in report.GrowthSteps())
            CheckStep(step);
    }

    [Theory, EachServer]
    public void The_report_folder_has_its_files_and_the_same_json(string kind)
    {
        string report = series.Of(kind).Runs.At(series.Of(kind).Runs.Id, "report");
        foreach (string name in (string[])["index.html", "report.md", "result.json", "results.csv", "sizes.csv", "samples.csv",
            "server.csv", "host.csv", "latencies.hlog"])
            Assert.True(new FileInfo(Path.Combine(report, name)) is { Exists: true, Length: > 0 }, name);
        series.Of(kind).Report("json", json => Assert.Equal(json, File.ReadAllText(Path.Combine(report, "result.json"))));
        Assert.NotEmpty(Directory.GetFiles(Path.Combine(report, "charts"), "*.csv"));
        if (series.Of(kind).DrawsCharts)
        {
            Assert.True(series.Of(kind).Pictures.Length >= 8, $"{series.Of(kind).Pictures.Length} pictures");
            Assert.All(series.Of(kind).Pictures, picture => Assert.True(picture.Bytes > 1000, picture.Name));
        }
    }

    [Theory, EachServer]
    public void Csv_has_a_line_for_each_result_and_markdown_a_heading(string kind)
    {
        series.Of(kind).Report("csv", csv =>
        {
            string[] lines = csv.TrimEnd('\n').Split('\n');
            Assert.StartsWith("number,phase,growth,step,parameters,kind,documents,complete,operation,threads",
                lines[0], StringComparison.Ordinal);
            Assert.Equal(1 + (2 * 7), lines.Length);
            Assert.All(lines, line => Assert.Equal(lines[0].Count(c => c == ','), line.Count(c => c == ',')));
            return 0;
        });
        series.Of(kind).Report("markdown", markdown =>
        {
            foreach (string name in (string[])[.. SeriesNames.Measured, "size"])
                Assert.Contains($"\n### {name}", markdown, StringComparison.Ordinal);
            return 0;
        });
    }

    [Theory, EachServer]
    public void List_runs_shows_the_run_as_finished(string kind)
    {
        ProgramResult list = ProgramRun.Run("list", "runs", "--out", series.Of(kind).Runs.Path).Expect(0);
        string line = Assert.Single(list.Output.Split('\n'), l => l.Contains(series.Of(kind).Runs.Id, StringComparison.Ordinal));
        Assert.Contains("finished", line, StringComparison.Ordinal);
        Assert.Contains("6k", line, StringComparison.Ordinal);
    }

    [Theory, EachServer]
    public void A_finished_run_is_not_resumed(string kind)
    {
        RunsFolder runs = series.Of(kind).Runs;
        ProgramRun.Run("resume", runs.Id, "--out", runs.Path).Expect(2).Says($"run {runs.Id} is finished");
    }

    [Theory, EachServer]
    public void Clean_takes_the_data_away_and_leaves_the_results(string kind)
    {
        using var runs = new RunsFolder();
        ProgramRun.Run(
            new ProgramOptions { Server = kind, WriteReport = true },
            "series", "--target", "1k", "--tests", "batch,size", "--step", "1k", "--out", runs.Path).Expect(0);
        Assert.True(Directory.Exists(runs.DataPath));
        ProgramResult clean = ProgramRun.Run("clean", runs.Id, "--out", runs.Path).Expect(0);
        Assert.Contains("B of server data deleted from", clean.Output, StringComparison.Ordinal);
        Assert.False(Directory.Exists(runs.DataPath));
        Assert.Equal(
            $"run {runs.Id} has no server data to delete\n", ProgramRun.Run("clean", runs.Id, "--out", runs.Path).Expect(0).Output);
        Assert.True(File.Exists(runs.At(runs.Id, "report", "index.html")));
        ProgramResult report = ProgramRun.Run("report", runs.Id, "--out", runs.Path, "--format", "json").Expect(0);
        Assert.Equal(1000, report.Report().GrowthSteps()[0].Documents);
    }

    private static void CheckStep(GrownStep step)
    {
        Assert.Equal(SeriesNames.Measured, step.Names);
        foreach (JsonElement result in step.Operations)
        {
            string name = result.Text("operation");
            JsonResults.AssertAdds(result.GetProperty("accounting"));
            Assert.True(result.Number("operations") > 0, name);
            Assert.True(result.GetProperty("latencyMicroseconds").GetProperty("p50").GetDouble() > 0, name);
            Assert.Equal(name == "unack", result.GetProperty("unacknowledged").ValueKind == JsonValueKind.Object);
            Assert.Equal(SeriesNames.Queries.Contains(name), result.GetProperty("plan").ValueKind == JsonValueKind.Object);
            Assert.Equal(name == "batch" ? 500 : 1, result.Number("batch"));
            Assert.Equal(SeriesNames.Queries.Contains(name) ? 2 : 1, result.Number("threads"));
        }

        Assert.Equal(600, step.Operation("unack").Number("documents"));
        Assert.Equal(600, step.Operation("unack").GetProperty("unacknowledged").Number("arrived"));
        Assert.Equal(1800, step.Operation("batch").Number("documents"));
        Assert.Equal(600, step.Operation("safe").Number("documents"));
        Assert.Equal("Number_1", step.Operation("q4").GetProperty("plan").Text("index"));
        Assert.Equal(JsonValueKind.Null, step.Operation("q7").GetProperty("plan").GetProperty("index").ValueKind);
        JsonElement sizes = step.Sizes;
        Assert.Equal(step.Documents, sizes.Number("documents"));
        Assert.Equal(step.Documents * 1024, sizes.Number("dataBytes"));
        Assert.Equal(["Date_-1", "Number1_1", "Number_1", "_id_"],
            sizes.GetProperty("indexes").EnumerateObject().Select(i => i.Name).Order(StringComparer.Ordinal));
        Assert.Equal(sizes.Number("indexBytes"), sizes.GetProperty("indexes").EnumerateObject().Sum(i => i.Value.GetInt64()));
    }
}

/// <summary>A small finished series on each server, run when first asked for.</summary>
public sealed class FinishedSeries : IDisposable
{
    internal const long Target = 6000;

    private readonly Dictionary<string, One> _series = [];

    internal One Of(string kind) => _series.TryGetValue(kind, out One? one) ? one : _series[kind] = new One(kind);

    public void Dispose()
    {
        foreach (One one in _series.Values)
            one.Runs.Dispose();
    }

    internal sealed class One
    {
        private readonly Dictionary<string, string> _reports = [];

        public One(string kind)
        {
            // Once with pictures is enough: they are drawn from the same tables.
            DrawsCharts = kind == "embedded";
            Result = ProgramRun.Run(
                new ProgramOptions { Server = kind, WriteReport = true, DrawCharts = DrawsCharts, AsShipped = kind == "embedded" },
                "series", "--target", "6k", "--step", "3k", "--window", "200ms", "--threads", "2", "--batch", "500",
                "--out", Runs.Path).Expect(0);
            Pictures = [.. new DirectoryInfo(Runs.At(Runs.Id, "report", "charts")).EnumerateFiles()
                .Where(file => file.Extension is ".png" or ".svg").Select(file => (file.Name, file.Length))];
        }

        public RunsFolder Runs { get; } = new();

        public bool DrawsCharts { get; }

        public ProgramResult Result { get; }

        /// <summary>What the run itself drew: the reports that are written later have none.</summary>
        public (string Name, long Bytes)[] Pictures { get; }

        /// <summary>What <c>report</c> prints in a format, without any server.</summary>
        public T Report<T>(string format, Func<string, T> read)
        {
            if (!_reports.TryGetValue(format, out string? text))
                text = _reports[format] = ProgramRun.Run("report", Runs.Id, "--format", format, "--out", Runs.Path).Expect(0).Output;
            return read(text);
        }

        public void Report(string format, Action<string> read) => Report(format, text =>
        {
            read(text);
            return 0;
        });
    }
}
