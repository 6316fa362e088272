using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Sessions;

/// <summary>Writes the report's files and prints the result in the form that was asked for.</summary>
internal static class ResultPrinter
{
    public static void Print(RunFolder folder, OutputRequest output)
    {
        using StoredRun run = StoredRun.Open(folder.Path);
        ReportFiles files = ReportWriter.WriteAll(run, folder.ReportPath);
        foreach (string warning in files.Warnings)
            Console.Error.WriteLine(warning);
        Write(run, files, output);
    }

    private static void Write(StoredRun run, ReportFiles files, OutputRequest output)
    {
        switch (output.Format)
        {
            case "json":
                JsonReport.Write(run, Console.Out);
                break;
            case "csv":
                CsvReport.WriteTests(run, Console.Out);
                break;
            case "markdown":
                MarkdownReport.Write(run, Console.Out);
                break;
            default:
                ConsoleReport.Write(run, Console.Out, ConsoleReportOptions.ForStandardOutput() with
                {
                    FilesWritten = files.Files,
                    RunsFolder = output.RunsFolder == "runs" ? null : output.RunsFolder,
                });
                break;
        }

        Console.Out.Flush();
    }

    /// <summary>What must be typed too when the runs are not in the default folder.</summary>
    public static string OutOption(OutputRequest output) => output.RunsFolder == "runs" ? "" : $" --out {output.RunsFolder}";
}
