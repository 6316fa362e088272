using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Html;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Histories;

/// <summary>Writes a history's folder, in place of an older one's files.</summary>
public static class HistoryWriter
{
    private static readonly (string Name, Action<RunHistory, TextWriter> Write)[] TextFiles =
        [
            ("history.md", static (history, output) => MarkdownReport.Write(HistoryReport.Of(history), output)),
            ("history.json", HistoryJson.Write),
            ("history.csv", HistoryCsv.Write),
        ];

    /// <summary>Text files, charts and, last of all, index.html. A chart that can't be drawn is a warning.</summary>
    /// <param name="history">What is written.</param>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="plots">Those over history are drawn.</param>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static ReportFiles WriteAll(RunHistory history, string folder, IReadOnlyList<PlotInfo> plots)
    {
        OwnFiles.MakeFolder(folder);
        var texts = new List<string>();
        foreach ((string name, Action<RunHistory, TextWriter> write) in TextFiles)
        {
            string file = Path.Combine(folder, name);
            OwnFiles.Replace(file, output => write(history, output));
            texts.Add(file);
        }

        RenderedCharts charts;
        string? warning;
        PlotInfo[] drawn = [.. plots.Where(static plot => plot.IsOfHistory)];
        using (ChartLanguage.Begin(out warning))
            charts = ChartRenderer.Render(new ChartSet(
                [.. drawn.Select(plot => HistoryChart.Build(history, plot)).OfType<Chart>()],
                [.. drawn.Select(static plot => plot.Name + "*")]), Path.Combine(folder, "charts"));
        string page = HtmlPage.Write(
            folder, HtmlReport.Build(HistoryReport.Of(history), new PagePictures(HtmlExplore.Of([]), charts, folder)));
        return new ReportFiles(
            page, [page, .. texts, .. charts.Files], [.. warning is null ? Array.Empty<string>() : [warning], .. charts.Warnings]);
    }
}
