using MongoPerf.Reports.Findings;

namespace MongoPerf.Reports;

/// <summary>A report as one would paste it into a ticket.</summary>
public static class MarkdownReport
{
    public static void Write(Report report, TextWriter output)
    {
        report = report.For(Media.Markdown);
        Line(output, "# " + Escaped(report.Title));
        foreach (Block block in report.Lead.Concat(report.Answer))
            Show(output, block, report.Title);
        foreach (Section section in report.Sections)
        {
            string title = Words.Of(section.Title);
            Heading(output, "## ", title);
            foreach (Block block in section.Blocks)
                Show(output, block, title);
        }
    }

    private static void Show(TextWriter output, Block block, string heading)
    {
        if (block is Block.Table { IsPlain: false } table && table.Content.Title != heading)
            Heading(output, "### ", table.Content.Title);
        Line(output, "");
        foreach (string line in LinesOf(block))
            Line(output, line);
    }

    private static IEnumerable<string> LinesOf(Block block) => block switch
    {
        Block.Paragraph paragraph => [paragraph.Tone == Tone.Conclusion ? $"**{Escaped(paragraph.Text)}**" : Escaped(paragraph.Text)],
        Block.Verdicts verdicts => verdicts.Lines.Select(verdict => Item($"**{verdict.Mark}**", verdict.Text)),
        Block.Cautions cautions => cautions.Lines.Select(caution => Item($"**{Words.Of("note")}**", caution)),
        Block.Findings findings => findings.All.SelectMany(LinesOf),
        Block.Foremost foremost => foremost.All.Select(one => Item($"**{Words.Of("finding")}**", one.Finding.Line)),
        Block.Facts facts =>
            facts.Lines.Select(fact => Item(fact.Grade == Grade.Bad ? $"**{Words.Of(fact.Name)}**" : Words.Of(fact.Name), fact.Text)),
        Block.Table { IsPlain: true } table => [Escaped(table.Content.Title) + ":", "", .. LinesOf(table.Content)],
        Block.Table table => LinesOf(table.Content),
        _ => throw new InvalidOperationException($"Markdown shows no {block.GetType().Name}"),
    };

    private static IEnumerable<string> LinesOf(Finding finding) =>
        [Item($"**{finding.Id}**", finding.Text), .. FindingText.Details(finding).Select(detail => "  " + Item(detail.Name, detail.Text))];

    private static IEnumerable<string> LinesOf(ReportTable table) =>
    [
        Row(table.Columns.Select(ReportTable.Header)),
        "|" + string.Concat(table.Columns.Select(column => ReportTable.IsText(column) ? " --- |" : " ---: |")),
        .. table.Rows.Select(Row),
    ];

    private static string Row(IEnumerable<string> fields) => "|" + string.Concat(fields.Select(field => $" {Escaped(field)} |"));

    /// <param name="name">May hold markup.</param>
    /// <param name="text">May hold anything.</param>
    private static string Item(string name, string text) => $"- {name}: {Escaped(text)}";

    private static void Heading(TextWriter output, string marks, string text)
    {
        Line(output, "");
        Line(output, marks + Escaped(text));
    }

    /// <summary>Messages of servers may hold anything, links and pictures too.</summary>
    private static string Escaped(string text)
    {
        foreach (string special in new[] { "\\", "|", "<", "`", "*", "_", "[" })
            text = text.Replace(special, "\\" + special);
        return text.ReplaceLineEndings(" ");
    }

    private static void Line(TextWriter output, string text)
    {
        output.Write(text);
        output.Write('\n');
    }
}
