using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Experiments;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting.Html;

/// <summary>One page with everything about a run, that needs no network and no other file.</summary>
internal static class HtmlReport
{
    /// <summary>Writes index.html in place of an older one; a reader never sees half of it.</summary>
    /// <returns>Its full path.</returns>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static string Write(StoredRun run, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles) =>
        HtmlPage.Write(folder, Build(run, folder, charts, textFiles));

    internal static string Build(StoredRun run, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles)
    {
        HtmlWriter html = HtmlPage.Begin($"MongoPerf: {run.Run.Id}");
        Head(html, run);
        HtmlFacts.Settings(html, run);
        Findings(html, run);
        HtmlPage.Charts(html, folder, charts);
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
        string target = run.Run.Kind == "series" ? $"series to {Units.Count(run.Settings.TargetDocumentCount)} documents" : run.Scenario is { } scenario ? $"scenario {scenario.Name}" : $"run {string.Join(", ", run.Settings.Tests)}";
        html.Element("h1", $"MongoPerf: {target}").Element("p", ChartText.Subtitle(run), "class", "soft");
        foreach (string remark in Remarks(run))
            html.Element("p", remark, "class", "warn");
        HtmlPage.Verdicts(html, Verdict.Of(run));
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

    private static void Tables(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "Tests");
        if (run.Steps.Count == 0)
        {
            html.Paragraph("No test has a result yet.");
            return;
        }

        html.Paragraph("Rates and latencies leave the warm-up out. 1 MB is 1,000,000 bytes, 1 MiB 1,048,576.");
        foreach (var table in ExperimentTables.Of(run).Concat(ReportTables.Tests(run)))
            HtmlTables.Show(html, table);
        if (run.Scenario is not null)
            return;
        html.Element("h2", "Growth");
        HtmlTables.Rates(html, run);
        if (ReportTables.Growth(run) is { } growth)
            HtmlTables.Show(html, growth);
        foreach (var table in ShardTables.Of(run))
            HtmlTables.Show(html, table);
    }
}
