using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>
/// What all figures of runs on something other than MongoDB are shown with: <see cref="DeploymentInfo.NotMongoDb"/> in words. Reports,
/// charts and files for programs take it from here.
/// </summary>
public static class NotMongoDb
{
    /// <summary>The last column of files with comma-separated values; empty for MongoDB.</summary>
    public const string Column = "not_mongodb";

    /// <summary>More are counted, not named.</summary>
    private const int MostNamed = 2;

    /// <summary>"embedded server", for programs; null for MongoDB, and where no server was reached.</summary>
    public static string? Of(StoredRun run) => run.Deployment?.NotMongoDb;

    /// <summary>
    /// "embedded server, not MongoDB"; of several runs, some of which were on MongoDB, "2026-11-21-a: embedded server, not MongoDB".
    /// </summary>
    /// <returns>Null where all were on MongoDB.</returns>
    public static string? Mark(IReadOnlyList<StoredRun> runs)
    {
        StoredRun[] those = [.. runs.Where(run => Of(run) is not null)];
        if (those.Length == 0)
            return null;
        string mark = Words.Of($"{Words.And([.. those.Select(run => Words.Of(Of(run)!)).Distinct()])}, not MongoDB");
        return those.Length == runs.Count ? mark
            : those.Length <= MostNamed ? Words.Of($"{string.Join(", ", those.Select(run => run.Run.Id))}: {mark}")
            : Words.Of($"{those.Length} of {runs.Count} runs: {mark}");
    }

    /// <inheritdoc cref="Mark(IReadOnlyList{StoredRun})"/>
    public static string? Mark(StoredRun run) => Mark([run]);

    /// <summary>The report with its mark: above all else, in its title, and in the title of each of its tables.</summary>
    /// <param name="report">Of one run or several.</param>
    /// <param name="runs">All that it shows figures of.</param>
    public static Report Marked(this Report report, IReadOnlyList<StoredRun> runs)
    {
        if (Mark(runs) is not { } mark)
            return report;
        var caution = new Block.Cautions([Words.Of($"{mark}; do not take these figures for MongoDB's")]);
        return new Report(With(report.Title, mark), [caution, .. Marked(report.Lead, mark)], [.. report.Sections.Select(section =>
            section with
            {
                // A section that is a table has its title.
                Title = section.Blocks.Any(block => block is Block.Table table && table.Content.Title == section.Title)
                    ? With(section.Title, mark) : section.Title,
                Blocks = Marked(section.Blocks, mark),
            })])
        {
            Answer = report.Answer.Count == 0 ? [] : [caution with { In = Media.Console }, .. Marked(report.Answer, mark)],
        };
    }

    /// <summary>The chart with its mark: below its title, and in its data.</summary>
    /// <param name="chart">Of one run or several.</param>
    /// <param name="runs">All that it shows figures of.</param>
    public static Chart Marked(this Chart chart, IReadOnlyList<StoredRun> runs)
    {
        if (Mark(runs) is not { } mark)
            return chart;
        // What names the servers itself says it already.
        bool isSaid = runs.Select(Of).OfType<string>().All(other => chart.Subtitle.Contains(Words.Of(other), StringComparison.Ordinal));
        return chart with
        {
            Subtitle = isSaid ? chart.Subtitle : string.Join(" · ", new[] { chart.Subtitle, mark }.Where(part => part.Length > 0)),
            NotMongoDb = mark,
        };
    }

    private static string With(string title, string mark) => Words.Of($"{title} ({mark})");

    private static IReadOnlyList<Block> Marked(IReadOnlyList<Block> blocks, string mark) => [.. blocks.Select(block =>
        block is Block.Table table ? table with { Content = table.Content with { Title = With(table.Content.Title, mark) } } : block)];
}
