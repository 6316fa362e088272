using MongoPerf.Load.Sharding;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads indexes: a field's name, a key, or a key with options.</summary>
internal static class IndexReader
{
    private static readonly string[] Known =
    [
        "key", "name", "unique", "sparse", "expireAfterSeconds", "partialFilterExpression", "collation", "hidden", "background",
        "wildcardProjection", "weights", "default_language", "language_override", "textIndexVersion", "2dsphereIndexVersion", "bits", "min",
        "max", "storageEngine", "prepareUnique", "v",
    ];

    /// <param name="nodes">The indexes as they are written.</param>
    /// <param name="what">Where they stand, for messages.</param>
    /// <returns>Each as createIndexes takes it, with key and name.</returns>
    /// <exception cref="UserException">One can't be an index.</exception>
    public static IReadOnlyList<BsonDocument> Read(IReadOnlyList<ScenarioNode> nodes, string what) =>
        [.. nodes.Select(node => Index(node, what))];

    private static BsonDocument Index(ScenarioNode node, string what)
    {
        // A plain name is an ascending key.
        BsonDocument given = node is ScalarNode scalar ? BsonDocument.Of((scalar.Text, 1)) : TemplateReader.Literal(node, what);
        BsonDocument key = given.FindDocument("key") ?? given;
        if (!key.Any())
            throw MappingReader.Wrong(node, $"{what}: an index has no key", "such as {name: 1}");
        Directions.Require(key, node, what, Directions.OfIndexes);
        if (!ReferenceEquals(key, given))
            RequireOptions(given, key, node, what);
        string name = given.FindString("name") is { } chosen && !ReferenceEquals(key, given) ? chosen
            : string.Join('_', key.Select(e => $"{e.Key}_{e.Value}"));
        if (given.IsTrue("unique") && key.Any(e => e.Value.ToString() == "hashed"))
            throw MappingReader.Wrong(node, $"{what}: the index {name} is unique and hashed; MongoDB has no such index",
                "remove unique, or hashed");
        IEnumerable<KeyValuePair<string, BsonValue>> options =
            ReferenceEquals(key, given) ? [] : given.Where(e => e.Key is not ("key" or "name"));
        return BsonDocument.Of([("key", key), ("name", name), .. options.Select(e => (e.Key, (object?)e.Value))]);
    }

    /// <exception cref="UserException">An option is not known, or not for such a key.</exception>
    private static void RequireOptions(BsonDocument index, BsonDocument key, ScenarioNode node, string what)
    {
        if (index.Select(option => option.Key).FirstOrDefault(option => !Known.Contains(option)) is { } unknown)
            throw Wrong($"an index has no option {unknown}; allowed: {string.Join(", ", Known)}", NearestName.Hint(unknown, Known));
        string shown = ShardKey.Describe(key);
        bool isWildcard = key.Any(field => field.Key == "$**" || field.Key.EndsWith(".$**", StringComparison.Ordinal));
        if (index.Find("expireAfterSeconds") is not null && (key.Count() > 1 || isWildcard || !key.First().Value.IsNumber))
            throw Wrong($"{shown} expires documents; such an index is on one field with a date, ascending or descending",
                "give that field an index of its own");
        if (isWildcard && index.IsTrue("unique"))
            throw Wrong($"{shown} is a wildcard index, which can't be unique", "remove unique");
        if (index.Find("wildcardProjection") is not null && key.All(field => field.Key != "$**"))
            throw Wrong($"{shown} has a wildcardProjection, which is for indexes on all fields",
                "such as {key: {$**: 1}, wildcardProjection: {a: 1}}");
        if (index.IsTrue("sparse") && index.Find("partialFilterExpression") is not null)
            throw Wrong($"{shown} is sparse and partial; MongoDB allows one of them",
                "partialFilterExpression: {FIELD: {$exists: true}} alone does the same");

        UserException Wrong(string why, string? hint) => MappingReader.Wrong(node, $"{what}: {why}", hint);
    }
}
