using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Figures;

namespace MongoPerf.Reports.Histories;

/// <summary>The words of a history.</summary>
internal static class HistoryText
{
    /// <summary>Lines named in a sentence; more are counted.</summary>
    private const int MostListed = 12;

    /// <summary>The result in a sentence.</summary>
    public static string Conclusion(RunHistory history)
    {
        HistoryLine[] worse = [.. history.Lines.Where(line => line.IsRegression)];
        if (worse.Length > 0)
            return Words.Of($"{history.Scenario} is worse in its newest runs: {Names(worse)}.");
        HistoryLine[] changed = [.. history.Lines.Where(line => line.Changes.Count > 0)];
        if (changed.Length > 0)
            return Words.Of($"{history.Scenario} changed in {Names(changed)}; its newest runs are no worse than those before them.");
        return history.IsJudged ? Words.Of($"{history.Scenario} did not change over {Words.Counted(history.Points.Count, "run")}.")
            : Words.Of($"{history.Scenario} has {Words.Counted(history.Points.Count, "run")}, too few to tell a change from chance.");
    }

    /// <summary>In what work the runs differ, where that was forced.</summary>
    public static IReadOnlyList<string> Mixed(RunHistory history) =>
        [.. history.Unlike.Select(unlike => Words.Of($"Different work, mixed because of --force: {unlike}"))];

    /// <summary>Which runs were not taken, by reason.</summary>
    public static IReadOnlyList<string> LeftOut(RunHistory history) => [.. history.LeftOut.GroupBy(run => run.Why)
        .Select(group => Words.Of($"Left out: {string.Join(", ", group.Select(run => run.Run))} ({group.Key})"))];

    /// <summary>What got worse last first, then other changes, then what did not change or can't be judged.</summary>
    public static IReadOnlyList<Verdict> Verdicts(RunHistory history)
    {
        var changes = history.Lines.SelectMany(line => line.Changes.Select(change => (Line: line, Change: change)))
            .OrderByDescending(one => one.Line.IsRegression && one.Change.IsWorse).ThenByDescending(one => one.Change.At)
            .ThenByDescending(one => Math.Abs(Math.Log(one.Change.Ratio))).ToArray();
        List<Verdict> verdicts =
        [
            .. changes.Select(one => new Verdict(GradeOf(one.Line, one.Change), Sentence(history, one.Line, one.Change))
            {
                Label = one.Change.IsWorse ? "worse" : "better",
            }),
        ];
        HistoryLine[] same = [.. history.Lines.Where(line => line.IsJudged && line.Changes.Count == 0)];
        if (same.Length > 0)
            verdicts.Add(new Verdict(
                Grade.Good, Words.Of($"no change beyond {Units.Percent(history.Request.NoiseThreshold)}: {Names(same)}")));
        foreach (IGrouping<int, HistoryLine> few in history.Lines.Where(line => !line.IsJudged).GroupBy(line => line.Needed))
            verdicts.Add(new Verdict(
                Grade.Note, Words.Of($"{Names([.. few])}: it takes {few.Key} runs or more to tell a change from chance"))
            {
                Label = "undecided",
            });
        return verdicts;
    }

    /// <summary>"q4 rate 19 % lower since 2026-11-20-a (ratio 0.81, p 0.0010); with it deployment: mongod 6.0.5 → mongod 7.0.2".</summary>
    public static string Sentence(RunHistory history, HistoryLine line, HistoryChange change)
    {
        HistoryPoint at = history.Points[change.At];
        string text = Words.Of($"{line.Row.Name} {ComparisonText.LatencyChange(change.Ratio)} since {at.Name} "
            + $"(ratio {ComparisonText.Number(change.Ratio)}, p {ComparisonText.Probability(change.P)})");
        SetupDifference[] with = [.. SetupCheck.Find([history.Points[change.Before].First, at.First])];
        return with.Length == 0 ? text : Words.Of($"{text}; together with {string.Join("; ", with.Select(one => one.ToString()))}");
    }

    /// <summary>How to read the changes.</summary>
    public static string Method(RunHistory history) => Words.Of(
        $"changes by E-divisive means (Matteson and James, 2014): by more than {Units.Percent(history.Request.NoiseThreshold)}, "
        + $"and the chance of any false alarm in a history is {Units.Percent(RunHistory.Level)} (Bonferroni); "
        + $"a run by itself is no change");

    /// <summary>A change of old is known.</summary>
    private static Grade GradeOf(HistoryLine line, HistoryChange change) =>
        !change.IsWorse ? Grade.Good : line.IsRegression ? Grade.Bad : Grade.Note;

    private static string Names(HistoryLine[] lines) => lines.Length <= MostListed
        ? string.Join(", ", lines.Select(line => line.Row.Name))
        : Words.Counted(lines.Length, "metric");
}
