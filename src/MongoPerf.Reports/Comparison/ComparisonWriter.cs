using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Html;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>Writes a comparison's folder, in place of an older one's files.</summary>
public static class ComparisonWriter
{
    private static readonly (string Name, Action<RunComparison, string?, TextWriter> Write)[] TextFiles =
        [
            ("comparison.md", static (comparison, typed, output) =>
                MarkdownReport.Write(ComparisonReport.Of(comparison, typed: typed), output)),
            ("comparison.json", static (comparison, _, output) => ComparisonJson.Write(comparison, output)),
            ("comparison.csv", static (comparison, _, output) => ComparisonCsv.Write(comparison, output)),
        ];

    /// <summary>Text files, charts and, last of all, index.html. A chart that can't be drawn is a warning.</summary>
    /// <param name="comparison">What is written.</param>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="plots">What is drawn beside the figures of the scenario; null for the standard plots.</param>
    /// <param name="typed">The runs, as commands take them; null for their ids.</param>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static ReportFiles WriteAll(
        RunComparison comparison, string folder, IReadOnlyList<PlotInfo>? plots = null, string? typed = null)
    {
        OwnFiles.MakeFolder(folder);
        var texts = new List<string>();
        foreach ((string name, Action<RunComparison, string?, TextWriter> write) in TextFiles)
        {
            string file = Path.Combine(folder, name);
            OwnFiles.Replace(file, output => write(comparison, typed, output));
            texts.Add(file);
        }

        RenderedCharts charts;
        string? warning;
        using (ChartLanguage.Begin(out warning))
            charts = ChartRenderer.Render(ComparisonCharts.Build(comparison, plots), Path.Combine(folder, "charts"));
        IEnumerable<(StoredRun, string)> runs = comparison.Sides.Zip(ComparisonTitle.Names(comparison),
            static (side, name) => (side.First, name));
        var explore = HtmlExplore.Of(runs);
        string page = HtmlPage.Write(
            folder, HtmlReport.Build(ComparisonReport.Of(comparison, typed: typed), new PagePictures(explore, charts, folder)));
        return new ReportFiles(
            page, [page, .. texts, .. charts.Files], [.. warning is null ? Array.Empty<string>() : [warning], .. charts.Warnings]);
    }
}
