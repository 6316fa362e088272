using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>A shard that does more than its documents ask for, and documents that lay unevenly for a while.</summary>
internal static class ShardFindings
{
    /// <summary>The share above an even one from which on a shard is hot.</summary>
    private const double Hot = 0.5;
    private const double Uneven = 0.25;
    private const double Even = 0.1;
    private const double LeastShare = 0.2;
    private const double LeastSeconds = 10;
    private const double LeastOperations = 1000;
    private static readonly int Documents = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "documents");
    private static readonly int Inserted = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "opcounters_insert");

    /// <summary>What all shards said between two looks.</summary>
    private sealed record Look(TimeWindow Window, double[] Operations, double[] Inserts, double[] Documents);

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        MetricSample[] samples = [.. series.Run.ReadShardSamples()];
        string[] shards = [.. samples.Select(sample => sample.Member).Distinct().Order(StringComparer.Ordinal)];
        Look[] looks = shards.Length < 2 ? [] : [.. Looks(samples, shards)];
        if (looks.Length == 0 || new TimeWindow(looks[0].Window.From, looks[^1].Window.To).Seconds < LeastSeconds)
            return [];
        return new[] { HotShard(series, shards, looks), Imbalance(series, shards, looks) }.OfType<Finding>();
    }

    /// <summary>The shards are asked one after the other: a look ends with the last of them.</summary>
    private static IEnumerable<Look> Looks(MetricSample[] samples, string[] shards)
    {
        MetricSample[]? before = null;
        foreach (MetricSample[] now in Rounds(samples, shards))
        {
            if (before is not null)
            {
                double[] operations = [.. now.Zip(before, (a, b) => ShardOperations.Between(b, a))];
                double[] inserts = [.. now.Zip(before, (a, b) => a.Values[Inserted] - b.Values[Inserted])];
                if (operations.All(double.IsFinite))
                    yield return new Look(new TimeWindow(before[^1].AtMilliseconds, now[^1].AtMilliseconds), operations, inserts,
                        [.. now.Select(sample => sample.Values[Documents])]);
            }

            before = now;
        }
    }

    private static IEnumerable<MetricSample[]> Rounds(MetricSample[] samples, string[] shards)
    {
        var round = new Dictionary<string, MetricSample>(StringComparer.Ordinal);
        foreach (MetricSample sample in samples.OrderBy(sample => sample.AtMilliseconds))
        {
            if (round.ContainsKey(sample.Member))
                round.Clear();
            round[sample.Member] = sample;
            if (round.Count == shards.Length)
                yield return [.. shards.Select(shard => round[shard])];
        }
    }

    private static Finding? HotShard(RunSeries series, string[] shards, Look[] looks)
    {
        double[] operations = Sums(looks, look => look.Operations);
        Look[] known = [.. looks.Where(look => look.Documents.All(double.IsFinite))];
        double[] documents = known.Length == 0 ? [] : Sums(known, look => look.Documents);
        int hot = Array.IndexOf(operations, operations.Max());
        double share = operations[hot] / operations.Sum();
        double held = documents.Sum() > 0 ? documents[hot] / documents.Sum() : 1;
        Look[] busy = [.. looks.Where(look => look.Operations.Sum() > 0)];
        bool isLasting =
            busy.Count(look => look.Operations[hot] * shards.Length > (1 + (Hot / 2)) * look.Operations.Sum()) >= 0.8 * busy.Length;
        // Where the documents lie there too, the verdict on their balance says it.
        if (operations.Sum() < LeastOperations || (share * shards.Length) - 1 < Hot
            || (held * shards.Length) - 1 > ((share * shards.Length) - 1) / 2 || !isLasting)
            return null;
        double inserts = Sums(looks, look => look.Inserts)[hot] / operations[hot];
        return new Finding
        {
            Id = FindingIds.HotShard,
            Text = Words.Of($"shard {shards[hot]} did {Units.Percent(share)} of the operations with {Units.Percent(held)} of the "
                + $"documents{Distribution.WatchedText(series.Run)}, {shards.Length} shards in all: it is hot"),
            Range = RangeOf(series, looks),
            Evidence = [new FindingEvidence(
                "shards", Words.Of($"operations: {Shares(shards, operations)}; documents: {Shares(shards, documents)}"))],
            Cause = inserts >= 0.9 ? Words.Of("nearly all of them are inserts: the shard key sends new documents to one shard") : null,
            IsCoincidence = true,
            Refute = Words.Of("run again with --shard-key hashed: if the same shard does as much, the key is not the cause"),
            Weight = Math.Log(share * shards.Length),
        };
    }

    private static Finding? Imbalance(RunSeries series, string[] shards, Look[] looks)
    {
        Look[] known = [.. looks.Where(look => look.Documents.All(double.IsFinite) && look.Documents.Sum() > LeastOperations)];
        Look[] uneven = [.. known.Where(look => FromEven(look) >= Uneven)];
        double seconds = uneven.Sum(look => look.Window.Seconds);
        if (known.Length == 0 || FromEven(known[^1]) > Even
            || seconds < Math.Max(LeastSeconds, LeastShare * known.Sum(look => look.Window.Seconds)))
            return null;
        Look worst = uneven.MaxBy(FromEven)!;
        int most = Array.IndexOf(worst.Documents, worst.Documents.Max());
        return new Finding
        {
            Id = FindingIds.ImbalanceOverTime,
            Text = Words.Of($"documents{Distribution.WatchedText(series.Run)} were unevenly distributed for "
                + $"{Units.Duration(TimeSpan.FromSeconds(seconds))}: "
                + $"shard {shards[most]} held up to {Units.Percent(worst.Documents[most] / worst.Documents.Sum())} of them; "
                + $"at the end they were spread evenly over {ShardVerdict.All(shards.Length)}"),
            Range = RangeOf(series, uneven),
            Evidence = [new FindingEvidence(
                "shards", Words.Of($"at the worst: {Shares(shards, worst.Documents)}; at the end: {Shares(shards, known[^1].Documents)}"))],
            Refute =
                Words.Of("split the collection before the load (--presplit): if it is still as uneven, too few chunks were not the cause"),
            Weight = 0.1,
        };
    }

    /// <summary>How far the fullest shard is above an even share.</summary>
    private static double FromEven(Look look) => (look.Documents.Max() * look.Documents.Length / look.Documents.Sum()) - 1;

    private static double[] Sums(IEnumerable<Look> looks, Func<Look, double[]> valuesOf) =>
        looks.Select(valuesOf).Aggregate((sum, values) => [.. sum.Zip(values, (a, b) => a + b)]);

    private static FindingRange RangeOf(RunSeries series, Look[] looks) =>
        series.Range(new TimeWindow(looks[0].Window.From, looks[^1].Window.To));

    private static string Shares(string[] shards, double[] values) =>
        string.Join(", ", shards.Select((shard, i) => $"{shard} {Units.Percent(values[i] / Math.Max(1, values.Sum()))}"));
}
