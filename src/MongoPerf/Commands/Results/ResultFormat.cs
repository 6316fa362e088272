using MongoPerf.Reports;

namespace MongoPerf.Commands.Results;

/// <summary>Prints results to standard output in the requested format.</summary>
internal static class ResultFormat
{
    /// <summary>It prints as text or Markdown, which show the report, or in one of the other formats.</summary>
    /// <param name="format">The format as typed.</param>
    /// <param name="report">Made only where it is shown.</param>
    /// <param name="others">Formats that do without the report.</param>
    public static void Print(string format, Func<Report> report, params (string Format, Action<TextWriter> Write)[] others)
    {
        if (others.FirstOrDefault(other => other.Format == format).Write is { } write)
            write(Console.Out);
        else if (format == "markdown")
            MarkdownReport.Write(report(), Console.Out);
        else
            ConsoleReport.Write(report(), Console.Out, ConsoleReportOptions.ForStandardOutput());
        Console.Out.Flush();
    }
}
