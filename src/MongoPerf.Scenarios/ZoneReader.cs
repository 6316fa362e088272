using System.Globalization;
using MongoPerf.Deployments.Limits;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads how a collection is cut before it has documents: into so many chunks, or by zones.</summary>
internal static class ZoneReader
{
    private const int MostChunks = 8192;

    private const int MostZones = 1000;

    /// <param name="reader">A collection with or without these keys.</param>
    /// <param name="collection">What was read of it.</param>
    /// <exception cref="UserException">They can't be had of its shard key, or not together.</exception>
    public static PlanCollection Read(MappingReader reader, PlanCollection collection)
    {
        int? chunks = (int?)reader.Count("presplit", 1, MostChunks);
        if ((reader.Find("zones") ?? reader.Find("presplit")) is not { } node)
            return collection;
        string what = $"collection '{collection.Name}'";
        string key = reader.Find("zones") is null ? "presplit" : "zones";
        if (collection.ShardKey is not { } fields)
            throw MappingReader.Wrong(node, $"{what}: {key} needs a shardKey, whose values it cuts", "such as shardKey: {_id: hashed}");
        if (chunks is not null && key == "zones")
            throw MappingReader.Wrong(node, $"{what} has both presplit and zones; its zones cut it already", "remove one of them");
        var shardKey = ShardKey.Of(fields);
        if (key == "presplit" && shardKey is { IsHashed: true, BeginsHashed: false })
            throw MappingReader.Wrong(node, $"{what}: presplit can't cut {shardKey}, whose hashed field is not its first",
                "cut it by zones, or begin the key with its hashed field");
        if (collection.IsTimeSeries && !(key == "presplit" && shardKey.BeginsHashed))
            throw MappingReader.Wrong(node, $"{what}: {key} can't cut a time series by {shardKey}: what lies in chunks are its buckets",
                "presplit needs a hashed field of its metaField; zones it can't have");
        if (key == "zones" && shardKey.BeginsHashed)
            throw MappingReader.Wrong(node, $"{what}: zones are ranges of values, but {shardKey} orders documents by a hash",
                "begin the shardKey with the field that says where a document belongs, such as {country: 1, _id: 1}");
        return collection with { Presplit = chunks, Zones = key == "zones" ? Zones(reader, what, shardKey, collection) : [] };
    }

    private static ZoneRange[] Zones(MappingReader reader, string what, ShardKey key, PlanCollection collection)
    {
        IReadOnlyList<ScenarioNode> nodes = reader.List("zones");
        if (nodes.Count is 0 or > MostZones)
            throw MappingReader.Wrong(reader.Find("zones")!, $"{what}: zones has {nodes.Count} ranges; allowed: 1 to {MostZones}");
        // Made once, for all bounds, and only where one is a share.
        Lazy<IReadOnlyList<BsonValue>>? sample = collection.Count > 0
            ? new(() => key.SampleOf(collection.Count, collection.Documents)) : null;
        (ScenarioNode Node, ZoneRange Range)[] all =
        [
            .. nodes.Select((node, i) => (Node: node, Range: Zone(node, $"{what}: zone {i + 1}", key, sample)))
                .Where(static one => one.Range is not null).Select(static one => (one.Node, one.Range!)),
        ];
        (ScenarioNode Node, ZoneRange Range)[] ordered = [.. all.Order(Comparer<(ScenarioNode, ZoneRange Range)>.Create(
            static (one, other) => Compare(one.Range.From, other.Range.From, isUpper: false)))];
        for (int i = 1; i < ordered.Length; i++)
        {
            if (ordered[i].Range.From is not { } from || Compare(ordered[i - 1].Range.To, from, isUpper: true) > 0)
                throw MappingReader.Wrong(ordered[i].Node, $"{what}: zone {NumberOf(ordered[i].Node)} begins before zone "
                    + $"{NumberOf(ordered[i - 1].Node)} ends", "where one ends the next may begin: to does not belong to a range");
        }

        return [.. ordered.Select(static one => one.Range)];

        int NumberOf(ScenarioNode node) => nodes.Index().First(one => ReferenceEquals(one.Item, node)).Index + 1;
    }

