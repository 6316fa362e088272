using System.Text.Json;

namespace MongoPerf.Tests.Support;

/// <summary>
/// Holds JSON against a schema in docs/schemas: type, properties, required, additionalProperties, items, enum, const, minimum,
/// anyOf and $ref to $defs.
/// </summary>
/// <remarks>
/// Stricter than the language in one way: what an object has beside its described properties is wrong too, so that no
/// field stays undescribed.
/// </remarks>
internal sealed class JsonSchema
{
    private readonly JsonElement _root;

    private JsonSchema(JsonElement root) => _root = root;

    public static JsonSchema Read(string name) =>
        new(JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "schemas", name + ".schema.json"))).RootElement);

    /// <summary>What is wrong, with its place; empty for nothing.</summary>
    public IReadOnlyList<string> Check(string json)
    {
        using JsonDocument document = JsonDocument.Parse(json);
        return [.. Check(document.RootElement, _root, "$")];
    }

    private IEnumerable<string> Check(JsonElement value, JsonElement schema, string place)
    {
        if (schema.TryGetProperty("$ref", out JsonElement reference))
            return Check(value, _root.GetProperty("$defs").GetProperty(reference.GetString()!.Split('/')[^1]), place);
        if (schema.TryGetProperty("anyOf", out JsonElement options))
        {
            string[][] all = [.. options.EnumerateArray().Select(option => Check(value, option, place).ToArray())];
            return all.Any(wrong => wrong.Length == 0) ? [] : all.SelectMany(wrong => wrong);
        }

        return CheckValue(value, schema, place).Concat(value.ValueKind switch
        {
            JsonValueKind.Object => CheckMembers(value, schema, place),
            JsonValueKind.Array when schema.TryGetProperty("items", out JsonElement item) =>
                value.EnumerateArray().SelectMany((one, i) => Check(one, item, $"{place}[{i}]")),
            _ => [],
        });
    }

    private static IEnumerable<string> CheckValue(JsonElement value, JsonElement schema, string place)
    {
        if (schema.TryGetProperty("const", out JsonElement only) && !JsonElement.DeepEquals(value, only))
            yield return $"{place}: is not {only}";
        if (schema.TryGetProperty("enum", out JsonElement allowed)
            && !allowed.EnumerateArray().Any(one => JsonElement.DeepEquals(one, value)))
            yield return $"{place}: {value} is not one of {allowed}";
        if (schema.TryGetProperty("type", out JsonElement type)
            && !(type.ValueKind == JsonValueKind.Array ? type.EnumerateArray() : Enumerable.Repeat(type, 1))
                .Any(one => IsOf(value, one.GetString()!)))
            yield return $"{place}: {value.ValueKind} is not {type}";
        if (schema.TryGetProperty("minimum", out JsonElement least) && value.ValueKind == JsonValueKind.Number
            && value.GetDouble() < least.GetDouble())
            yield return $"{place}: {value} is below {least}";
    }

    private IEnumerable<string> CheckMembers(JsonElement value, JsonElement schema, string place)
    {
        bool hasMore = schema.TryGetProperty("additionalProperties", out JsonElement more);
        bool isDescribed = schema.TryGetProperty("properties", out JsonElement properties);
        if (!hasMore && !isDescribed)
            yield break;
        if (schema.TryGetProperty("required", out JsonElement required))
        {
            foreach (JsonElement name in required.EnumerateArray().Where(name => !value.TryGetProperty(name.GetString()!, out _)))
                yield return $"{place}.{name}: is missing";
        }

        foreach (JsonProperty member in value.EnumerateObject())
        {
            string here = $"{place}.{member.Name}";
            if (isDescribed && properties.TryGetProperty(member.Name, out JsonElement described))
            {
                foreach (string wrong in Check(member.Value, described, here))
                    yield return wrong;
            }
            else if (hasMore)
            {
                foreach (string wrong in Check(member.Value, more, here))
                    yield return wrong;
            }
            else
            {
                yield return $"{here}: is not described";
            }
        }
    }

    private static bool IsOf(JsonElement value, string type) => type switch
    {
        "null" => value.ValueKind == JsonValueKind.Null,
        "boolean" => value.ValueKind is JsonValueKind.True or JsonValueKind.False,
        "string" => value.ValueKind == JsonValueKind.String,
        "array" => value.ValueKind == JsonValueKind.Array,
        "object" => value.ValueKind == JsonValueKind.Object,
        "number" => value.ValueKind == JsonValueKind.Number,
        "integer" => value.ValueKind == JsonValueKind.Number && Math.Abs(value.GetDouble() % 1) < double.Epsilon,
        _ => throw new FormatException($"'{type}' is no type of JSON Schema"),
    };
}
