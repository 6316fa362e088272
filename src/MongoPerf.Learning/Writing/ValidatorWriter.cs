using MongoPerf.Learning.Sampling;
using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>
/// Writes of a validator what it says of structure: which fields there are, of which types, and which few values they have. What the
/// documents that were read don't keep is left out, since the file's documents are like them; and so are ranges, patterns and all else.
/// </summary>
/// <param name="root">The collection's documents.</param>
/// <param name="names">What fields are called.</param>
/// <param name="values">What the file has in place of values.</param>
internal sealed class ValidatorWriter(FieldStatistics root, WrittenNames names, ValueMap values)
{
    private const int MostLevels = 30;

    /// <summary>Types that generators make, as validators call them.</summary>
    private static readonly Dictionary<BsonType, string[]> Types = new()
    {
        [BsonType.Document] = ["object"], [BsonType.Array] = ["array"], [BsonType.String] = ["string"],
        [BsonType.Boolean] = ["bool", "boolean"], [BsonType.Null] = ["null"], [BsonType.ObjectId] = ["objectId"],
        [BsonType.DateTime] = ["date"], [BsonType.Binary] = ["binData"], [BsonType.Int32] = ["int", "number"],
        [BsonType.Int64] = ["long", "number"], [BsonType.Double] = ["double", "number"], [BsonType.Decimal128] = ["decimal", "number"],
    };

    private readonly Dictionary<string, int> _leftOut = new(StringComparer.Ordinal);

    /// <summary>What was left out, by its key, and how often.</summary>
    public string LeftOut => string.Join(", ", _leftOut.OrderBy(one => one.Key, StringComparer.Ordinal)
        .Select(one => one.Value == 1 ? one.Key : $"{one.Key} ({one.Value:N0} times)"));

    /// <summary>The validator, in flow style; null where nothing of it can be said.</summary>
    public string? Of(BsonDocument validator) => Query(validator, 0);

    private string? Query(BsonDocument query, int level)
    {
        var parts = new List<string>();
        foreach ((string key, BsonValue value) in Entries(query))
        {
            string? text = level > MostLevels ? null
                : key == "$jsonSchema" && value.Type == BsonType.Document ? Schema(value.ToDocument(), root, level + 1)
                : key == "$and" && value.Type == BsonType.Array ? All(value.ToDocument(), level)
                : key is ['$', ..] ? null
                : Condition(key, value);
            if (text is not null)
                parts.Add($"{(key is ['$', ..] ? key : YamlText.Name(names.Path(key)))}: {text}");
            else if (key is ['$', ..] and not "$jsonSchema" and not "$and")
                LeaveOut(key);
        }

        return parts.Count == 0 ? null : $"{{{string.Join(", ", parts)}}}";
    }

    private string? All(BsonDocument list, int level)
    {
        string[] parts = [.. list.Where(one => one.Value.Type == BsonType.Document)
            .Select(one => Query(one.Value.ToDocument(), level + 1)).OfType<string>()];
        return parts.Length == 0 ? null : $"[{string.Join(", ", parts)}]";
    }

    private string? Condition(string path, BsonValue value)
    {
        FieldStatistics? field = At(path);
        if (value.Type != BsonType.Document || value.ToDocument().FirstOrDefault().Key is not ['$', ..])
            return Kept("$eq", field is null ? null : Few(field, [value])?[0]);
        var parts = new List<string>();
        foreach ((string key, BsonValue operand) in Entries(value.ToDocument()))
        {
            string? text = field is null ? null : key switch
            {
                "$exists" when operand.ToString() is "true" or "1" && field.IsAlways => "true",
                "$type" => TypesOf(field, operand),
                "$eq" => Few(field, [operand])?[0],
                "$in" when operand.Type == BsonType.Array => Listed(field, operand),
                _ => null,
            };
            if (Kept(key, text) is not null)
                parts.Add($"{key}: {text}");
        }

        return parts.Count == 0 ? null : $"{{{string.Join(", ", parts)}}}";
    }

    private string? Schema(BsonDocument schema, FieldStatistics at, int level)
    {
        bool isToBeClosed = schema.Find("additionalProperties") is { Type: BsonType.Boolean } more && !more.ToBoolean();
        bool isOther = FieldWriter.HasOtherPlaces(at);
        bool isClosed = isToBeClosed && !isOther && HasAllNames(schema.FindDocument("properties"), at);
        var parts = new List<string>();
        foreach ((string key, BsonValue value) in Entries(schema))
        {
            string? text = level > MostLevels ? null : key switch
            {
                "bsonType" or "type" => TypesOf(at, value),
                "required" when value.Type == BsonType.Array => Required(value, at),
                "properties" when value.Type == BsonType.Document && !isOther => Properties(value.ToDocument(), at, isClosed, level),
                "items" when value.Type == BsonType.Document => at.Elements is null ? null
                    : Schema(value.ToDocument(), at.Elements, level + 1),
                "additionalProperties" when isClosed => "false",
                "enum" when value.Type == BsonType.Array => Listed(at, value),
                _ => null,
            };
            if (text is not null)
                parts.Add($"{key}: {text}");
            // Titles check nothing, and what lies within others is told there.
            else if (key is not ("title" or "description" or "items") && (key != "properties" || isOther)
                && (key != "additionalProperties" || isToBeClosed))
                LeaveOut(key);
        }

        return parts.Count == 0 ? null : $"{{{string.Join(", ", parts)}}}";
    }

