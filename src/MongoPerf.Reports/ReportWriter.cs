using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Html;
using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What a report wrote.</summary>
/// <param name="Page">index.html, full path.</param>
/// <param name="Files">All of them, full paths, the page first.</param>
/// <param name="Warnings">Whole lines for people; the report is there all the same.</param>
public sealed record ReportFiles(string Page, IReadOnlyList<string> Files, IReadOnlyList<string> Warnings);

/// <summary>Writes a run's report folder. May be done again at any time, also during the run.</summary>
public static class ReportWriter
{
    private const string ReportFile = "report.md";
    private const string SamplesFile = "samples.csv";
    private const string LogFile = "latencies.hlog";

    private static readonly TextFile[] TextFiles =
    [
        new(ReportFile, "this report as text, to paste into a ticket", Write: null),
        new("result.json", "all results for programs to read", JsonReport.Write),
        new("results.csv", "results, a row for each operation of each phase", CsvReport.WriteResults),
        new("sizes.csv", "sizes, a row for each time they were recorded", CsvReport.WriteSizes),
        new(SamplesFile, "the client's samples over time", Write: null),
        new("server.csv", "the server's samples over time", CsvReport.WriteServerSamples) { IsOfMetrics = true },
        new("host.csv", "the machine's samples over time", CsvReport.WriteHostSamples) { IsOfMetrics = true },
        new(LogFile, "latencies as an HdrHistogram log", Write: null),
    ];

    /// <summary>The files for runs that looked at shards.</summary>
    private static readonly TextFile[] ShardFiles =
    [
        new("shards.csv", "what each shard held and did over time", CsvReport.WriteShardSamples) { IsOfMetrics = true },
        new("chunk-events.csv", "migrations, splits and merges of chunks; reshardings", CsvReport.WriteChunkEvents),
    ];

    private static readonly TextFile[] ReplicaFiles =
        [new("replicas.csv", "how far replica set members lagged, over time", CsvReport.WriteReplicaSamples) { IsOfMetrics = true }];

    private static readonly TextFile[] StepFiles = [new("steps.csv", "the steps of operations over time", CsvReport.WriteSteps)];

    private static readonly TextFile[] LapFiles = [new("laps.csv", "how long each lap of each task took", LapCsv.Write)];

    /// <param name="Name">The name of the file.</param>
    /// <param name="Purpose">What the page says of it, translated there.</param>
    /// <param name="Write">Its content; null for the report itself, and for those of <see cref="SampleFiles"/>.</param>
    private sealed record TextFile(string Name, string Purpose, Action<StoredRun, TextWriter>? Write)
    {
        /// <summary>It reads only the samples of servers or machine, which no other file needs.</summary>
        public bool IsOfMetrics { get; init; }
    }

    /// <summary>
    /// Text files, charts and, last of all, index.html, each in place of an older one. A chart that can't be drawn is a warning.
    /// </summary>
    /// <param name="run">Finished or not.</param>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="plots">What is drawn; null for the standard plots.</param>
    /// <param name="runsFolder">The runs folder as typed after --out; null for the default.</param>
    /// <exception cref="IOException">The folder can't be written.</exception>
    /// <exception cref="RunStoreException">The folder, or its charts', is a link.</exception>
    public static ReportFiles WriteAll(
        StoredRun run, string folder, IReadOnlyList<PlotInfo>? plots = null, string? runsFolder = null)
    {
        OwnFiles.MakeFolder(folder);
        TextFile[] all = [.. TextFilesOf(run)];
        List<Task> beside = [Task.Run(() => WriteTexts(run, folder, all.Where(static text => text.IsOfMetrics)))];
        RenderedCharts charts;
        string html;
        try
        {
            // What all of them share is known before they begin.
            OperationSeconds.Of(run);
            Task<HtmlExplore> explore = Task.Run(() => HtmlExplore.Of(run, add => WriteSamples(run, folder, add)));
            Task<RenderedCharts> drawn = Task.Run(() => ChartRenderer.Render(run, Path.Combine(folder, "charts"), plots));
            beside.AddRange([explore, drawn]);
            WriteTexts(run, folder, all.Where(static text => !text.IsOfMetrics));
            WriteReport(run, folder, runsFolder);
            charts = drawn.GetAwaiter().GetResult();
            html = HtmlReport.Build(
                RunReport.Of(run, Beside(run, charts), runsFolder), new PagePictures(explore.GetAwaiter().GetResult(), charts, folder));
        }
        finally
        {
            // They end before this does; what they throw is told where nothing was thrown before.
            Task.WhenAll(beside).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing).GetAwaiter().GetResult();
        }

        beside[0].GetAwaiter().GetResult();
        string page = HtmlPage.Write(folder, html);
        return new ReportFiles(page, [page, .. all.Select(text => Path.Combine(folder, text.Name)), .. charts.Files], charts.Warnings);
    }

    /// <summary>Everything that needs no other program.</summary>
    /// <returns>Paths of the files.</returns>
    public static IReadOnlyList<string> WriteTextFiles(StoredRun run, string folder)
    {
        OwnFiles.MakeFolder(folder);
        WriteSamples(run, folder, null);
        TextFile[] all = [.. TextFilesOf(run)];
        WriteTexts(run, folder, all);
        WriteReport(run, folder, runsFolder: null);
        return [.. all.Select(text => Path.Combine(folder, text.Name))];
    }

    /// <summary>Writes all but the report and those of samples.</summary>
    private static void WriteTexts(StoredRun run, string folder, IEnumerable<TextFile> texts)
    {
        foreach (TextFile text in texts)
        {
            if (text.Write is { } write)
                OwnFiles.Replace(Path.Combine(folder, text.Name), output => write(run, output));
        }
    }

    private static void WriteReport(StoredRun run, string folder, string? runsFolder) =>
        OwnFiles.Replace(
            Path.Combine(folder, ReportFile), output => MarkdownReport.Write(RunReport.Of(run, runsFolder: runsFolder), output));

    private static void WriteSamples(StoredRun run, string folder, Action<MergedSample>? also) =>
        OwnFiles.Replace(Path.Combine(folder, SamplesFile), rows =>
            OwnFiles.Replace(Path.Combine(folder, LogFile), log => SampleFiles.Write(run, rows, log, also)));

    private static IEnumerable<TextFile> TextFilesOf(StoredRun run) =>
        [.. TextFiles, .. run.ReadShardSamples().Any() ? ShardFiles : [],
            .. run.ReadReplicaSamples().Any() ? ReplicaFiles : [], .. run.Laps.Count == 0 ? [] : LapFiles,
            .. run.Results.Any(result => result.Steps.Count > 0) ? StepFiles : []];

    /// <summary>What lies beside the page.</summary>
    private static List<Fact> Beside(StoredRun run, RenderedCharts charts)
    {
        List<Fact> files =
        [
            new("../run.db", Words.Of("everything that was measured (SQLite)")),
            .. TextFilesOf(run).Select(text => new Fact(text.Name, Words.Of(text.Purpose)) { Link = text.Name }),
        ];
        if (charts.Files.Count > 0)
        {
            files.Add(new Fact("charts/", Words.Of("each chart as PNG and SVG, with its data as CSV")));
        }

        return files;
    }
}
