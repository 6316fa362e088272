using MathNet.Numerics.Distributions;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>Rates that fall when more has to be read into the cache for each operation.</summary>
internal static class CacheFindings
{
    private const double LeastCorrelation = 0.7;
    private const int LeastSeconds = 30;
    private const int MostBlocks = 300;
    private const double LeastBytes = 1e6;
    private const double LeastSpread = 0.1;

    /// <summary>What is read for an operation must vary more than the rate, or the rate alone would make it look so.</summary>
    private const double SpreadOfMisses = 1.5;

    private sealed record Follower(
        OperationSeries Series, double Correlation, double P, IReadOnlyList<SeriesSecond> Few, IReadOnlyList<SeriesSecond> Many,
        double FewBytes, double ManyBytes);

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level)
    {
        if (series.Server.IsEmpty)
            yield break;
        // Operations of a mix share the reads, so only phases with one operation tell.
        OperationSeries[] judged = [.. series.Operations.GroupBy(one => one.Phase.Number)
            .Where(phase => phase.Count() == 1).Select(phase => phase.Single())
            .Where(one => one.Seconds.Count >= LeastSeconds && !one.IsSteered)];
        Follower[] found = [.. judged.Select(one => Find(series, one)).OfType<Follower>().Where(one => one.P < level / judged.Length)];
        if (found.MinBy(one => one.P) is { } lead)
            yield return Make(series, lead, found);
    }

    private static Follower? Find(RunSeries series, OperationSeries one)
    {
        IReadOnlyList<SeriesSecond> sound = Stalls.Sound(one);
        int length = Math.Max(1, (sound.Count + MostBlocks - 1) / MostBlocks);
        (SeriesSecond[] Seconds, double Rate, double Bytes)[] blocks =
        [
            .. sound.Chunk(length).Select(block => (block, block.Average(s => s.Rate),
                series.Server.RateOf([new TimeWindow(block[0].FromMilliseconds, block[^1].ToMilliseconds)], "cache_read") ?? 0))
                .Where(block => block.Item2 > 0 && block.Item3 > 0),
        ];
        if (blocks.Length < LeastSeconds || blocks.Length < 0.8 * sound.Count / length)
            return null;
        double[] rates = [.. blocks.Select(block => Math.Log(block.Rate))];
        double[] misses = [.. blocks.Select(block => Math.Log(block.Bytes / block.Rate))];
        (double correlation, double spread, double spreadOfMisses) = Correlate(rates, misses);
        if (correlation > -LeastCorrelation || spread < LeastSpread || spreadOfMisses < SpreadOfMisses * spread)
            return null;
        double shared =
            Autocorrelation.OfFirstOrder([[.. rates.Select(Math.Exp)]]) * Autocorrelation.OfFirstOrder([[.. misses.Select(Math.Exp)]]);
        double freedom = Math.Max(3, (blocks.Length * (1 - shared) / (1 + shared)) - 2);
        double t = correlation * Math.Sqrt(freedom / Math.Max(1e-9, 1 - (correlation * correlation)));
        var ordered = blocks.OrderBy(block => block.Bytes / block.Rate).ToArray();
        int third = ordered.Length / 3;
        double many = ordered[^third..].Average(block => block.Bytes);
        return many < LeastBytes ? null : new Follower(
            one, correlation, 2 * StudentT.CDF(0, 1, freedom, t), [.. ordered[..third].SelectMany(block => block.Seconds)],
            [.. ordered[^third..].SelectMany(block => block.Seconds)],
            ordered[..third].Average(block => block.Bytes / block.Rate), ordered[^third..].Average(block => block.Bytes / block.Rate));
    }

    /// <summary>Pearson's, and the deviations of both.</summary>
    private static (double Correlation, double First, double Second) Correlate(double[] first, double[] second)
    {
        double a = first.Average();
        double b = second.Average();
        double ofFirst = Math.Sqrt(first.Average(v => (v - a) * (v - a)));
        double ofSecond = Math.Sqrt(second.Average(v => (v - b) * (v - b)));
        double products = first.Zip(second, (x, y) => (x - a) * (y - b)).Average();
        return (ofFirst * ofSecond > 0 ? products / ofFirst / ofSecond : 0, ofFirst, ofSecond);
    }

    private static Finding Make(RunSeries series, Follower lead, Follower[] found)
    {
        double slow = lead.Many.Average(s => s.Rate);
        double fast = lead.Few.Average(s => s.Rate);
        return new Finding
        {
            Id = FindingIds.RateFollowsCache,
            Text = Words.Of($"{lead.Series.Label}'s rate follows cache misses: {Units.Rate(fast)}/s where an operation reads "
                + $"{Units.Bytes(lead.FewBytes)} into the cache, {Units.Rate(slow)}/s where it reads {Units.Bytes(lead.ManyBytes)}"),
            Operations = [.. found.Select(one => one.Series.Label).Distinct()],
            Range = series.Range(lead.Series.Window, lead.Series.Seconds[0].Documents, lead.Series.Seconds[^1].Documents),
            Rate = SecondEffects.Rate(lead.Few, lead.Many),
            P99 = SecondEffects.P99(lead.Few, lead.Many),
            Evidence = [new FindingEvidence("timeline", Words.Of($"correlation {lead.Correlation:0.00} between the logarithms of rate and "
                + $"bytes read per operation; compared: the third of the seconds with the fewest bytes read and the third with the most"))],
            Cause = Words.Of("the cache had to be filled"),
            IsCoincidence = true,
            Refute = Words.Of("run with a cache that holds all the data: if the rate varies as much, misses are not the cause"),
            Weight = 0.5 * Math.Log(fast / slow),
        };
    }
}
