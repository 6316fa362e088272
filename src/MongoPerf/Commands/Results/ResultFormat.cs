using MongoPerf.Reports;

namespace MongoPerf.Commands.Results;

/// <summary>Prints results to standard output in the requested format.</summary>
internal static class ResultFormat
{
    /// <summary>As text or Markdown, which show the report, or in one of the other formats.</summary>
    /// <param name="format">As typed.</param>
    /// <param name="isFull">Text is the whole report, not only its answer.</param>
    /// <param name="report">Made only where it is shown.</param>
    /// <param name="others">Formats that do without the report.</param>
    public static void Print(string format, bool isFull, Func<Report> report, params (string Format, Action<TextWriter> Write)[] others)
    {
        if (others.FirstOrDefault(other => other.Format == format).Write is { } write)
            write(Console.Out);
        else if (format == "markdown")
            MarkdownReport.Write(report(), Console.Out);
        else
            ConsoleReport.Write(report(), Console.Out, ConsoleReportOptions.ForStandardOutput(isFull));
        Console.Out.Flush();
    }
}
