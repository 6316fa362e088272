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
        if (key.First().Value.Type == BsonType.String || sample.Options.Find("timeseries") is not null || sample.Documents.Count == 0)
        {
            Notes.Add($"its {sample.Zones.Count:N0} zone ranges: in scenarios they part documents whose shard key is not hashed");
            return [];
        }

        BsonValue[][] keys = [.. sample.Documents.Select(document => key.Select(field => ValueAt(document, field.Key)).ToArray())];
        var ranges = new List<string>();
        (int parting, int empty, int far) = (0, 0, 0);
        foreach ((int i, SampledZone zone) in sample.Zones.Index())
        {
            (string from, string to) = (ShareBelow(keys, zone.From), ShareBelow(keys, zone.To));
            if (Parts(zone.From) || Parts(zone.To))
                parting++;
            else if (from == to)
                empty++;
            else if (zone.Shards.Count == 0 || zone.Shards[i % zone.Shards.Count] > MostShards || ranges.Count == MostRanges)
                far++;
            else
                ranges.Add($"{{shard: {zone.Shards[i % zone.Shards.Count]}{(from == "0" ? "" : $", from: {from}%")}"
                    + $"{(to == "100" ? "" : $", to: {to}%")}}}");
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

    /// <summary>In percent, to two places.</summary>
    private static string ShareBelow(BsonValue[][] keys, BsonDocument bound)
    {
        BsonValue[] values = [.. bound.Select(field => field.Value)];
        double share = (double)keys.Count(key => IsBelow(key, values)) / keys.Length;
        return Math.Round(100 * share, 2).ToString("0.##", CultureInfo.InvariantCulture);
    }

    private static bool IsBelow(BsonValue[] key, BsonValue[] bound)
    {
        for (int i = 0; i < Math.Min(key.Length, bound.Length); i++)
        {
            int order = bound[i].Type is BsonType.MinKey ? 1 : bound[i].Type is BsonType.MaxKey ? -1
                : ValueOrder.Instance.Compare(key[i], bound[i]);
            if (order != 0)
                return order < 0;
        }

        return false;
    }

    /// <summary>A bound that lies within documents of one first field.</summary>
    private static bool Parts(BsonDocument bound) =>
        bound.Skip(1).Any(field => field.Value.Type is not (BsonType.MinKey or BsonType.MaxKey));

    private static BsonValue ValueAt(BsonDocument document, string path) =>
        document.Find(path) ?? BsonDocument.Of(("v", null)).First().Value;
}
