using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>
/// What servers' work beside the operations costs (chunks that migrate, ranges that are deleted, indexes that are built): seconds inside
/// against those outside.
/// </summary>
internal static class BackgroundFindings
{
    private const double Least = 0.05;
    private const int LeastSeconds = 5;

    /// <summary>
    /// The most seconds at either end of a stretch that are uncertain: servers tell of an index build up to two seconds before it costs
    /// anything, and are asked once a second.
    /// </summary>
    private const int MostUncertain = 3;

    /// <param name="Series">Whose.</param>
    /// <param name="Seconds">All that count.</param>
    /// <param name="IsInside">Whether each of them is inside; null where that is uncertain.</param>
    /// <param name="ClientCpu">The client's CPU time of each of them per operation; null where it is not known of all.</param>
    private sealed record Split(OperationSeries Series, SeriesSecond[] Seconds, bool?[] IsInside, double[]? ClientCpu)
    {
        public SeriesSecond[] Inside { get; } = [.. Seconds.Where((_, i) => IsInside[i] == true)];

        public SeriesSecond[] Outside { get; } = [.. Seconds.Where((_, i) => IsInside[i] == false)];

        /// <summary>The first second that is not outside, and the last.</summary>
        public (SeriesSecond First, SeriesSecond Last) Whole =>
            (Seconds[Array.FindIndex(IsInside, one => one != false)], Seconds[Array.FindLastIndex(IsInside, one => one != false)]);

        public double Ratio => Inside.Average(second => second.Rate) / Outside.Average(second => second.Rate);

        /// <summary>The probability that chance makes the difference.</summary>
        public double P => KnownStretches.P([.. Seconds.Select(second => second.Rate)], IsInside, ClientCpu);

        public string Change => ComparisonText.LatencyChange(Ratio);

        public string Rates => Words.Of(
            $"{Units.Rate(Inside.Average(s => s.Rate))} {Series.RateUnit} inside, {Units.Rate(Outside.Average(s => s.Rate))} outside");

        /// <summary>"8 seconds" inside and outside.</summary>
        public string Length => Words.Counted(Inside.Length, "second");

