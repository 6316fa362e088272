using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Explore;
using MongoPerf.Reporting.Html;

namespace MongoPerf.Reporting.Comparison;

/// <summary>Writes a comparison's folder, in place of an older one's files.</summary>
internal static class ComparisonWriter
{
    private static readonly (string Name, Action<RunComparison, TextWriter> Write)[] TextFiles =
        [("comparison.md", ComparisonMarkdown.Write), ("comparison.json", ComparisonJson.Write), ("comparison.csv", ComparisonCsv.Write)];

    /// <summary>Text files, charts and, last of all, index.html. A missing gnuplot is a warning.</summary>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static ReportFiles WriteAll(RunComparison comparison, string folder)
    {
        OwnFiles.MakeFolder(folder);
        var texts = new List<string>();
        foreach ((string name, Action<RunComparison, TextWriter> write) in TextFiles)
        {
            string file = Path.Combine(folder, name);
            using (StreamWriter output = OwnFiles.Replace(file))
                write(comparison, output);
            texts.Add(file);
        }

        RenderedCharts charts;
        string? warning;
        using (ChartLanguage.Begin(out warning))
            charts = ChartRenderer.Render(ComparisonCharts.Build(comparison), Path.Combine(folder, "charts"));
        string page = HtmlPage.Write(folder, BuildPage(comparison, folder, charts));
        return new ReportFiles(page, [page, .. texts, .. charts.Files], [.. warning is null ? Array.Empty<string>() : [warning], .. charts.Warnings]);
    }

    private static string BuildPage(RunComparison comparison, string folder, RenderedCharts charts)
    {
        string title = ComparisonTitle.Of(comparison);
        IReadOnlyList<string> names = ComparisonTitle.Names(comparison);
        HtmlExplore explore = HtmlExplore.Of(comparison.Sides.Zip(names, static (side, name) => (side.First, name)), ChartLibrary.Find(out string whyNot), whyNot, Words.Of("compare the runs"));
        HtmlWriter html = HtmlPage.Begin(Words.Of($"MongoPerf: {title}"), explore.Css, explore.Scripts);
        html.Element("h1", Words.Of($"MongoPerf: {title}"));
        foreach ((CandidateJudgement candidate, string name) in comparison.Candidates.Zip(names.Skip(1)))
            html.Element("p", ComparisonTitle.Conclusion(name, names[0], candidate), "class", "conclusion");
        html.Element("p", string.Join("; ", comparison.Sides.Zip(names, static (side, name) => name == side.Id ? name : Words.Of($"{name}: run {side.Name}"))), "class", "soft");
        foreach (SetupDifference unlike in comparison.Differences.Where(d => d.IsUnlike))
            html.Element("p", Words.Of($"Different work, compared because of --force: {unlike}"), "class", "warn");
        Cautions(html, comparison);
        html.Contents();
        foreach ((CandidateJudgement candidate, string name) in comparison.Candidates.Zip(names.Skip(1)))
        {
            html.Section($"{name}: {ComparisonText.Overall(candidate)}");
            HtmlPage.Verdicts(html, ComparisonText.Verdicts(comparison, candidate));
        }

        explore.Section(html);
        html.Section("What was compared").Open("dl");
        html.Element("dt", Words.Of("baseline")).Element("dd", comparison.Baseline.Title);
        foreach (CandidateJudgement candidate in comparison.Candidates)
            html.Element("dt", Words.Of("candidate")).Element("dd", candidate.Candidate.Title);
        foreach (SetupDifference difference in comparison.Differences)
            html.Element("dt", difference.IsUnlike ? Words.Of("unlike") : Words.Of("differs")).Element("dd", difference.ToString());
        foreach (string basis in comparison.Candidates.SelectMany(ComparisonText.Bases).Distinct())
            html.Element("dt", Words.Of("evidence")).Element("dd", basis);
        html.Element("dt", Words.Of("method")).Element("dd", ComparisonText.Method(comparison));
        html.Close();
        HtmlPage.Charts(html, folder, charts);
        html.Section("Tables");
        foreach (ReportTable table in ComparisonTables.Of(comparison))
            HtmlTables.Show(html, table);
        explore.Data(html);
        html.Close().Close();
        return html.ToString();
    }

    /// <summary>What nobody may overlook who quotes the figures, before any of them.</summary>
    private static void Cautions(HtmlWriter html, RunComparison comparison)
    {
        if (comparison.Notes.Count == 0)
            return;
        html.Open("ul", "class", "cautions", "aria-label", Words.Of("Cautions"));
        foreach (string note in comparison.Notes)
            html.Element("li", note);
        html.Close();
    }
}
