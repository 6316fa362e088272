using System.Text.RegularExpressions;
using System.Xml;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Html;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>MONGOPERF_KEEP_CHARTS names a folder that keeps the page, to look at.</summary>
public sealed partial class HtmlReportTests
{
    private static readonly RenderedCharts NoCharts = new([], [], []);

    [Fact]
    public void Page_is_well_formed() => Parse(PageOf(new GrowingRun { Events = [(3, "reconnect")] }));

    [Fact]
    public void Page_of_a_run_that_measured_nothing_is_well_formed_and_says_so()
    {
        string page = PageOf(new GrowingRun { Steps = 0, Deployment = null, IsFinished = false });

        Parse(page);
        Assert.Contains("No phase has a result yet, so there is nothing to draw.", page, StringComparison.Ordinal);
        Assert.Contains("to resume: mongoperf resume <span class=\"whole\">2026-11-21-a</span>", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Text_of_the_run_is_escaped()
    {
        string page =
            PageOf(new GrowingRun { Steps = 1, CommandLine = "mongoperf series --db '<script>alert(1)</script>' & \"x\" \u0001" });

        Parse(page);
        Assert.DoesNotContain("<script", page, StringComparison.OrdinalIgnoreCase);
        Assert.Contains("&lt;script&gt;alert(1)&lt;/script&gt;' &amp; \"x\" ?", page, StringComparison.Ordinal);
    }

    [Fact]
    public void An_embedded_server_is_never_taken_for_MongoDB()
    {
        string page = PageOf(new GrowingRun
        {
            Steps = 1, Deployment = RunParts.Deployment() with { Kind = DeploymentKind.Embedded, IsEmbedded = true },
        });

        Assert.Contains("embedded server, not MongoDB", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Settings_charts_tables_errors_and_events_come_in_the_reports_order()
    {
        string page = PageOf(new GrowingRun { Events = [(3, "reconnect")] }, HtmlExplore.Live);
        string[] heads = [.. Heads().Matches(page).Select(static match => match.Groups[1].Value)];

        Assert.Equal(
            [
                "Notes", "Findings", "Slowest seconds", "Explore", "Setup", "Charts", "Results", "Errors", "Events (UTC)", "The scenario",
                "Repeat this run", "Files",
            ],
            heads);
    }

    /// <summary>Found on paper: "--" ended a line and "repeat 5" began the next; on a phone "13.3" and "ms" were parted.</summary>
    [Fact]
    public void No_line_breaks_within_an_option_or_before_a_unit()
    {
        string page = PageOf(new GrowingRun { Steps = 1, CommandLine = "mongoperf series --rate-for 13.3 ms, 46.7 % of 2 cores" });

        Assert.Contains(
            "mongoperf series <span class=\"whole\">--rate-for</span> <span class=\"whole\">13.3 ms,</span> "
            + "<span class=\"whole\">46.7 %</span> of 2 cores</dd>", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Contents_lead_to_every_section()
    {
        string page = PageOf(new GrowingRun { Events = [(3, "reconnect")] });

        string contents = page[page.IndexOf("<nav", StringComparison.Ordinal)..page.IndexOf("</nav>", StringComparison.Ordinal)];
        string[] links = [.. Links().Matches(contents).Select(static match => match.Groups[1].Value)];
        Assert.Equal(Heads().Count(page), links.Length);
        Assert.Distinct(links);
        Assert.All(links, id => Assert.Contains($"<h2 id=\"{id}\"", page, StringComparison.Ordinal));
    }

    [Fact]
    public void Commands_of_the_files_find_runs_in_another_folder_than_the_default_one()
    {
        using var folder = new TemporaryFolder();
        using var run = StoredRun.Open(FrozenRun.Build(folder.Path));
        string page = ReportWriter.WriteAll(run, folder.At("report"), plots: [], runsFolder: "/big/runs").Page;
        foreach (string file in (string[])[page, folder.At(Path.Combine("report", "report.md"))])
            Assert.Contains($" {run.Run.Id} --out /big/runs", File.ReadAllText(file).Replace("<span class=\"whole\">", "")
                .Replace("</span>", "", StringComparison.Ordinal), StringComparison.Ordinal);
    }

    [Fact]
    public void Whole_report_is_one_page_that_needs_no_network()
    {
        using var folder = new TemporaryFolder();
        using var run = StoredRun.Open(FrozenRun.Build(folder.Path));
        string target = Environment.GetEnvironmentVariable("MONGOPERF_KEEP_CHARTS") is { } keep
            ? Path.Combine(keep, "report")
            : folder.At("report");

        var files = ReportWriter.WriteAll(run, target);

        Assert.Empty(files.Warnings);
        Assert.All(files.Files, static file => Assert.True(new FileInfo(file).Length > 0, file));
        string page = File.ReadAllText(files.Page);
        Parse(page);
        // The browser is told so; the chart library's own text, which it can't be held to, names its licence's address.
        Assert.Contains("default-src 'none'", page, StringComparison.Ordinal);
        string markup = Scripts().Replace(page, "");
        Assert.DoesNotContain("http:", markup, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("https:", markup, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("url(", markup, StringComparison.OrdinalIgnoreCase);
        Assert.Equal(6, Images().Count(page));
        Assert.InRange(page.Length, 100_000, 5_000_000);
        Assert.Empty(Directory.GetFiles(target, "*.new"));
    }

    [Fact]
    public void A_report_replaces_the_page_of_an_earlier_one()
    {
        using var folder = new TemporaryFolder();
        Directory.CreateDirectory(folder.At("report"));
        File.WriteAllText(Path.Combine(folder.At("report"), "index.html"), "old");

        string page = HtmlPage.Write(folder.At("report"), PageOf(new GrowingRun { Steps = 1 }));

        Assert.StartsWith("<!DOCTYPE html>", File.ReadAllText(page), StringComparison.Ordinal);
    }

    /// <param name="shape">The run.</param>
    /// <param name="explore">Null: nothing to explore, so that the page holds no scripts.</param>
    private static string PageOf(GrowingRun shape, HtmlExplore? explore = null)
    {
        using var folder = new TemporaryFolder();
        using var run = shape.Write(folder.At("run"));
        return HtmlReport.Build(RunReport.Of(run), new PagePictures(explore ?? HtmlExplore.Of([]), NoCharts, folder.At("report")));
    }

    private static void Parse(string page)
    {
        using var reader = XmlReader.Create(new StringReader(page), new XmlReaderSettings { DtdProcessing = DtdProcessing.Ignore });
        while (reader.Read())
        {
        }
    }

    [GeneratedRegex("<h2[^>]*>([^<]*)</h2>")]
    private static partial Regex Heads();

    [GeneratedRegex("href=\"#([^\"]*)\"")]
    private static partial Regex Links();

    [GeneratedRegex("<script.*?</script>", RegexOptions.Singleline)]
    private static partial Regex Scripts();

    [GeneratedRegex("<img [^>]*src=\"data:image/(svg\\+xml|png);base64,")]
    private static partial Regex Images();
}
