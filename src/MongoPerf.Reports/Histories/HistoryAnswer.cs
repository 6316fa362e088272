namespace MongoPerf.Reports.Histories;

/// <summary>What came of a history, on one screen: whether it got worse, a line for each metric, and what to do next.</summary>
internal static class HistoryAnswer
{
    /// <summary>More lines would be no screen.</summary>
    private const int MostRows = 15;
    private const int MostVerdicts = 5;
    private const int MostNotes = 3;

    /// <param name="history">What came of it.</param>
    /// <param name="files">What was written; of these the page is named.</param>
    /// <param name="runsFolder">As typed after --out; null for the default.</param>
    public static IReadOnlyList<Block> Of(RunHistory history, IReadOnlyList<Fact> files, string? runsFolder)
    {
        IReadOnlyList<string> mixed = HistoryText.Mixed(history);
        IReadOnlyList<string> leftOut = HistoryText.LeftOut(history);
        IReadOnlyList<Verdict> verdicts = HistoryText.Verdicts(history);
        int hidden = Math.Max(0, verdicts.Count - MostVerdicts) + Math.Max(0, leftOut.Count - MostNotes)
            + Math.Max(0, mixed.Count - MostNotes);
        var next = new Fact("next", Next(history, runsFolder));
        return
        [
            new Block.Paragraph(HistoryText.Conclusion(history), Tone.Conclusion),
            new Block.Cautions(mixed) { In = Media.Documents },
            new Block.Cautions([.. mixed.Take(MostNotes)]) { In = Media.Console },
            new Block.Cautions([.. leftOut.Take(MostNotes)]) { In = Media.Console },
            new Block.Verdicts([.. verdicts.Take(MostVerdicts)]) { In = Media.Console },
            new Block.Table(Table(history)) { IsPlain = true },
            new Block.Facts(
            [
                .. RunAnswer.More(hidden, 0) is { } more ? [new Fact("more", Words.Of($"{more}: add --full"))] : Array.Empty<Fact>(),
                .. files.Where(file => file.Name == "report"), next,
            ]) { In = Media.Console },
            new Block.Facts([next]) { In = Media.Documents },
        ];
    }

    private static ReportTable Table(RunHistory history)
    {
        HashSet<HistoryLine> shown = [.. history.Lines.OrderBy(line => line.Changes.Count == 0).Take(MostRows)];
        string left = history.Lines.Count > shown.Count ? Words.Of($" ({shown.Count} of {history.Lines.Count} metrics)") : "";
        return new ReportTable(
            Words.Of($"{Words.Counted(history.Points.Count, "run")} of {history.Scenario}; change: how the level last changed")
                + left,
            ["<metric", "newest", "level", "change", "<since", "<verdict"],
            [.. history.Lines.Where(shown.Contains).Select(line => Row(history, line))]);
    }

    private static IReadOnlyList<string> Row(RunHistory history, HistoryLine line)
    {
        int newest = line.Row.Values.Index().Last(one => double.IsFinite(one.Item)).Index;
        HistoryChange? last = line.Changes.Count == 0 ? null : line.Changes[^1];
        return
        [
            line.Row.Name, line.Row.Metric.Text(line.Row.Values[newest]), line.Row.Metric.Text(line.Levels[newest]),
            last is null ? Units.None : Units.Change(last.Ratio), last is null ? Units.None : history.Points[last.At].Name,
            !line.IsJudged ? Words.Of("undecided")
                : last is null ? Words.Of("no change")
                : last.IsWorse ? Words.Of("worse") : Words.Of("better"),
        ];
    }

    /// <summary>The command that would tell most, and what for.</summary>
    private static string Next(RunHistory history, string? runsFolder)
    {
        string again = CommandText.Again(history.Points[^1].First.Run.CommandLine);
        if (history.Lines.SelectMany(line => line.Changes).MaxBy(change => change.At) is { } change)
        {
            return Words.Of($"to see the last change in detail: {CommandText.Program} compare "
                + $"{history.Points[change.Before].First.Run.Id} {history.Points[change.At].First.Run.Id}{CommandText.Out(runsFolder)}");
        }

        int missing = history.Lines.Min(line => line.Needed - line.Row.Values.Count(double.IsFinite));
        return missing <= 0 ? Words.Of($"to add a run: {again}")
            : Words.Of($"to tell a change from chance, add {Words.Counted(missing, "run")}: {again}");
    }
}
