using MongoPerf.Reports;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;

namespace MongoPerf.Commands.Results;

/// <summary>Prints what a search for the highest rate came to, and how it went.</summary>
internal static class RateSearchReport
{
    /// <param name="format">json, or anything else for text.</param>
    /// <param name="result">The result of a search that reached its end.</param>
    /// <param name="last">Its last try; all were on the same server.</param>
    public static void Print(string format, RateSearchResult result, StoredRun last)
    {
        (RateGoal goal, IReadOnlyList<RateTry> tries, double? found) = result;
        if (format == "json")
        {
            JsonReport.WriteValue(Console.Out, new
            {
                schema = "mongoperf/find-max/1", notMongoDb = NotMongoDb.Of(last), assertion = goal.Text, highestRate = found, tries,
            });
            return;
        }

        Report report = new Report("MongoPerf: search for the highest rate", [new Block.Paragraph(Summary(result))],
            [Section.Of(Path(tries, goal))]).Marked([last]);
        ConsoleReport.Write(report, Console.Out, ConsoleReportOptions.ForStandardOutput());
    }

    public static string Summary(RateSearchResult result)
    {
        (RateGoal goal, IReadOnlyList<RateTry> tries, double? found) = result;
        if (found is not { } rate)
        {
            RateTry? held =
                tries.Where(one => one.Holds && !tries.Any(other => !other.Holds && other.Rate <= one.Rate)).MaxBy(one => one.Rate);
            return held is null
                ? $"no rate was found at which {goal.Text}: the lowest tried was {Units.Rate(tries.Min(one => one.Rate))}/s"
                : $"no rate was verified at which {goal.Text}: {Units.Rate(held.Rate)}/s held once, and the search ended after "
                    + $"{Units.Counted(tries.Count, "try", "tries")}";
        }

        RateTry? failed = tries.Where(one => !one.Holds && one.Rate > rate).MinBy(one => one.Rate);
        string above = failed is null ? "no higher rate was tried" : $"{Units.Rate(failed.Rate)}/s does not ({failed.Problem})";
        return $"highest rate at which {goal.Text}: {Units.Rate(rate)}/s, verified; {above}";
    }

    private static ReportTable Path(IReadOnlyList<RateTry> tries, RateGoal goal) => new(
        "The search, in order; latency is response time, from when an operation was due",
        ["try", "<step", "rate/s", "achieved", goal.Metric, "<holds", "<run"],
        [
            .. tries.Select((one, i) => (IReadOnlyList<string>)
                [$"{i + 1}", one.Stage, Units.Rate(one.Rate), Units.Rate(one.Achieved), Units.Latency(one.Value),
                    one.Problem is null ? "yes" : $"no: {one.Problem}", one.Run]),
        ]);
}
