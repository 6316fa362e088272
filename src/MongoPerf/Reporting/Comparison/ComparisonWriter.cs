using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
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

        RenderedCharts charts = ChartRenderer.Render(ComparisonCharts.Build(comparison), Path.Combine(folder, "charts"));
        string page = HtmlPage.Write(folder, BuildPage(comparison, folder, charts));
        return new ReportFiles(page, [page, .. texts, .. charts.Files], charts.Warnings);
    }

    private static string BuildPage(RunComparison comparison, string folder, RenderedCharts charts)
    {
        string names = string.Join(", ", comparison.Candidates.Select(c => c.Candidate.Name));
        HtmlWriter html = HtmlPage.Begin($"MongoPerf: {names} against {comparison.Baseline.Name}");
        html.Element("h1", $"MongoPerf: {names} against {comparison.Baseline.Name}");
        foreach (SetupDifference unlike in comparison.Differences.Where(d => d.IsUnlike))
            html.Element("p", $"Different work, compared because of --force: {unlike}", "class", "warn");
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            html.Element("h2", $"{candidate.Candidate.Name}: {ComparisonText.Overall(candidate)}");
            HtmlPage.Verdicts(html, ComparisonText.Verdicts(comparison, candidate));
        }

        html.Element("h2", "What was compared").Open("dl");
        html.Element("dt", "baseline").Element("dd", comparison.Baseline.Title);
        foreach (CandidateJudgement candidate in comparison.Candidates)
            html.Element("dt", "candidate").Element("dd", candidate.Candidate.Title);
        foreach (SetupDifference difference in comparison.Differences)
            html.Element("dt", difference.IsUnlike ? "unlike" : "differs").Element("dd", difference.ToString());
        foreach (string note in comparison.Notes)
            html.Element("dt", "note").Element("dd", note);
        foreach (string basis in comparison.Candidates.SelectMany(ComparisonText.Bases).Distinct())
            html.Element("dt", "evidence").Element("dd", basis);
        html.Element("dt", "method").Element("dd", ComparisonText.Method(comparison));
        html.Close();
        HtmlPage.Charts(html, folder, charts);
        html.Element("h2", "Tables");
        foreach (ReportTable table in ComparisonTables.Of(comparison))
            HtmlTables.Show(html, table);
        html.Close().Close();
        return html.ToString();
    }
}
