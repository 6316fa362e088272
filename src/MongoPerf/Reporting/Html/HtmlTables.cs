using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Html;

/// <summary>The report's tables of figures.</summary>
internal static class HtmlTables
{
    public static void Show(HtmlWriter html, ReportTable table)
    {
        html.Element("h3", table.Title);
        Rows(html, table);
    }

    /// <summary>Without the title.</summary>
    public static void Rows(HtmlWriter html, ReportTable table) => html.Table(
        [.. table.Columns.Select(static column => (ReportTable.Header(column), ReportTable.IsText(column)))], table.Rows);

    /// <summary>All tests side by side, a row for each size.</summary>
    public static void Rates(HtmlWriter html, StoredRun run)
    {
        var columns = run.Steps.SelectMany(static step => step.Tests).Select(static result => (result.Test, result.Threads))
            .Distinct().OrderBy(static one => TestOrder.Of(one.Test)).ThenBy(static one => one.Threads).ToList();
        List<(string, bool)> heads = [("documents", false)];
        foreach ((string test, int threads) in columns)
            heads.Add(($"{test}{(!IsInsert(test) && run.Settings.Threads.Count > 1 ? $" ×{threads}" : "")}", false));

        html.Paragraph("Documents per second for unack, batch and safe, operations per second for q4 to q7.");
        html.Table(heads, run.Steps.Select(step =>
        {
            List<string> row = [Units.Count(step.Documents) + (step.Complete ? "" : " (unfinished)")];
            foreach ((string test, int threads) in columns)
            {
                var result = step.Tests.FirstOrDefault(one => one.Test == test && one.Threads == threads);
                row.Add(Units.Rate(IsInsert(test) ? result?.DocumentsPerSecond : result?.OperationsPerSecond));
            }

            return row;
        }));
    }

    private static bool IsInsert(string test) => ChartText.InsertTests.Contains(test);
}
