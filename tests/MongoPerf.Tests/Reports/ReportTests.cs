using System.Text.RegularExpressions;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Html;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>A report is one model; what shows it adds and moves nothing.</summary>
public sealed partial class ReportTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Console_Markdown_and_page_show_a_reports_tables_in_the_reports_order()
    {
        using StoredRun run = new GrowingRun { Events = [(3, "reconnect")] }.Write(_folder.At("run"));
        Report report = RunReport.Of(run);
        (Media Medium, string Text)[] shown =
        [
            (Media.Console, OnConsole(report)), (Media.Markdown, InMarkdown(report)), (Media.Page, OnPage(report).Split("</nav>")[1]),
        ];
        Assert.All(shown, one =>
        {
            string[] titles = [.. report.For(one.Medium).Blocks.OfType<Block.Table>().Select(table => table.Content.Title)];
            Assert.True(titles.Length > 5);
            int[] places = [.. titles.Select(title => Heading(title).Match(one.Text) is { Success: true } found ? found.Index : -1)];
            Assert.DoesNotContain(-1, places);
            Assert.Equal(places.Order(), places);
        });
    }

    [Fact]
    public void A_part_is_shown_where_it_says_and_a_section_with_nothing_to_show_is_not_there()
    {
        var report = new Report(
            "Title",
            [new Block.Paragraph("for documents") { In = Media.Documents }],
            [
                new Section("Empty", [new Block.Facts([]), new Block.Cautions([]), new Block.Findings([])]),
                new Section("Console", [new Block.Facts([new Fact("left", "for the console")]) { In = Media.Console }]),
                new Section("Kept", [new Block.Facts([new Fact("run", "for all")]), new Block.Source("for the page") { In = Media.Page }]),
            ]);

        Assert.Equal("left       for the console\nrun        for all\n", OnConsole(report));
        Assert.Equal("# Title\n\nfor documents\n\n## Kept\n\n- run: for all\n", InMarkdown(report));
        Assert.Equal(["Kept"], report.For(Media.Page).Sections.Select(section => section.Title));
        Assert.Equal(["for documents", "for all", "for the page"], Shown().Matches(OnPage(report)).Select(match => match.Value));
    }

    [Fact]
    public void A_table_below_a_heading_with_its_title_has_none_of_its_own()
    {
        var table = new ReportTable("Errors", ["count"], [["3"]]);

        Assert.Equal("# t\n\n## Errors\n\n| count |\n| ---: |\n| 3 |\n", InMarkdown(new Report("t", [], [Section.Of(table)])));
        Assert.Equal("# t\n\n## Tables\n\n### Errors\n\n| count |\n| ---: |\n| 3 |\n",
            InMarkdown(new Report("t", [], [new Section("Tables", [new Block.Table(table)])])));
    }

    [Fact]
    public void What_must_not_be_overlooked_is_marked_in_every_form()
    {
        var report = new Report(
            "t", [new Block.Cautions(["one <machine>"]), new Block.Facts([new Fact("UNLIKE", "seed: 1 → 2") { Grade = Grade.Bad }])], []);

        Assert.Equal("note       one <machine>\n\nUNLIKE     seed: 1 → 2\n", OnConsole(report));
        Assert.Equal("# t\n\n- **note**: one \\<machine>\n\n- **UNLIKE**: seed: 1 → 2\n", InMarkdown(report));
        Assert.Contains("<li>one &lt;machine&gt;</li>", OnPage(report), StringComparison.Ordinal);
    }

    [Fact]
    public void A_servers_message_becomes_no_link_and_no_picture_in_Markdown() =>
        Assert.Equal("# t\n\n- **note**: !\\[x](http://x)\n", InMarkdown(new Report("t", [new Block.Cautions(["![x](http://x)"])], [])));

    private static Regex Heading(string title) => new($"(^|[#>] ?){Regex.Escape(title.Split('_')[0])}", RegexOptions.Multiline);

    private static string OnConsole(Report report) => Written(output =>
        ConsoleReport.Write(report, output, new ConsoleReportOptions { IsFull = true }));

    private static string InMarkdown(Report report) => Written(output => MarkdownReport.Write(report, output));

    private string OnPage(Report report)
    {
        using StoredRun run = new GrowingRun { Steps = 0 }.Write(_folder.At($"{Directory.GetDirectories(_folder.Path).Length}"));
        return HtmlReport.Build(report, new PagePictures(HtmlExplore.Of([]), new RenderedCharts([], [], []), _folder.Path));
    }

    private static string Written(Action<TextWriter> write)
    {
        using var output = new StringWriter();
        write(output);
        return output.ToString();
    }

    [GeneratedRegex("for (documents|all|the \\w+)")]
    private static partial Regex Shown();
}