    private string? Required(BsonValue list, FieldStatistics at)
    {
        string[] all = [.. list.ToDocument().Select(one => one.Value.ToString()).Distinct()];
        string[] there = [.. all.Where(name => name == "_id" || at.Fields.Any(field => field.Name == name && field.IsAlways))];
        if (there.Length < all.Length && there.Length > 0)
            LeaveOut("required");
        return there.Length == 0 ? null : $"[{string.Join(", ", there.Select(name => YamlText.Quoted(names.Path(name))))}]";
    }

    /// <param name="properties">By name.</param>
    /// <param name="at">The documents that have them.</param>
    /// <param name="isClosed">Those that are not named are forbidden, so all are named.</param>
    /// <param name="level">How deep it is.</param>
    private string? Properties(BsonDocument properties, FieldStatistics at, bool isClosed, int level)
    {
        var parts = new List<string>();
        foreach ((string name, BsonValue value) in Entries(properties).Where(one => IsName(one.Key)))
        {
            string? text = value.Type == BsonType.Document && at.Fields.FirstOrDefault(one => one.Name == name) is { } field
                ? Schema(value.ToDocument(), field, level + 1) : null;
            if (text is not null || isClosed)
                parts.Add($"{YamlText.Name(names.Path(name))}: {text ?? "{}"}");
        }

        return parts.Count == 0 ? null : $"{{{string.Join(", ", parts)}}}";
    }

    /// <summary>All fields of the file are named, and no name is data.</summary>
    private static bool HasAllNames(BsonDocument? properties, FieldStatistics at) =>
        properties is not null && at.Map is null && properties.All(one => IsName(one.Key) && !at.OddNames.Contains(one.Key))
            && at.Fields.All(field => properties.Any(one => one.Key == field.Name));

    /// <summary>A name that is no data, and that a scenario may have.</summary>
    private static bool IsName(string name) => name.Length > 0 && name[0] is not ('^' or '$') && !FieldStatistics.IsDatum(name)
        && !name.Contains("$(", StringComparison.Ordinal) && !name.Any(char.IsControl);

    /// <summary>Those types of a list that validators have, if the field's are among them.</summary>
    private static string? TypesOf(FieldStatistics field, BsonValue allowed)
    {
        string[] types = allowed.Type == BsonType.Array ? [.. allowed.ToDocument().Select(one => one.Value.ToString())]
            : [allowed.ToString()];
        string[] known = [.. types.Distinct().Where(type => Types.Values.Any(one => one.Contains(type)))];
        return field.Types.Count > 0
            && field.Types.Keys.All(type => Types.TryGetValue(type, out string[]? called) && called.Any(name => known.Contains(name)))
                ? known is [var only] ? YamlText.Name(only) : $"[{string.Join(", ", known.Select(YamlText.Name))}]" : null;
    }

    private string? Listed(FieldStatistics field, BsonValue list) =>
        Few(field, [.. list.ToDocument().Select(one => one.Value)]) is { } few ? $"[{string.Join(", ", few)}]" : null;

    /// <summary>What the file has in place of a field's few values; null where they are not all among those allowed.</summary>
    private string[]? Few(FieldStatistics field, BsonValue[] allowed)
    {
        if (field.Types.Keys.Any(type => !field.Values.ContainsKey(type)))
            return null;
        BsonValue[] there = [.. field.Values.Values.SelectMany(one => one.Values.Take(ValueStatistics.MostFew + 1))
            .Select(pair => pair.Key)];
        string?[] written = [.. there.Select(value => Array.Exists(allowed, one => BsonOrder.Values.Compare(one, value) == 0)
            ? values.Instead(field.Path, value) : null)];
        return written.Length is 0 or > ValueStatistics.MostFew || written.Contains(null) ? null : [.. written.Distinct()!];
    }

    /// <summary>What lies at a path that leads through documents which are always there.</summary>
    private FieldStatistics? At(string path)
    {
        FieldStatistics? at = root;
        foreach (string step in path.Split('.'))
        {
            at = at is null || FieldWriter.HasOtherPlaces(at) || (at != root && !(at.IsAlways && at.IsOnly(BsonType.Document))) ? null
                : at.Fields.FirstOrDefault(field => field.Name == step);
        }

        return at;
    }

    /// <summary>Each name once: a file with a name twice could not be read. No driver sends that, but a server may.</summary>
    private IEnumerable<KeyValuePair<string, BsonValue>> Entries(BsonDocument document)
    {
        var found = new HashSet<string>(StringComparer.Ordinal);
        foreach (KeyValuePair<string, BsonValue> entry in document)
        {
            if (found.Add(entry.Key))
                yield return entry;
            else
                LeaveOut("?");
        }
    }

    private string? Kept(string key, string? text)
    {
        if (text is null)
            LeaveOut(key);
        return text;
    }

    /// <summary>Keys of the query language and of schemas are words of MongoDB; a server may send others.</summary>
    private void LeaveOut(string key)
    {
        string word = key.All(c => char.IsAsciiLetter(c) || c == '$') && key.Length <= 30 ? key : "?";
        _leftOut[word] = _leftOut.GetValueOrDefault(word) + 1;
    }
}
