using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Html;

namespace MongoPerf.Reporting;

/// <summary>The first lines of every report.</summary>
internal static class VerdictLines
{
    public static IReadOnlyList<string> Of(StoredRun run)
    {
        var sum = run.Accounting;
        return [$"{HtmlTables.Count(sum.Scheduled)} operations scheduled = {HtmlTables.Count(sum.Succeeded)} succeeded + {HtmlTables.Count(sum.Failed)} failed + {HtmlTables.Count(sum.Skipped)} skipped."];
    }
}