        public string Rest => Words.Counted(Outside.Length, "second");
    }

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most, of each kind.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level) =>
        new[] { Migrations(series, level), RangeDeletions(series, level), IndexBuilds(series, level) }.OfType<Finding>();

    private static Finding? Migrations(RunSeries series, double level)
    {
        TimeWindow[] migrations = [.. series.Run.ReadChunkEvents().Where(e => e.Kind == ChunkEventKind.Migration)
            .Select(e => new TimeWindow(e.AtMilliseconds, e.EndMilliseconds ?? long.MaxValue))];
        List<TimeWindow> moves = TimeWindow.Joined(migrations);
        return Find(series, moves, level, lead => new Finding
        {
            Id = FindingIds.MigrationCost,
            Text = Words.Of($"{lead.Series.Label}'s rate is {lead.Change} while chunks migrate: {lead.Rates}"),
            Evidence =
            [
                new FindingEvidence("migrations", Words.Of($"{Words.Counted(migrations.Length, "migration")} in "
                    + $"{Words.Counted(moves.Count, "stretch", "stretches")}; {lead.Length} inside, {lead.Rest} outside")),
                .. series.ShardGrowth("critical_section").Sum(grown => grown.By) is > 0 and var milliseconds
                    ? [new FindingEvidence("shards", Words.Of($"{Units.Duration(milliseconds / 1000)} in critical "
                        + $"sections, in which a shard takes no writes to the collection"))]
                    : (FindingEvidence[])[],
            ],
            Cause = Words.Of("chunks were migrating"),
            Refute = Words.Of("run again with --balancer off: if the rate still dips, migrations are not the cause"),
        });
    }

    private static Finding? RangeDeletions(RunSeries series, double level)
    {
        List<TimeWindow> deletions = TimeWindow.Joined(series.RangeDeletions.Select(one => one.Window));
        return Find(series, deletions, level, lead => new Finding
        {
            Id = FindingIds.RangeDeletionCost,
            Text = Words.Of(
                $"{lead.Series.Label}'s rate is {lead.Change} while shards delete documents that have moved away: {lead.Rates}"),
            Evidence = [new FindingEvidence("shards", Words.Of(
                $"{Words.Counted((long)series.RangeDeletions.Sum(one => one.By), "document")} deleted in "
                + $"{Words.Counted(deletions.Count, "stretch", "stretches")}; {lead.Length} inside, {lead.Rest} outside"))],
            Cause = Words.Of("shards were deleting ranges that had migrated"),
            Refute = Words.Of("run again some time after the last migration (orphanCleanupDelaySecs, 15 minutes by default): if the rate "
                + "still dips, range deletion is not the cause"),
        });
    }

    private static Finding? IndexBuilds(RunSeries series, double level)
    {
        List<TimeWindow> builds = TimeWindow.Joined(series.Server.WindowsAboveZero("index_builds"));
        return Find(series, builds, level, lead => new Finding
        {
            Id = FindingIds.IndexBuildCost,
            Text = Words.Of($"{lead.Series.Label}'s rate is {lead.Change} while the server builds indexes: {lead.Rates}"),
            Evidence = [new FindingEvidence("timeline", Words.Of(
                $"{lead.Length} inside {Words.Counted(builds.Count, "stretch", "stretches")} with index builds, {lead.Rest} outside"))],
            Cause = Words.Of("the server was building indexes"),
            Refute = Words.Of("run again while nobody builds an index (the server's log names those that were built): "
                + "if the rate still dips, index builds are not the cause"),
        });
    }

    /// <summary>What is slower inside the windows, told of the operation that is slowed down most.</summary>
    private static Finding? Find(RunSeries series, List<TimeWindow> windows, double level, Func<Split, Finding> make)
    {
        Split[] judged = windows.Count == 0 ? [] : [.. series.Independent.Select(one => SplitOf(series, one, windows))
            .Where(split => split.Inside.Length >= LeastSeconds && split.Outside.Length >= LeastSeconds)];
        // Nothing gets faster by it: a load that begins fast and slows down with its size may look so.
        Split[] slower = [.. judged.Where(split => split.Ratio <= 1 - Least && split.P < level / judged.Length)];
        if (slower.MinBy(split => split.Ratio) is not { } lead)
            return null;
        return make(lead) with
        {
            Operations =
            [
                lead.Series.Label, .. slower.Select(split => split.Series.Label).Where(label => label != lead.Series.Label).Distinct(),
            ],
            Range = series.Range(new TimeWindow(lead.Whole.First.FromMilliseconds, lead.Whole.Last.ToMilliseconds),
                lead.Whole.First.Documents, lead.Whole.Last.Documents),
            Rate = SecondEffects.Rate(lead.Outside, lead.Inside),
            P99 = SecondEffects.P99(lead.Outside, lead.Inside),
            IsCoincidence = true,
            Weight = -Math.Log(lead.Ratio),
        };
    }

    /// <summary>A second counts as inside when half of it is.</summary>
    private static Split SplitOf(RunSeries series, OperationSeries one, List<TimeWindow> windows)
    {
        SeriesSecond[] seconds = [.. Stalls.Sound(one).Where(second => second.Rate > 0)];
        bool[] isInside = new bool[seconds.Length];
        int next = 0;
        foreach ((int place, SeriesSecond second) in seconds.Index())
        {
            while (next < windows.Count && windows[next].To <= second.FromMilliseconds)
                next++;
            long covered = 0;
            for (int i = next; i < windows.Count && windows[i].From < second.ToMilliseconds; i++)
                covered += Math.Min(windows[i].To, second.ToMilliseconds) - Math.Max(windows[i].From, second.FromMilliseconds);
            isInside[place] = 2 * covered >= second.ToMilliseconds - second.FromMilliseconds;
        }

        double?[] cpu = [.. seconds.Select(second => series.ClientCpuOf([second.Window]))];
        return new Split(one, seconds, Certain(isInside), cpu.Contains(null) ? null : [.. cpu.Select(value => value!.Value)]);
    }

    private static bool?[] Certain(bool[] isInside)
    {
        bool?[] certain = [.. isInside.Select(one => (bool?)one)];
        for (int from = 0, to; from < isInside.Length; from = to)
        {
            for (to = from + 1; to < isInside.Length && isInside[to] == isInside[from];)
                to++;
            int uncertain = isInside[from] ? Math.Clamp((to - from - LeastSeconds) / 2, 0, MostUncertain) : 0;
            Array.Fill(certain, null, from, uncertain);
            Array.Fill(certain, null, to - uncertain, uncertain);
        }

        return certain;
    }
}
