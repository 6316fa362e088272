using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Html;

namespace MongoPerf.Reporting;

/// <summary>What a report wrote.</summary>
/// <param name="Page">index.html, full path.</param>
/// <param name="Files">All of them, full paths, the page first.</param>
/// <param name="Warnings">Whole lines for people; the report is there all the same.</param>
internal sealed record ReportFiles(string Page, IReadOnlyList<string> Files, IReadOnlyList<string> Warnings);

/// <summary>Makes the report folder of a run that is finished, broken off or still going.</summary>
internal static partial class ReportWriter
{
    /// <summary>Writes text files, charts and last of all index.html, each in place of an older one.</summary>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static ReportFiles WriteAll(StoredRun run, string folder)
    {
        Directory.CreateDirectory(folder);
        var charts = ChartRenderer.Render(run, Path.Combine(folder, "charts"));
        string page = HtmlReport.Write(run, folder, charts);
        return new ReportFiles(page, [page, .. charts.Files], charts.Warnings);
    }
}
