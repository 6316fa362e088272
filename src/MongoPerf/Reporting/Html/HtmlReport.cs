using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Explore;
using MongoPerf.Reporting.Findings;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting.Html;

/// <summary>One page with everything about a run, that needs no network and no other file.</summary>
internal static class HtmlReport
{
    /// <summary>Writes index.html in place of an older one; a reader never sees half of it.</summary>
    /// <returns>Its full path.</returns>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static string Write(StoredRun run, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles) =>
        HtmlPage.Write(folder, Build(run, folder, charts, textFiles, HtmlExplore.Of(run, ChartLibrary.Find(out string whyNot), whyNot)));

    internal static string Build(StoredRun run, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles, HtmlExplore explore)
    {
        HtmlWriter html = HtmlPage.Begin(Words.Of($"MongoPerf: {run.Run.Id}"), explore.Css, explore.Scripts);
        Head(html, run);
        explore.Section(html);
        HtmlFacts.Settings(html, run);
        HtmlPage.Charts(html, folder, charts);
        Tables(html, run);
        HtmlFacts.Errors(html, run);
        HtmlFacts.Events(html, run);
        HtmlFacts.Repeat(html, run);
        HtmlFacts.Files(html, folder, charts, textFiles);
        explore.Data(html);
        html.Close().Close();
        return html.ToString();
    }

    private static void Head(HtmlWriter html, StoredRun run)
    {
        string target = run.GrowthSteps.Count > 0 ? Words.Of($" to {Units.Count(run.Settings.Plan.TargetDocuments)} documents") : "";
        html.Element("h1", Words.Of($"MongoPerf: {run.Settings.Plan.Name}{target}")).Element("p", ChartText.Subtitle(run), "class", "soft");
        foreach (string remark in Remarks(run))
            html.Element("p", remark, "class", "warn");
        HtmlPage.Verdicts(html, Verdict.Of(run));
        html.Contents();
        Findings(html, RunFindings.Shown(run));
    }

    private static void Findings(HtmlWriter html, IReadOnlyList<Finding> findings)
    {
        if (findings.Count > 0)
            html.Section("Findings");
        foreach (Finding finding in findings)
        {
            html.Element("h3", finding.Text).Open("dl");
            foreach ((string name, string text) in FindingText.Details(finding).Append(("id", finding.Id)))
                html.Element("dt", name).Element("dd", text);
            html.Close();
        }
    }

    /// <summary>What nobody may overlook: a chart without this page says it too.</summary>
    private static IEnumerable<string> Remarks(StoredRun run)
    {
        if (run.Deployment is { IsEmbedded: true })
            yield return Words.Of("These are figures of MongoPerf's embedded server, not of MongoDB.");
        else if (run.Deployment is { Kind: DeploymentKind.Null })
            yield return Words.Of("These are figures of the null deployment, which answers from memory: the most that client and loopback can do. They are not figures of MongoDB.");
    }

    private static void Tables(HtmlWriter html, StoredRun run)
    {
        html.Section("Results");
        if (!run.Results.Any())
        {
            html.Paragraph(Words.Of("No phase has a result yet."));
            return;
        }

        html.Paragraph(Words.Of("Rates and latencies exclude the warm-up. 1 MB is 1,000,000 bytes, 1 MiB is 1,048,576."));
        IReadOnlyList<ReportTable> rates = [.. GrowthFigures.Of(run).Select(growth => GrowthTables.Rates(run, growth))];
        foreach (ReportTable table in rates.Concat(ReportTables.Results(run)))
            HtmlTables.Show(html, table);
        ReportTable[] shards = [.. ShardTables.Of(run)];
        if (shards.Length > 0)
            html.Section("Shards");
        foreach (ReportTable table in shards)
            HtmlTables.Show(html, table);
    }
}