    /// <param name="node">The range.</param>
    /// <param name="what">It, in messages.</param>
    /// <param name="key">The collection's.</param>
    /// <param name="sample">The key's values in the collection's documents; null where it has no count.</param>
    /// <returns>Null where its ends are shares between which there is no document.</returns>
    private static ZoneRange? Zone(ScenarioNode node, string what, ShardKey key, Lazy<IReadOnlyList<BsonValue>>? sample)
    {
        var reader = new MappingReader(node, what, ScenarioLanguage.Zone);
        reader.Require("shard", "the shard that holds the range, such as shard: 1");
        int shard = (int)reader.Count("shard", 1, ClusterLimits.MostShards)!;
        (BsonDocument? from, double? fromShare) = Bound("from");
        (BsonDocument? to, double? toShare) = Bound("to");
        bool isShared = fromShare is not null || toShare is not null;
        // Of documents with one value all shares are the same place, so the shares themselves are compared, too.
        if (fromShare >= toShare)
            throw Empty(((ScalarNode)reader.Find("to")!).Text);
        if ((from is null && fromShare > 0.5) || (to is null && toShare <= 0.5))
            return null;
        return from is null || to is null || Compare(to, from, isUpper: true) > 0 ? new ZoneRange(shard, from, to)
            : isShared && Compare(to, from, isUpper: true) == 0 ? null
            : throw Empty(ShardKey.Describe(to));

        UserException Empty(string end) => MappingReader.Wrong(
            node, $"{what} is empty: it ends at {end}, where it begins or before", "from belongs to the range, to does not");

        (BsonDocument? Bound, double? Share) Bound(string name)
        {
            if (reader.Find(name) is not { } given)
                return (null, null);
            if (given is ScalarNode scalar)
            {
                double share = ShareOf(scalar, $"{what}: {name}", key);
                return sample is not null ? (key.PointAt(share, sample.Value), share)
                    : throw MappingReader.Wrong(given, $"{what}: {name} is a share of the documents, but the collection has no count",
                        $"such as {name}: {{{key.FieldNames[0]}: …}}");
            }

            BsonDocument bound = TemplateReader.Literal(given, name);
            string[] fields = [.. bound.Select(static field => field.Key)];
            return fields.Length > 0 && fields.SequenceEqual(key.FieldNames.Take(fields.Length)) ? (bound, null)
                : throw MappingReader.Wrong(given, $"{what}: {name} has {(fields.Length == 0 ? "no fields" : string.Join(", ", fields))}; "
                    + $"expected the first fields of the shardKey in their order: {string.Join(", ", key.FieldNames)}",
                    $"such as {name}: {{{key.FieldNames[0]}: …}}");
        }
    }

    private static double ShareOf(ScalarNode node, string what, ShardKey key) => node.Text is [.. var number, '%']
        && double.TryParse(number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double percent)
        && percent is > 0 and < 100 ? percent / 100
            : throw MappingReader.Wrong(node, $"{what} is '{node.Text}'; expected values of the shardKey, or a share of the documents "
                + "above 0 % and below 100 %", $"such as {{{key.FieldNames[0]}: …}} or 40%");

    /// <summary>By the values that both have; where one has no more, the rest of its key is the least.</summary>
    /// <param name="one">Null is below, or above, every value.</param>
    /// <param name="other">Null is below every value.</param>
    /// <param name="isUpper">The first is an upper bound.</param>
    private static int Compare(BsonDocument? one, BsonDocument? other, bool isUpper)
    {
        if (one is null || other is null)
            return one is null ? isUpper ? 1 : other is null ? 0 : -1 : 1;
        int order = one.Zip(other, static (a, b) => BsonOrder.Values.Compare(a.Value, b.Value)).FirstOrDefault(static o => o != 0);
        return order != 0 ? order : one.Count().CompareTo(other.Count());
    }
}
