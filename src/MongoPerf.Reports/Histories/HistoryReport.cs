namespace MongoPerf.Reports.Histories;

/// <summary>What is reported of a history, and in which order.</summary>
public static class HistoryReport
{
    /// <param name="history">Judged.</param>
    /// <param name="files">What was written, as its reader finds it.</param>
    /// <param name="runsFolder">As typed after --out; null for the default.</param>
    public static Report Of(RunHistory history, IReadOnlyList<Fact>? files = null, string? runsFolder = null) => new Report(
        Words.Of($"MongoPerf: history of {history.Scenario}"),
        [new Block.Paragraph(HistoryText.Conclusion(history), Tone.Conclusion) { In = Media.Console }],
        [
            new Section(
                "Notes",
                [
                    new Block.Cautions(HistoryText.Mixed(history)) { In = Media.Console },
                    new Block.Cautions(HistoryText.LeftOut(history)),
                ]),
            new Section("Changes", [new Block.Verdicts(HistoryText.Verdicts(history))]),
            new Section("Charts", [new Block.Charts()]),
            Section.Of(Table(history)),
            new Section("How it was judged", [new Block.Facts([new Fact("method", HistoryText.Method(history))])]),
            new Section("Files", [new Block.Facts(files ?? [])]),
        ])
        {
            Answer = HistoryAnswer.Of(history, files ?? [], runsFolder),
        }.Marked(history.Runs);

    /// <summary>A row for each run, with its versions where they differ; a star where a metric begins another level.</summary>
    private static ReportTable Table(RunHistory history)
    {
        (string Column, string[] Values)[] versions =
        [
            .. new (string Column, string[] Values)[]
            {
                ("<server", [.. history.Points.Select(point => HistoryVersions.Server(point.First))]),
                ("<engine", [.. history.Points.Select(point => point.First.Settings.Engine.Text)]),
                ("<MongoPerf", [.. history.Points.Select(point => HistoryVersions.Program(point.First))]),
            }.Where(one => one.Column == "<server" || one.Values.Distinct().Count() > 1),
        ];
        return new ReportTable(
            Words.Of($"{Words.Counted(history.Points.Count, "run")} of {history.Scenario}; * begins another level"),
            ["<run", .. versions.Select(one => one.Column), .. history.Lines.Select(line => line.Row.Name)],
            [
                .. history.Points.Select((point, i) => (IReadOnlyList<string>)
                [
                    point.Name, .. versions.Select(one => one.Values[i]), .. history.Lines.Select(line => TextOf(line, i)),
                ]),
            ]);
    }

    private static string TextOf(HistoryLine line, int point) => !double.IsFinite(line.Row.Values[point]) ? Units.None
        : line.Row.Metric.Text(line.Row.Values[point]) + (line.Changes.Any(change => change.At == point) ? " *" : "");
}
