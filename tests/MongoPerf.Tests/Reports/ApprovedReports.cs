using System.Runtime.CompilerServices;
using MongoPerf.Reports;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>A report word for word, as Markdown, beside what its test looks for in it.</summary>
internal static class ApprovedReports
{
    public static void Check(Report report, [CallerFilePath] string caller = "")
    {
        using var text = new StringWriter();
        MarkdownReport.Write(report, text);
        ApprovedParts.Check(text.ToString(), caller);
    }
}
