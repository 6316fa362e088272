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
        table.Title, [.. table.Columns.Select(static column => (ReportTable.Header(column), ReportTable.IsText(column)))], table.Rows);
}
