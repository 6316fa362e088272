using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Comparison;

namespace MongoPerf.Reporting.Findings;

/// <summary>What chunks on their way from shard to shard cost: seconds inside migrations against those outside.</summary>
internal static class MigrationFindings
{
    private const double Least = 0.05;
    private const int LeastSeconds = 5;

    private sealed record Split(OperationSeries Series, IReadOnlyList<SeriesSecond> Inside, IReadOnlyList<SeriesSecond> Outside)
    {
        public double Ratio => Inside.Average(second => second.Rate) / Outside.Average(second => second.Rate);
    }

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level)
    {
        List<TimeWindow> moves = Joined(series.Run.ReadChunkEvents().Where(e => e.Kind == ChunkEventKind.Migration).Select(e => new TimeWindow(e.AtMilliseconds, e.EndMilliseconds ?? long.MaxValue)));
        Split[] judged = moves.Count == 0 ? [] : [.. series.Operations.Select(one => SplitOf(one, moves)).Where(split => split.Inside.Count >= LeastSeconds && split.Outside.Count >= LeastSeconds)];
        Split[] dear = [.. judged.Where(split => Math.Abs(split.Ratio - 1) >= Least && SecondEffects.P(split.Outside, split.Inside) < level / judged.Length)];
        if (dear.Length > 0)
            yield return Make(series, dear, moves);
    }

    /// <summary>By time, without overlaps.</summary>
    private static List<TimeWindow> Joined(IEnumerable<TimeWindow> windows)
    {
        List<TimeWindow> joined = [];
        foreach (TimeWindow window in windows.OrderBy(window => window.From))
        {
            if (joined.Count > 0 && window.From <= joined[^1].To)
                joined[^1] = joined[^1] with { To = Math.Max(joined[^1].To, window.To) };
            else
                joined.Add(window);
        }

        return joined;
    }

    /// <summary>A second counts as inside when half of it is.</summary>
    private static Split SplitOf(OperationSeries one, List<TimeWindow> moves)
    {
        List<SeriesSecond> inside = [];
        List<SeriesSecond> outside = [];
        int next = 0;
        foreach (SeriesSecond second in Stalls.Sound(one))
        {
            while (next < moves.Count && moves[next].To <= second.FromMilliseconds)
                next++;
            long moved = 0;
            for (int i = next; i < moves.Count && moves[i].From < second.ToMilliseconds; i++)
                moved += Math.Min(moves[i].To, second.ToMilliseconds) - Math.Max(moves[i].From, second.FromMilliseconds);
            (2 * moved >= second.ToMilliseconds - second.FromMilliseconds ? inside : outside).Add(second);
        }

        return new Split(one, inside, outside);
    }

    private static Finding Make(RunSeries series, Split[] dear, List<TimeWindow> moves)
    {
        Split lead = dear.MaxBy(split => Math.Abs(Math.Log(split.Ratio)))!;
        string rates = Words.Of($"{Units.Rate(lead.Inside.Average(s => s.Rate))} {lead.Series.RateUnit} inside, {Units.Rate(lead.Outside.Average(s => s.Rate))} outside");
        TimeWindow window = new(lead.Inside[0].FromMilliseconds, lead.Inside[^1].ToMilliseconds);
        return new Finding
        {
            Id = FindingIds.MigrationCost,
            Text = Words.Of($"{lead.Series.Label}'s rate is {ComparisonText.LatencyChange(lead.Ratio)} while chunks migrate: {rates}"),
            Operations = [lead.Series.Label, .. dear.Select(split => split.Series.Label).Where(label => label != lead.Series.Label).Distinct()],
            Range = series.Range(window, lead.Inside[0].Documents, lead.Inside[^1].Documents),
            Rate = SecondEffects.Rate(lead.Outside, lead.Inside),
            P99 = SecondEffects.P99(lead.Outside, lead.Inside),
            Evidence = [new FindingEvidence("migrations", Words.Of($"{Words.Counted(lead.Inside.Count, "second")} inside {Words.Counted(moves.Count, "stretch", "stretches")} of migrations, {Words.Counted(lead.Outside.Count, "second")} outside"))],
            Cause = Words.Of("chunks were migrating"),
            IsCoincidence = true,
            Refute = Words.Of("run again with --balancer off: if the rate still dips, migrations are not why"),
            Weight = Math.Abs(Math.Log(lead.Ratio)),
        };
    }
}
