using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Html;

/// <summary>One page with everything about a run, that needs no network and no other file.</summary>
internal static class HtmlReport
{
    public const string FileName = "index.html";

    /// <summary>A larger SVG is embedded as PNG.</summary>
    private const long LargestSvgBytes = 400_000;

    /// <summary>Writes index.html in place of an older one; a reader never sees half of it.</summary>
    /// <returns>Its full path.</returns>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static string Write(StoredRun run, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles)
    {
        Directory.CreateDirectory(folder);
        string path = Path.Combine(folder, FileName);
        string half = path + ".tmp";
        File.WriteAllText(half, Build(run, folder, charts, textFiles));
        File.Move(half, path, overwrite: true);
        return path;
    }

    internal static string Build(StoredRun run, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles)
    {
        var html = new HtmlWriter();
        html.Open("html", "lang", "en").Open("head")
            .Void("meta", "charset", "utf-8")
            .Void("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
            .Element("title", $"MongoPerf: {run.Run.Id}")
            .Style(HtmlStyle.Css)
            .Close().Open("body");
        Head(html, run);
        HtmlFacts.Settings(html, run);
        Findings(html, run);
        Charts(html, folder, charts);
        Tables(html, run);
        HtmlFacts.Errors(html, run);
        HtmlFacts.Events(html, run);
        HtmlFacts.Repeat(html, run);
        HtmlFacts.Files(html, folder, charts, textFiles);
        html.Close().Close();
        return html.ToString();
    }

    private static void Head(HtmlWriter html, StoredRun run)
    {
        string target = run.Run.Kind == "series" ? $"series to {Units.Count(run.Settings.TargetDocumentCount)} documents" : run.Scenario is { } scenario ? $"scenario {scenario.Name}" : "run";
        html.Element("h1", $"MongoPerf: {target}").Element("p", ChartText.Subtitle(run), "class", "soft");
        foreach (string remark in Remarks(run))
            html.Element("p", remark, "class", "warn");
        html.Open("ul", "class", "verdict");
        foreach (var verdict in Verdict.Of(run))
            html.Open("li").Element("span", verdict.Mark, "class", "mark " + verdict.Mark).Text(" " + verdict.Text).Close();
        html.Close();
    }

    /// <summary>What nobody may overlook: a chart without this page says it too.</summary>
    private static IEnumerable<string> Remarks(StoredRun run)
    {
        if (run.Deployment is { IsEmbedded: true })
            yield return "These are figures of MongoPerf's embedded server. They are not MongoDB's.";
        else if (run.Deployment is { Kind: "null" })
            yield return "These are figures of the null deployment, which answers from memory: what client and loopback can do at most. They are not MongoDB's.";
    }

    private static void Findings(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "Findings");
        if (run.Findings.Count == 0)
        {
            html.Paragraph("None are stored with this run. This version has no rules yet that look for them; the charts below are to be read by eye.");
            return;
        }

        html.Table(
            [("what was seen", true), ("how sure", true), ("what to try next", true)],
            run.Findings.Select(static finding => (IReadOnlyList<string>)[finding.Text, finding.Certainty, finding.NextStep]));
    }

    private static void Charts(HtmlWriter html, string folder, RenderedCharts charts)
    {
        html.Element("h2", "Charts");
        foreach (string warning in charts.Warnings)
            html.Element("p", warning, "class", "warn");
        if (charts.Drawn.Count == 0 && charts.Warnings.Count == 0)
            html.Paragraph("No test has a result yet, so there is nothing to draw.");
        foreach (var drawn in charts.Drawn)
        {
            html.Open("figure", "id", drawn.Chart.Name).Open("div", "class", "wide")
                .Void("img", "alt", drawn.Chart.Title, "src", Embedded(drawn))
                .Close().Open("figcaption").Text(drawn.Chart.HowToRead + " ");
            Link(html, folder, drawn.PngPath, "PNG");
            html.Text(" ");
            Link(html, folder, drawn.SvgPath, "SVG");
            html.Close().Close();
        }
    }

    private static void Tables(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "Tests");
        if (run.Steps.Count == 0)
        {
            html.Paragraph("No test has a result yet.");
            return;
        }

        html.Paragraph("Rates and latencies leave the warm-up out. 1 MB is 1,000,000 bytes, 1 MiB 1,048,576.");
        foreach (var table in ReportTables.Tests(run))
            HtmlTables.Show(html, table);
        if (run.Scenario is not null)
            return;
        html.Element("h2", "Growth");
        HtmlTables.Rates(html, run);
        foreach (var table in new[] { ReportTables.Growth(run), ReportTables.Shards(run) }.OfType<ReportTable>())
            HtmlTables.Show(html, table);
    }

    private static string Embedded(DrawnChart drawn)
    {
        bool isSvg = new FileInfo(drawn.SvgPath).Length <= LargestSvgBytes;
        string kind = isSvg ? "image/svg+xml" : "image/png";
        return $"data:{kind};base64,{Convert.ToBase64String(File.ReadAllBytes(isSvg ? drawn.SvgPath : drawn.PngPath))}";
    }

    private static void Link(HtmlWriter html, string folder, string path, string text) =>
        html.Element("a", text, "href", Path.GetRelativePath(folder, path).Replace(Path.DirectorySeparatorChar, '/'));
}
