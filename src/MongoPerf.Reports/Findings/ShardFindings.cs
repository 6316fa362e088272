using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>
/// A shard that does more than its documents ask for, inserts that all go to one, documents that lay unevenly for a while, and operations
/// that ask all shards.
/// </summary>
internal static class ShardFindings
{
    /// <summary>The share above an even one from which on a shard is hot.</summary>
    private const double Hot = 0.5;
    private const double Uneven = 0.25;
    private const double Even = 0.1;
    private const double LeastShare = 0.2;
    private const double LeastSeconds = 10;
    private const double LeastOperations = 1000;

    /// <summary>The share of the operations that is nearly all.</summary>
    private const double NearlyAll = 0.95;
    private const double Mostly = 0.5;
    private const double LeastAsking = 100;
    private static readonly int Documents = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "documents");
    private static readonly int Inserted = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "opcounters_insert");

    /// <summary>What all shards said between two looks.</summary>
    private sealed record Look(TimeWindow Window, double[] Operations, double[] Inserts, double[] Documents);

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        foreach (Finding asking in Asking(series))
            yield return asking;
        MetricSample[] samples = [.. series.Run.ReadShardSamples()];
        string[] shards = [.. samples.Select(sample => sample.Member).Distinct().Order(StringComparer.Ordinal)];
        Look[] looks = shards.Length < 2 ? [] : [.. Looks(samples, shards)];
        if (looks.Length == 0 || new TimeWindow(looks[0].Window.From, looks[^1].Window.To).Seconds < LeastSeconds)
            yield break;
        if ((InsertsToOne(series, shards, looks) ?? HotShard(series, shards, looks)) is { } hot)
            yield return hot;
        if (Imbalance(series, shards, looks) is { } uneven)
            yield return uneven;
    }

    /// <summary>
    /// What asks all shards, by explain, unless the routers' counters while only it was measured say otherwise: they count also what others
    /// asked, and the program itself. Without explain, by the counters alone.
    /// </summary>
    private static IEnumerable<Finding> Asking(RunSeries series)
    {
        if (series.Run.Deployment is not { ShardCount: > 1 and var shards })
            yield break;
        var asking = new List<(OperationSeries Series, double? Share)>();
        foreach (IGrouping<string, OperationSeries> one in series.Operations.GroupBy(one => one.Label))
        {
            string[] commands = CommandsOf(one.First().Result);
            // What others did meanwhile counts there too.
            bool isAlone = !one.Any(own => series.Operations.Any(other => other.Phase.Number == own.Phase.Number
                && other.Result != own.Result && CommandsOf(other.Result).Intersect(commands).Any()));
            double all = Sum(commands.SelectMany(ShardsAsked.MetricsOf));
            // Less than half of its operations: what was counted is not its own.
            double? share = isAlone && all >= Math.Max(LeastAsking, 0.5 * one.Sum(own => own.Result.Operations))
                ? Sum(commands.Select(command => $"asked_{command}_all")) / all : null;
            int?[] explained = [.. one.Select(own => own.Result.Plan?.Shards).Where(asked => asked is not null)];
            if (explained.Length > 0 ? explained.All(asked => asked == shards) && share is not < Mostly : share >= NearlyAll)
                asking.Add((one.First(), share));

            double Sum(IEnumerable<string> metrics) => metrics.Sum(metric =>
                one.Sum(own => (series.Server.RateOf([own.Window], metric) ?? 0) * own.Window.Seconds));
        }

        if (asking.Count == 0)
            yield break;
        string?[] keys = [.. asking.Select(one => KeyOf(series.Run.Deployment, one.Series.Phase.Collection)).Distinct()];
        string? key = keys is [var only] ? only : null;
        string labels = Words.And([.. asking.Select(one => one.Series.Label)]);
        yield return new Finding
        {
            Id = FindingIds.AsksAllShards,
            Text = asking.Count == 1
                ? Words.Of($"{labels} asks {ShardVerdict.All(shards)}: shards add work to it, not speed")
                : Words.Of($"{labels} ask {ShardVerdict.All(shards)}: shards add work to them, not speed"),
            Operations = [.. asking.Select(one => one.Series.Label)],
            Evidence = [new FindingEvidence("timeline", string.Join("; ", asking.Select(one =>
                one.Share is { } share ? Words.Of($"{one.Series.Label}: {Units.Percent(share)} of its commands ask all shards")
                    : Words.Of($"{one.Series.Label}: all shards by explain"))))],
            Cause = key is null ? null : Words.Of($"no condition fixes the shard key {key}"),
            Refute = Words.Of("shard the collection by a field that the operation names a value of (--shard-key FIELD): if its rate stays "
                + "the same, asking all shards costs nothing"),
            Weight = 0.2,
        };
    }

    /// <summary>Of the collection; where it is not known which that is, of the only one that has a key.</summary>
    private static string? KeyOf(DeploymentInfo deployment, string? collection)
    {
        CollectionSharding[] sharded = [.. deployment.Collections.Where(one => one.Key is not null)];
        return deployment.Collections.FirstOrDefault(one => one.Collection == collection) is { } known ? known.Key
            : sharded is [var only] ? only.Key : null;
    }

    /// <summary>As a router counts it, or may; none for inserts, whose shards follow from the key alone.</summary>
    private static string[] CommandsOf(OperationResult result) => result.ServerCounter switch
    {
        "opcounters_update" => ["update"],
        "opcounters_delete" => ["delete"],
        _ => result.IsInsert ? [] : ["find", "aggregate"],
    };

    /// <summary>A key that grows: the last chunk, and so one shard, gets all new documents.</summary>
    private static Finding? InsertsToOne(RunSeries series, string[] shards, Look[] looks)
    {
        CollectionSharding? collection = series.Run.Deployment?.Collections
            .FirstOrDefault(one => one.Collection == Distribution.WatchedIn(series.Run));
        Look[] known = [.. looks.Where(look => look.Inserts.All(double.IsFinite))];
        // Where the documents are all there too, the verdict on the collection says it.
        if (known.Length == 0 || collection is not { Key: { } key, IsPlaced: false, NearlyOnly: null })
            return null;
        double[] inserts = Sums(known, look => look.Inserts);
        int most = Array.IndexOf(inserts, inserts.Max());
        if (inserts.Sum() < LeastOperations || inserts[most] < NearlyAll * inserts.Sum())
            return null;
        return new Finding
        {
            Id = FindingIds.InsertsToOneShard,
            Text = Words.Of($"shard {shards[most]} got {Units.Percent(inserts[most] / inserts.Sum())} of all inserts, although there are "
                + $"{shards.Length} shards"),
            Range = RangeOf(series, known),
            Evidence = [new FindingEvidence("shards", Words.Of($"inserts: {Shares(shards, inserts)}"))],
            Cause = key.Contains("hashed", StringComparison.Ordinal) ? null
                : Words.Of($"a shard key that grows, as {key} may, sends all new documents to the last chunk"),
            IsCoincidence = true,
            Refute = Words.Of("run again with --shard-key hashed: if one shard still gets all inserts, the key is not the cause"),
            Weight = Math.Log(shards.Length),
        };
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
                + $"{Units.Duration(seconds)}: "
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
