using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>What stands behind a field in an index's key or a shard key: a direction, or the kind of index.</summary>
internal static class Directions
{
    public static IReadOnlyList<string> OfIndexes { get; } = ["1", "-1", "hashed", "text", "2d", "2dsphere"];

    public static IReadOnlyList<string> OfShardKeys { get; } = ["1", "hashed"];

    /// <param name="key">The key of the index, or the shard key.</param>
    /// <param name="node">Where it stands.</param>
    /// <param name="what">What it is about, for messages.</param>
    /// <param name="allowed">What may stand behind a field.</param>
    /// <exception cref="Texts.Input.UserException">Something else does.</exception>
    public static void Require(BsonDocument key, ScenarioNode node, string what, IReadOnlyList<string> allowed)
    {
        foreach ((string field, BsonValue value) in key)
        {
            // Any number above or below 0 is a direction.
            string found = value.IsNumber && value.ToDouble() != 0 ? value.ToDouble() > 0 ? "1" : "-1" : value.ToString();
            if (!allowed.Contains(found))
                throw MappingReader.Wrong(
                    node, $"{what}: '{field}' is '{value}'; allowed: {string.Join(", ", allowed)}", Hint(field, found, value));
        }
    }

    private static string Hint(string field, string found, BsonValue value) => found switch
    {
        ['d' or 'D', ..] => $"write {{{field}: -1}}",
        ['a' or 'A', ..] => $"write {{{field}: 1}}",
        "-1" => "a shard key has no direction: write 1, or hashed",
        _ when value.Type == BsonType.Boolean => $"options of an index stand beside its key: {{key: {{…: 1}}, {field}: {found}}}",
        _ => "1 is ascending, -1 descending",
    };
}
