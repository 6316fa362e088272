using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Findings;

namespace MongoPerf.Reports.Html;

/// <summary>What a page shows beside its report.</summary>
/// <param name="Explore">The charts to explore.</param>
/// <param name="Charts">The drawn ones.</param>
/// <param name="Folder">The folder of the page, which links to files are relative to.</param>
internal sealed record PagePictures(HtmlExplore Explore, RenderedCharts Charts, string Folder);

/// <summary>A report as one page that needs no network and no other file.</summary>
internal static class HtmlReport
{
    /// <summary>A larger SVG is embedded as PNG.</summary>
    private const long LargestSvgBytes = 400_000;

    public static string Build(Report report, PagePictures pictures)
    {
        report = report.For(Media.Page);
        HtmlWriter html = HtmlPage.Begin(report.Title, pictures.Explore.Css, pictures.Explore.Scripts);
        html.Open("h1").Prose(report.Title).Close();
        foreach (Block block in report.Lead.Concat(report.Answer))
            Show(html, block, report.Title, pictures);
        html.Contents();
        foreach (Section section in report.Sections.Where(section => section.Blocks is not [Block.Explore] || pictures.Explore.HasContent))
        {
            html.Section(section.Title);
            foreach (Block block in section.Blocks)
                Show(html, block, section.Title, pictures);
        }

        pictures.Explore.Data(html);
        return html.Close().Close().ToString();
    }

    private static void Show(HtmlWriter html, Block block, string heading, PagePictures pictures)
    {
        switch (block)
        {
            case Block.Paragraph paragraph:
                html.Open("p", "class", paragraph.Tone.ToString().ToLowerInvariant()).Prose(paragraph.Text).Close();
                break;
            case Block.Verdicts verdicts:
                Show(html, verdicts.Lines);
                break;
            case Block.Cautions cautions:
                html.Open("ul", "class", "cautions", "aria-label", Words.Of("Cautions"));
                foreach (string caution in cautions.Lines)
                    html.Open("li").Prose(caution).Close();
                html.Close();
                break;
            case Block.Findings findings:
                foreach ((int place, Finding finding) in findings.All.Index())
                    Show(html, finding, place);
                break;
            case Block.Foremost foremost:
                html.Open("ul", "class", "verdict", "aria-label", Words.Of("Findings"));
                foreach ((int place, Finding finding) in foremost.All)
                    html.Open("li").Open("a", "href", "#" + IdOf(place)).Prose(finding.Line).Close().Close();
                html.Close();
                break;
            case Block.Facts facts:
                Show(html, facts.Lines);
                break;
            case Block.Table { IsPlain: true } table:
                html.Element("p", table.Content.Title, "class", "soft");
                Show(html, table.Content, table.Content.Title);
                break;
            case Block.Table table:
                Show(html, table.Content, heading);
                break;
            case Block.Source source:
                html.Element("pre", source.Text);
                break;
            case Block.Explore:
                pictures.Explore.Show(html);
                break;
            case Block.Charts:
                Show(html, pictures.Charts, pictures.Folder);
                break;
            default:
                throw new InvalidOperationException($"a page shows no {block.GetType().Name}");
        }
    }

    private static void Show(HtmlWriter html, IReadOnlyList<Verdict> verdicts)
    {
        html.Open("ul", "class", "verdict");
        foreach (Verdict verdict in verdicts)
            html.Open("li").Element("span", verdict.Mark, "class", "mark " + verdict.GradeMark).Text(" ").Prose(verdict.Text).Close();
        html.Close();
    }

    /// <summary>Of a finding, by its place among all of the report.</summary>
    private static string IdOf(int place) => $"finding-{place + 1}";

    private static void Show(HtmlWriter html, Finding finding, int place)
    {
        html.Open("h3", "id", IdOf(place)).Prose(finding.Text).Close();
        string? link = finding.Range is { } range ? ChartLink.Of(range) : null;
        Show(html, [.. FindingText.Details(finding).Append((Name: "id", Text: finding.Id))
            .Select(detail => new Fact(detail.Name, detail.Text) { Link = detail.Name == Words.Of("range") ? link : null })]);
    }

    private static void Show(HtmlWriter html, IReadOnlyList<Fact> facts)
    {
        html.Open("dl");
        foreach (Fact fact in facts)
        {
            html.Open("dt");
            _ = fact.Link is null ? html.Text(Words.Of(fact.Name)) : html.Element("a", fact.Name, "href", fact.Link);
            html.Close().Open("dd").Prose(fact.Text).Close();
        }

        html.Close();
    }

    private static void Show(HtmlWriter html, ReportTable table, string heading)
    {
        if (table.Title != heading)
            html.Element("h3", table.Title);
        html.Table(
            table.Title, [.. table.Columns.Select(static column => (ReportTable.Header(column), ReportTable.IsText(column)))], table.Rows,
            table.Links);
    }

    /// <summary>Each chart with what to see in it, or why it is missing.</summary>
    private static void Show(HtmlWriter html, RenderedCharts charts, string folder)
    {
        foreach (string warning in charts.Warnings)
            html.Element("p", warning, "class", "warn");
        if (charts.Drawn.Count == 0 && charts.Warnings.Count == 0)
            html.Paragraph(Words.Of("No phase has a result yet, so there is nothing to draw."));
        foreach (DrawnChart drawn in charts.Drawn)
        {
            html.Open("figure", "id", drawn.Chart.Name)
                .Open("div", "class", "wide", "tabindex", "0", "role", "region", "aria-label", drawn.Chart.Title)
                .Void("img", "alt", drawn.Chart.Title, "src", Embedded(drawn))
                .Close().Open("figcaption").Text(drawn.Chart.HowToRead + " ");
            Link(html, folder, drawn.PngPath, "PNG", drawn.Chart.Title);
            html.Text(" ");
            Link(html, folder, drawn.SvgPath, "SVG", drawn.Chart.Title);
            html.Close().Close();
        }
    }

    private static string Embedded(DrawnChart drawn)
    {
        bool isSvg = new FileInfo(drawn.SvgPath).Length <= LargestSvgBytes;
        string kind = isSvg ? "image/svg+xml" : "image/png";
        return $"data:{kind};base64,{Convert.ToBase64String(File.ReadAllBytes(isSvg ? drawn.SvgPath : drawn.PngPath))}";
    }

    private static void Link(HtmlWriter html, string folder, string path, string kind, string title) =>
        html.Element("a", kind, "aria-label", Words.Of($"{kind} of {title}"), "href",
            Path.GetRelativePath(folder, path).Replace(Path.DirectorySeparatorChar, '/'));
}
