using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>
/// What shards can't have: capped collections, time series by other fields than their own two, and unique indexes that don't begin with
/// the shard key, as each shard knows its own documents only.
/// </summary>
public static class ShardLimits
{
    /// <summary>Requires of a collection whose file says how it lies on shards that it can be there.</summary>
    /// <param name="collection">The collection of the file.</param>
    /// <param name="node">Its shardKey or shard.</param>
    /// <exception cref="UserException">It can't be sharded.</exception>
    public static void Require(PlanCollection collection, ScenarioNode node)
    {
        if (FindFault(collection, KeyOf(collection, ShardKey.Parse(ShardKey.HashedId))) is { } fault)
            throw MappingReader.Wrong(node, fault.Message,
                collection.Shard is not null ? $"remove shard, and {fault.Hint}"
                : fault.IsOfKey ? fault.Hint
                : $"remove shardKey, and {fault.Hint}");
    }

    /// <summary>Requires what sharding needs of the unique indexes of a collection whose file says by what it is sharded.</summary>
    /// <param name="collection">The collection of the file.</param>
    /// <param name="indexes">The indexes that it has, or gets.</param>
    /// <param name="node">Where they stand.</param>
    /// <exception cref="UserException">A unique index does not begin with the collection's own shard key.</exception>
    public static void Require(PlanCollection collection, IReadOnlyList<BsonDocument> indexes, ScenarioNode? node)
    {
        if (collection.ShardKey is { } own && ShardKey.Of(own) is var key
            && indexes.FirstOrDefault(index => !CanBe(index, key)) is { } wrong)
            throw MappingReader.Wrong(node!, Message(collection, wrong, key), Hint(wrong, key));
    }

    /// <summary>Requires what sharding needs of collections whose file leaves open by what they are sharded.</summary>
    /// <param name="rounds">The rounds of a plan.</param>
    /// <param name="usual">The key by which shards hold a collection that has no key of its own.</param>
    /// <exception cref="UserException">One can't be sharded, or has a unique index that does not begin with that.</exception>
    public static void Require(IReadOnlyList<PlanRound> rounds, ShardKey usual)
    {
        foreach (PlanRound round in rounds)
        {
            foreach (PlanCollection collection in round.Collections.Where(c => c is { Files: null, ShardKey: null }))
            {
                ShardKey key = KeyOf(collection, usual);
                if (FindFault(collection, key) is { } fault)
                    throw new UserException(ExitCode.WrongUsage, fault.Message, fault.Hint);
                if (Indexes(collection, round).FirstOrDefault(index => !CanBe(index, key)) is { } wrong)
                    throw new UserException(ExitCode.WrongUsage, Message(collection, wrong, key), Hint(wrong, key));
            }
        }
    }

    private static IEnumerable<BsonDocument> Indexes(PlanCollection collection, PlanRound round) =>
    [
        .. collection.Indexes,
        .. round.Phases.SelectMany(phase => phase.AllGroups)
            .SelectMany(group => group.Operations).Select(item => item.Operation).OfType<DatabaseCommand>()
            .Where(command => command.Collection == collection.Name && command.Arguments.Elements is [{ Key: "createIndexes" }, ..])
            .SelectMany(command => command.Arguments.Elements.Where(element => element.Key == "indexes")
                .Select(element => element.Value).OfType<LiteralValue>())
            .SelectMany(indexes => indexes.Value.ToDocument().Select(index => index.Value.ToDocument())),
    ];

    private static bool CanBe(BsonDocument index, ShardKey key) =>
        !index.IsTrue("unique") || index.FindDocument("key") is not { } fields
        || fields.First().Key == "_id" && fields.Count() == 1 || key.IsServedBy(fields);

    private static ShardKey KeyOf(PlanCollection collection, ShardKey usual) =>
        collection.Shard is not null ? ShardKey.Parse("_id") : collection.ShardKey is { } own ? ShardKey.Of(own) : usual;

    /// <returns>Null for none; <c>IsOfKey</c> where another key would do.</returns>
    private static (string Message, string Hint, bool IsOfKey)? FindFault(PlanCollection collection, ShardKey key)
    {
        string what = $"collection '{collection.Name}' can't be sharded";
        return collection.Options?.IsTrue("capped") is true ? ($"{what}: it is capped", "run it on one server or a replica set", false)
            : collection.IsTimeSeries && !IsOfSeries(key, collection.Options!)
                ? ($"{what} by {key}: it is a time series, whose shard key has fields of its metaField and, as the last one, its "
                    + "timeField, ascending", $"give it a shardKey such as {ExampleOf(collection.Options!)}", true)
            // A shard key's index is simple, and that of _id has the collection's collation.
            : collection.Options?.FindString("collation.locale") is not (null or "simple") && key.IsThatOf(BsonDocument.Of(("_id", 1)))
                ? ($"{what} by {key}: it has a collation", "shard it by another key, such as {_id: hashed}", true)
            : null;
    }

    /// <remarks>MongoDB's manual, "Shard a Time Series Collection".</remarks>
    private static bool IsOfSeries(ShardKey key, BsonDocument options)
    {
        (string time, string? meta) = FieldsOf(options);
        KeyValuePair<string, BsonValue> last = key.Document.Last();
        return key.Document.SkipLast(1).All(IsMeta)
            && (IsMeta(last) || (last.Key == time && last.Value.IsNumber));

        bool IsMeta(KeyValuePair<string, BsonValue> field) =>
            meta is not null && (field.Key == meta || field.Key.StartsWith(meta + ".", StringComparison.Ordinal));
    }

    private static (string Time, string? Meta) FieldsOf(BsonDocument options) =>
        (options.FindString("timeseries.timeField") ?? "", options.FindString("timeseries.metaField"));

    private static string ExampleOf(BsonDocument options) =>
        FieldsOf(options) is (_, { } meta) ? $"{{{meta}: hashed}}" : $"{{{FieldsOf(options).Time}: 1}}";

    private static string Message(PlanCollection collection, BsonDocument index, ShardKey key) =>
        $"collection '{collection.Name}': the unique index {index.FindString("name")} can't be on shards: "
        + $"it does not begin with the shard key {key}";

    private static string Hint(BsonDocument index, ShardKey key) => key.IsHashed
        ? "remove unique, or shard the collection by what the index begins with, such as shardKey: "
            + $"{ShardKey.Describe(BsonDocument.Of((index.FindDocument("key")!.First().Key, 1)))}"
        : $"begin the index with {key}, remove unique, or choose another shardKey";
}
