using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>
/// How long phases take to come up to speed: after a restart, from size to size, and in windows too short to be judged one by one.
/// </summary>
internal static class WarmupFindings
{
    /// <summary>The share of the rate that a phase settles at from which on it counts as warmed up.</summary>
    private const double Back = 0.9;
    private const double LeastSeconds = 3;
    private const int LeastSettled = 10;
    private const int InARow = 3;
    private const int LeastWindows = 8;
    private const int LongestWindow = LevelScan.LeastValues;
    private const double Least = 0.05;
    private const double LeastLost = 0.5;
    private const double MostLost = 500;

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level)
    {
        OperationSeries[][] grown =
        [
            .. series.Independent.Where(one => one.Phase.Growth is not null && one.Seconds.Count >= 3
                && one.Seconds.All(second => second is { Operations: >= 20, IsDown: false }))
                .GroupBy(one => (one.Phase.Growth!.Growth, PhaseLabels.Of(one.Phase, one.Result.Operation),
                    one.Result.Threads, one.ParametersButThreads))
                .Select(line => line.OrderBy(one => one.Phase.Growth!.Documents).ToArray()).Where(line => line.Length >= LeastWindows),
        ];
        double each = level / Math.Max(1, grown.Length);
        return AfterStarts(series)
            .Concat(grown.SelectMany(line => new[] { Longer(series, line, each), Within(series, line, each) }.OfType<Finding>()));
    }

    /// <summary>Restarts on purpose have verdicts; these are phases that began on a server which had just been started.</summary>
    private static IEnumerable<Finding> AfterStarts(RunSeries series)
    {
        foreach (RunEvent start in series.Run.Events.Where(e => e.Kind is RunEvent.WarmStart or RunEvent.ColdStart))
        {
            OperationSeries? one = series.Independent.Where(one => one.Window.From >= start.AtMilliseconds - 2000)
                .OrderBy(one => one.Window.From).FirstOrDefault();
            SeriesSecond[] all = one is null ? [] : [.. one.Warmup, .. one.Seconds];
            if (all.Length < 2 * LeastSettled)
                continue;
            double settled = Quantiles.Median([.. all.TakeLast(Math.Max(LeastSettled, all.Length / 2)).Select(second => second.Rate)]);
            int back = Enumerable.Range(0, all.Length).FirstOrDefault(
                i => all.Skip(i).Take(InARow).Average(second => second.Rate) >= Back * settled && all[i].Rate >= Back * settled,
                all.Length);
            double seconds = back == 0 ? 0 : (all[back - 1].ToMilliseconds - all[0].FromMilliseconds) / 1000.0;
            if (seconds >= LeastSeconds && settled > 0)
                yield return AfterStart(series, one!, all, back, settled, start.Kind);
        }
    }

    private static Finding AfterStart(RunSeries series, OperationSeries one, SeriesSecond[] all, int back, double settled, string start)
    {
        TimeWindow slow = new(all[0].FromMilliseconds, all[back - 1].ToMilliseconds);
        IReadOnlyList<string> together = Circumstances.Of(series, [slow], [new TimeWindow(slow.To, all[^1].ToMilliseconds)]);
        return new Finding
        {
            Id = FindingIds.WarmUp,
            Text = Words.Of($"{one.Label} takes {Units.Significant(slow.Seconds)} s to reach {Units.Percent(Back)} of its "
                + $"{Units.Rate(settled)} {one.RateUnit} after a {Words.Of(start)}: it begins at {Units.Rate(all[0].Rate)}"),
            Operations = [one.Label],
            Range = series.Range(slow, all[0].Documents, all[back - 1].Documents),
            Rate = SecondEffects.Rate(all[back..], all[..back]),
            P99 = SecondEffects.P99(all[back..], all[..back]),
            Evidence = [new FindingEvidence("timeline",
                Words.Of($"{Units.Rate(all.Take(back).Average(s => s.Rate))} {one.RateUnit} until then, {Units.Rate(settled)} later"))],
            Cause = together.Count == 0 ? null : Words.And(together),
            IsCoincidence = true,
            Refute = start == RunEvent.ColdStart
                ? Words.Of("start the server again with its files still in the page cache: if it takes as long, the disk is not the cause")
                : Words.Of("run the phase once more without a restart: if it starts as slowly, the restart is not the cause"),
            Weight = 0.3 * Math.Log(settled / Math.Max(1e-3, all.Take(back).Average(s => s.Rate))),
        };
    }

    /// <summary>A slow start that takes longer from size to size: the seconds lost against the rate that each window settles at.</summary>
    private static Finding? Longer(RunSeries series, OperationSeries[] line, double level)
    {
        double[] lost = [.. line.Select(LostSeconds)];
        int third = line.Length / 3;
        double before = lost[..third].Average();
        double after = lost[^third..].Average();
        if (after - before < LeastLost
            || Trend.Of([.. lost.Select(seconds => Math.Exp(Math.Min(seconds, MostLost)))]) is not { Ratio: > 1 } trend || trend.P >= level)
            return null;
        OperationSeries first = line[0];
        OperationSeries last = line[^1];
        string name = PhaseLabels.Of(first.Phase, first.Result.Operation);
        return new Finding
        {
            Id = FindingIds.SlowStartGrows,
            Text = Words.Of($"{name} starts more slowly as the collection grows: its windows lose "
                + $"{Units.Significant(Math.Round(before, 1))} s at up to {Units.Count(line[third - 1].Phase.Growth!.Documents)} documents "
                + $"and {Units.Significant(Math.Round(after, 1))} s from {Units.Count(line[^third].Phase.Growth!.Documents)} on"),
            Operations = [name],
            Range = series.Range(new TimeWindow(first.Window.From, last.Window.To), first.Phase.Growth!.Documents,
                last.Phase.Growth!.Documents),
            Evidence = [new FindingEvidence("timeline", Words.Of($"seconds lost against the second half of each window, warm-up included; "
                + $"Mann–Kendall p {ComparisonText.Probability(trend.P)} over {line.Length} sizes"))],
            Refute = Words.Of("run the phase twice in a row at the largest size: if it starts as slowly the second time, "
                + "reading the data first is not the cause"),
            Weight = 0.2,
        };
    }

    private static double LostSeconds(OperationSeries one)
    {
        SeriesSecond[] all = [.. one.Warmup, .. one.Seconds];
        double settled = Quantiles.Median([.. all.Skip(all.Length / 2).Select(second => second.Rate)]);
        return all.Take(all.Length / 2).Sum(second => second.Window.Seconds * Math.Max(0, 1 - (second.Rate / settled)));
    }

    /// <summary>Windows too short for a line through their seconds: what the second half is to the first, over all sizes.</summary>
    private static Finding? Within(RunSeries series, OperationSeries[] line, double level)
    {
        OperationSeries[] windows = [.. line.Where(one => one.Seconds.Count < LongestWindow)];
        double[] changes = [.. windows.Select(Change)];
        if (changes.Length < LeastWindows || Math.Abs(changes.Average()) < Math.Log(1 + Least) || UnitComparison.PairedP(changes) >= level)
            return null;
        double ratio = Math.Exp(changes.Average());
        int alike = changes.Count(change => Math.Sign(change) == Math.Sign(changes.Average()));
        string name = PhaseLabels.Of(windows[0].Phase, windows[0].Result.Operation);
        bool isRising = ratio > 1;
        string seconds = Units.Significant(Math.Round(windows.Average(one => one.Window.Seconds), 1));
        return new Finding
        {
            Id = isRising ? FindingIds.SlowStart : FindingIds.SlowDrift,
            Text = isRising
                ? Words.Of($"{name} is still warming up when it is measured: in windows of {seconds} s the second half is "
                    + $"{ComparisonText.LatencyChange(ratio)} than the first, at {alike} of {changes.Length} sizes")
                : Words.Of($"{name}'s rate falls within each window: in {seconds} s the second half is "
                    + $"{ComparisonText.LatencyChange(ratio)} than the first, at {alike} of {changes.Length} sizes"),
            Operations = [name],
            Range = series.Range(new TimeWindow(windows[0].Window.From, windows[^1].Window.To), windows[0].Phase.Growth!.Documents,
                windows[^1].Phase.Growth!.Documents),
            Rate = FindingEffect.Of(ratio, Bootstrap.OfPairs(changes).At(0.95)),
            Evidence = [new FindingEvidence(
                "timeline", Words.Of($"second half of each window to its first; Student's t over {changes.Length} sizes"))],
            Refute = isRising
                ? Words.Of("run with twice the warm-up: if the second half is still faster by as much, warming up is not the cause")
                : Words.Of("run with windows twice as long: if the rate falls no further, it settles"),
            Weight = Math.Abs(changes.Average()) / 2,
        };
    }

    private static double Change(OperationSeries one)
    {
        int half = one.Seconds.Count / 2;
        return one.Seconds.Skip(one.Seconds.Count - half).Average(second => Math.Log(second.Rate)) - one.Seconds.Take(half)
            .Average(second => Math.Log(second.Rate));
    }
}
