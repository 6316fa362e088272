using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>Phases in which their collection got another shard key: what they measured before, meanwhile and after.</summary>
internal static class ReshardingFindings
{
    private const int LeastSeconds = 5;

    /// <summary>An operation's mean rates; NaN where it has no second.</summary>
    private sealed record Rates(OperationSeries Series, double Before, double During, double After, bool AreLong)
    {
        public static Rates Of(OperationSeries series, TimeWindow resharding)
        {
            double[] before = [.. series.Seconds.Where(second => second.ToMilliseconds <= resharding.From).Select(second => second.Rate)];
            double[] after = [.. series.Seconds.Where(second => second.FromMilliseconds >= resharding.To).Select(second => second.Rate)];
            double[] during = [.. series.Seconds.Where(second => second.Window.Overlaps(resharding)).Select(second => second.Rate)];
            return new Rates(series, MeanOf(before), MeanOf(during), MeanOf(after),
                before.Length >= LeastSeconds && after.Length >= LeastSeconds);
        }

        /// <summary>How much it has changed, as a logarithm; 0 where it is not known.</summary>
        public double Change => Before > 0 && After > 0 ? Math.Log(After / Before) : 0;

        public override string ToString() => Words.And([.. new[]
        {
            double.IsNaN(Before) ? null : Words.Of($"{Units.Rate(Before)} {Series.RateUnit} before"),
            double.IsNaN(During) ? null : Words.Of($"{Units.Rate(During)} meanwhile"),
            double.IsNaN(After) ? null : Words.Of($"{Units.Rate(After)} after"),
        }.OfType<string>()]);

        private static double MeanOf(double[] rates) => rates.Length == 0 ? double.NaN : rates.Average();
    }

    public static IEnumerable<Finding> Find(RunSeries series) =>
        series.Run.ReadChunkEvents().Where(one => one.Kind == ChunkEventKind.Resharding).SelectMany(one =>
        {
            var window = new TimeWindow(one.AtMilliseconds, one.EndMilliseconds ?? long.MaxValue);
            return series.Operations
                .Where(operation => operation.Window.Overlaps(window)
                    && (operation.Phase.Collection is null || operation.Phase.Collection == one.Collection))
                .GroupBy(operation => operation.Phase.Number)
                .Select(phase => Make(series, one, window, [.. phase.Select(operation => Rates.Of(operation, window))]));
        });

    private static Finding Make(RunSeries series, ChunkEvent resharding, TimeWindow window, Rates[] all)
    {
        Rates lead = all.MaxBy(one => Math.Abs(one.Change))!;
        TimeWindow within = lead.Series.Window;
        string keys = resharding is { KeyBefore: { } before, KeyAfter: { } after } ? Words.Of($" from {before} to {after}") : "";
        string labels = Words.And([.. all.Select(one => one.Series.Label).Distinct()]);
        return new Finding
        {
            Id = FindingIds.Resharded,
            Text = resharding.Outcome switch
            {
                ChunkEventOutcome.Done => Words.Of($"{resharding.Collection} was resharded{keys} within {labels}, whose figures are of "
                    + $"both keys: {lead.Series.Label} did {lead}"),
                ChunkEventOutcome.Failed => Words.Of($"a resharding of {resharding.Collection} began within {labels} and was aborted: "
                    + $"{lead.Series.Label} did {lead}"),
                _ => Words.Of($"{resharding.Collection} was still being resharded when {labels} ended: {lead.Series.Label} did {lead}"),
            },
            Operations = [.. all.Select(one => one.Series.Label)],
            Range = series.Range(new TimeWindow(Math.Max(window.From, within.From), Math.Min(window.To, within.To))),
            Rate = lead is { AreLong: true, Change: not 0 } ? new FindingEffect(lead.After / lead.Before, null, null) : null,
            Evidence =
            [
                .. all.Select(one => new FindingEvidence("timeline", $"{one.Series.Label}: {one}")),
                .. resharding.BlockedSeconds is { } blocked ? [new FindingEvidence("timeline",
                    Words.Of($"{resharding.Collection} took no writes for {Units.Duration(blocked)}"))] : (FindingEvidence[])[],
            ],
            Refute = Words.Of("run the phase once with each key: what was measured across a change of key is of neither"),
            Weight = 5,
        };
    }
}
