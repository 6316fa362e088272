using System.Text;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>Writes a run's report folder. May be done again at any time, also while the run goes on.</summary>
internal static class ReportWriter
{
    private static readonly (string Name, Action<StoredRun, TextWriter> Write)[] TextFiles =
    [
        ("report.md", MarkdownReport.Write),
        ("result.json", JsonReport.Write),
        ("tests.csv", CsvReport.WriteTests),
        ("sizes.csv", CsvReport.WriteSizes),
        ("samples.csv", CsvReport.WriteSamples),
        ("server.csv", CsvReport.WriteServerSamples),
        ("host.csv", CsvReport.WriteHostSamples),
        ("latencies.hlog", LatencyLog.Write),
    ];

    /// <summary>Everything that needs no other program.</summary>
    /// <returns>Paths of the files.</returns>
    public static IReadOnlyList<string> WriteTextFiles(StoredRun run, string folder)
    {
        Directory.CreateDirectory(folder);
        var files = new List<string>();
        foreach ((string name, Action<StoredRun, TextWriter> write) in TextFiles)
        {
            string file = Path.Combine(folder, name);
            string unfinished = file + ".tmp";
            using (var output = new StreamWriter(unfinished, append: false, new UTF8Encoding(encoderShouldEmitUTF8Identifier: false)))
                write(run, output);
            // Moved when whole: somebody may be looking at the former one.
            File.Move(unfinished, file, overwrite: true);
            files.Add(file);
        }

        return files;
    }
}
