using System.Globalization;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Restarts;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What is reported of a run, and in which order.</summary>
public static class RunReport
{
    /// <param name="run">Finished or not.</param>
    /// <param name="files">What was written, as its reader finds it.</param>
    /// <param name="runsFolder">The runs folder as typed after --out; null for the default.</param>
    public static Report Of(StoredRun run, IReadOnlyList<Fact>? files = null, string? runsFolder = null) =>
        Of(run, RunVerdicts.Of(run), files ?? [], runsFolder).Marked([run]);

    private static Report Of(StoredRun run, IReadOnlyList<Verdict> verdicts, IReadOnlyList<Fact> files, string? runsFolder) => new(
        Title(run),
        [new Block.Paragraph(ChartText.Subtitle(run), Tone.Soft) { In = Media.Page }],
        [
            new Section("Notes", [new Block.Verdicts(verdicts)]),
            new Section("Findings", [new Block.Findings(RunFindings.Shown(run))]),
            new Section("Slowest seconds", [.. SlowestSeconds.Of(run).Tables().Select(table => new Block.Table(table))]),
            new Section("Explore", [new Block.Explore()]),
            new Section("Setup", [new Block.Facts(ReportLines.Setup(run))]),
            new Section("Charts", [new Block.Charts()]),
            new Section("Results", [.. Results(run)]),
            new Section("Shards", [.. ShardTables.Of(run).Select(table => new Block.Table(table))]),
            TableOrNone("Errors", ReportTables.Errors(run)),
            TableOrNone("Events", ReportTables.Events(run)),
            new Section("The scenario",
                [.. Scaled(run.Settings.Plan.Overrides.Scale), new Block.Source(run.Settings.Plan.Text) { In = Media.Page }]),
            new Section(
                "Repeat this run",
                [
                    new Block.Facts([new Fact("command", run.Run.CommandLine), new Fact("next", ReportLines.Next(run, runsFolder))]),
                    new Block.Paragraph(Words.Of($"The documents depend on the seed only: with --seed {run.Run.Seed} they are byte for "
                        + $"byte the same on every machine.")) { In = Media.Documents },
                ]),
            new Section("Files",
                [
                    new Block.Paragraph(Words.Of("This page is self-contained and can be sent by itself. Next to it:")) { In = Media.Page },
                    new Block.Facts(files),
                ]),
        ])
        {
            Answer = RunAnswer.Of(run, verdicts, files, runsFolder),
        };

    /// <summary>The line above the file's text, whose counts are not those of the run.</summary>
    private static IEnumerable<Block> Scaled(double scale)
    {
        if (scale != 1)
            yield return new Block.Paragraph(Words.Of($"This is the file itself; the run multiplied its counts by "
                + $"{scale.ToString("0.########", CultureInfo.InvariantCulture)} (--scale).")) { In = Media.Page };
    }

    private static string Title(StoredRun run)
    {
        string target = run.GrowthSteps.Count > 0 ? Words.Of($" to {Units.Count(run.Settings.Plan.TargetDocuments)} documents") : "";
        return Words.Of($"MongoPerf: {run.Settings.Plan.Name}{target}, run {run.Run.Id}");
    }

    private static IEnumerable<Block> Results(StoredRun run)
    {
        yield return new Block.Paragraph(
            run.Results.Any()
                ? Words.Of("Rates and latencies exclude the warm-up. 1 MB is 1,000,000 bytes, 1 MiB is 1,048,576.")
                : Words.Of("No phase has a result yet.")) { In = Media.Documents };
        // What they show stands in the tables of the operations too, and a terminal has no room for it twice.
        foreach (GrowthFigures growth in GrowthFigures.Of(run))
            yield return new Block.Table(GrowthTables.Rates(run, growth)) { In = Media.Documents };
        IEnumerable<ReportTable?> tables =
        [
            RestartReports.Table(run), .. GrowthTables.Of(run), .. FigureTables.Of(FigureRun.Of(run)), .. PhaseTables.Of(run),
            ReportTables.Clients(run), ReportTables.Members(run), ReportTables.Traffic(run),
        ];
        foreach (ReportTable table in tables.OfType<ReportTable>())
            yield return new Block.Table(table);
        if (ClientShares.DriverTable(run) is { } driver)
            yield return new Block.Table(driver) { In = Media.Documents };
    }

    private static Section TableOrNone(string title, ReportTable? table) =>
        table is not null ? Section.Of(table) : new Section(title, [new Block.Paragraph(Words.Of("None.")) { In = Media.Documents }]);
}
