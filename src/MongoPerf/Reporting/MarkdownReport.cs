using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Findings;

namespace MongoPerf.Reporting;

/// <summary>A run as one would paste it into a ticket.</summary>
internal static class MarkdownReport
{
    public static void Write(StoredRun run, TextWriter output)
    {
        Line(output, Words.Of($"# MongoPerf run {Escaped(run.Run.Id)}"));
        Line(output, "");
        foreach (Verdict verdict in Verdict.Of(run))
            Item(output, $"**{verdict.Mark}**", verdict.Text);
        Findings(output, RunFindings.Shown(run));
        Heading(output, "Setup");
        foreach ((string name, string text) in ReportLines.Environment(run))
            Item(output, name, text);
        Line(output, Words.Of("- 1 MB is 1,000,000 bytes, 1 MiB is 1,048,576; rates and latencies exclude the warm-up"));
        foreach (ReportTable table in ReportTables.All(run))
            Table(output, table);
    }

    private static void Findings(TextWriter output, IReadOnlyList<Finding> findings)
    {
        if (findings.Count > 0)
            Heading(output, "Findings");
        foreach (Finding finding in findings)
        {
            Item(output, $"**{finding.Id}**", finding.Text);
            foreach ((string name, string text) in FindingText.Details(finding))
                Line(output, $"  - {name}: {Escaped(text)}");
        }
    }

    public static void Table(TextWriter output, ReportTable table)
    {
        Heading(output, table.Title);
        Line(output, Row(table.Columns.Select(ReportTable.Header)));
        Line(output, "|" + string.Concat(table.Columns.Select(c => ReportTable.IsText(c) ? " --- |" : " ---: |")));
        foreach (IReadOnlyList<string> row in table.Rows)
            Line(output, Row(row));
    }

    public static void Heading(TextWriter output, string text)
    {
        Line(output, "");
        Line(output, "## " + Escaped(Words.Of(text)));
        Line(output, "");
    }

    private static string Row(IEnumerable<string> fields) => "|" + string.Concat(fields.Select(f => $" {Escaped(f)} |"));

    /// <summary>Messages of servers may hold anything.</summary>
    private static string Escaped(string text)
    {
        foreach (string special in new[] { "\\", "|", "<", "`", "*", "_" })
            text = text.Replace(special, "\\" + special);
        return text.ReplaceLineEndings(" ");
    }

    /// <param name="output">Where to.</param>
    /// <param name="name">May hold markup.</param>
    /// <param name="text">May hold anything.</param>
    public static void Item(TextWriter output, string name, string text) => Line(output, $"- {Words.Of(name)}: {Escaped(text)}");

    public static void Line(TextWriter output, string text)
    {
        output.Write(text);
        output.Write('\n');
    }
}
