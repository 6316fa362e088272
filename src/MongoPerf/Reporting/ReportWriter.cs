using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Html;
using MongoPerf.Reporting.Phases;

namespace MongoPerf.Reporting;

/// <summary>What a report wrote.</summary>
/// <param name="Page">index.html, full path.</param>
/// <param name="Files">All of them, full paths, the page first.</param>
/// <param name="Warnings">Whole lines for people; the report is there all the same.</param>
internal sealed record ReportFiles(string Page, IReadOnlyList<string> Files, IReadOnlyList<string> Warnings);

/// <summary>Writes a run's report folder. May be done again at any time, also during the run.</summary>
internal static class ReportWriter
{
    private static readonly (string Name, Action<StoredRun, TextWriter> Write)[] TextFiles =
    [
        ("report.md", MarkdownReport.Write),
        ("result.json", JsonReport.Write),
        ("results.csv", CsvReport.WriteResults),
        ("sizes.csv", CsvReport.WriteSizes),
        ("samples.csv", CsvReport.WriteSamples),
        ("server.csv", CsvReport.WriteServerSamples),
        ("host.csv", CsvReport.WriteHostSamples),
        ("latencies.hlog", LatencyLog.Write),
    ];

    /// <summary>For runs that looked at shards.</summary>
    private static readonly (string Name, Action<StoredRun, TextWriter> Write)[] ShardFiles =
    [
        ("shards.csv", CsvReport.WriteShardSamples),
        ("chunk-events.csv", CsvReport.WriteChunkEvents),
    ];

    private static readonly (string Name, Action<StoredRun, TextWriter> Write)[] LapFiles = [("laps.csv", LapCsv.Write)];

    /// <summary>Text files, charts and, last of all, index.html, each in place of an older one. A missing gnuplot is a warning.</summary>
    /// <exception cref="IOException">The folder can't be written.</exception>
    /// <exception cref="RunStoreException">The folder, or its charts', is a link.</exception>
    public static ReportFiles WriteAll(StoredRun run, string folder)
    {
        var texts = WriteTextFiles(run, folder);
        var charts = ChartRenderer.Render(run, Path.Combine(folder, "charts"));
        string page = HtmlReport.Write(run, folder, charts, texts);
        return new ReportFiles(page, [page, .. texts, .. charts.Files], charts.Warnings);
    }

    /// <summary>Everything that needs no other program.</summary>
    /// <returns>Paths of the files.</returns>
    public static IReadOnlyList<string> WriteTextFiles(StoredRun run, string folder)
    {
        OwnFiles.MakeFolder(folder);
        var files = new List<string>();
        (string, Action<StoredRun, TextWriter>)[] more = [.. run.ReadShardSamples().Any() ? ShardFiles : [], .. run.Laps.Count == 0 ? [] : LapFiles];
        foreach ((string name, Action<StoredRun, TextWriter> write) in TextFiles.Concat(more))
        {
            string file = Path.Combine(folder, name);
            string unfinished = file + ".tmp";
            try
            {
                using (StreamWriter output = OwnFiles.Replace(unfinished))
                    write(run, output);
                // Moved when whole: somebody may be looking at the former one.
                File.Move(unfinished, file, overwrite: true);
            }
            catch (IOException)
            {
                RemoveUnfinished(unfinished);
                throw;
            }

            files.Add(file);
        }

        return files;
    }

    /// <summary>A full disk is not to be fuller for it.</summary>
    private static void RemoveUnfinished(string file)
    {
        try
        {
            File.Delete(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Told is what came first.
        }
    }
}
