using System.Globalization;
using MongoPerf.Learning.Sampling;
using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Writes zones by shares of the documents, since their bounds are values.</summary>
/// <param name="sample">The collection.</param>
internal sealed class ZoneWriter(CollectionSample sample)
{
    /// <summary>Of ranges, and of shards, in a scenario.</summary>
    private const int MostRanges = 1000, MostShards = 64;

    /// <summary>What is written in another way than it is there, a sentence each.</summary>
    public List<string> Notes { get; } = [];

    /// <summary>The ranges as <c>zones</c> has them; none where they can't be said.</summary>
    public IReadOnlyList<string> Ranges()
    {
        if (sample.Zones.Count == 0 || sample.ShardKey is not { } key || !key.Any())
            return [];
        string? whyNot = key.First().Value.Type == BsonType.String ? "zones of a scenario need a shard key whose first field is not hashed"
            : sample.Options.Find("timeseries") is not null ? "a time series in a scenario has none"
            : sample.Documents.Count == 0 ? "none of its documents was read" : null;
        if (whyNot is not null)
        {
            Notes.Add($"its zone ranges ({sample.Zones.Count:N0}): {whyNot}");
            return [];
        }

        BsonValue[][] keys = [.. sample.Documents.Select(document => key.Select(field => ValueAt(document, field.Key)).ToArray())
            .Order(Comparer<BsonValue[]>.Create(Compare))];
        var ranges = new List<string>();
        (int parting, int empty, int far) = (0, 0, 0);
        foreach ((int i, SampledZone zone) in sample.Zones.Index())
        {
            (double from, double to) = (ShareBelow(keys, zone.From), ShareBelow(keys, zone.To));
            if (Parts(zone.From) || Parts(zone.To))
                parting++;
            else if (from >= to)
                empty++;
            else if (zone.Shards.Count == 0 || zone.Shards[i % zone.Shards.Count] > MostShards || ranges.Count == MostRanges)
                far++;
            else
                ranges.Add($"{{shard: {zone.Shards[i % zone.Shards.Count]}{(from > 0 ? $", from: {Percent(from)}" : "")}"
                    + $"{(to < 100 ? $", to: {Percent(to)}" : "")}}}");
        }

        Note(parting, "that part documents whose first field of the shard key is the same");
        Note(empty, "in which no document was found");
        Note(far, $"beyond {MostRanges:N0}, or beyond {MostShards} shards, or of zones without a shard");
        if (sample.Zones.Any(zone => zone.Shards.Count > 1))
            Notes.Add("zones of several shards: each of their ranges lies on one of these here");
        return ranges;

        void Note(int count, string which)
        {
            if (count > 0)
                Notes.Add($"zone ranges {which}: {count:N0}");
        }
    }

    private static string Percent(double share) => $"{share.ToString("0.##", CultureInfo.InvariantCulture)}%";

    /// <summary>In percent, to two places.</summary>
    /// <param name="keys">In order.</param>
    /// <param name="bound">A whole key.</param>
    private static double ShareBelow(BsonValue[][] keys, BsonDocument bound)
    {
        BsonValue[] values = [.. bound.Select(field => field.Value)];
        (int low, int high) = (0, keys.Length);
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (Compare(keys[middle], values) < 0)
                low = middle + 1;
            else
                high = middle;
        }

        return Math.Round(100.0 * low / keys.Length, 2);
    }

    /// <summary>By the fields that both have.</summary>
    private static int Compare(BsonValue[] one, BsonValue[] other) =>
        one.Zip(other, BsonOrder.Values.Compare).FirstOrDefault(order => order != 0);

    /// <summary>A bound that lies within documents of one first field.</summary>
    private static bool Parts(BsonDocument bound) =>
        bound.Skip(1).Any(field => field.Value.Type is not (BsonType.MinKey or BsonType.MaxKey));

    private static BsonValue ValueAt(BsonDocument document, string path) =>
        document.Find(path) ?? new BsonValue(BsonType.Null, default);
}
