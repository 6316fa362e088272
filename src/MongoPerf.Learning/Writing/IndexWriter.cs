using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Writes indexes and options of a collection; values that they have are replaced as those of documents are.</summary>
/// <param name="root">The collection's documents.</param>
/// <param name="names">What fields are called.</param>
/// <param name="values">What the file has in place of values.</param>
/// <param name="hasCollation">The collection has one, which its indexes have unless they say otherwise.</param>
internal sealed class IndexWriter(FieldStatistics root, WrittenNames names, ValueMap values, bool hasCollation)
{
    private static readonly string[] AsTheyAre =
        ["unique", "sparse", "expireAfterSeconds", "hidden", "default_language", "bits", "min", "max"];

    private static readonly string[] OfTheServer =
        ["v", "key", "name", "ns", "background", "textIndexVersion", "2dsphereIndexVersion", "weights", "collation", "buildUUID"];

    /// <summary>What is written in another way than it is there, a sentence each.</summary>
    public List<string> Notes { get; } = [];

    /// <summary>An index as <c>indexes</c> has it.</summary>
    public string Of(BsonDocument index)
    {
        string key = Key(index);
        var parts = new List<string> { $"key: {key}" };
        string usual = string.Join('_', KeyOf(index).Select(one => $"{one.Name}_{one.Kind.Trim('"')}"));
        string name = index.FindString("name") ?? usual;
        string shown = names.AreHashed ? key : name;
        if (!names.AreHashed && name != usual && !name.Contains("$(", StringComparison.Ordinal))
            parts.Add($"name: {YamlText.Quoted(name)}");
        foreach ((string option, BsonValue value) in index)
        {
            if (option == "unique" && value.ToBoolean() && !StaysUnique(index))
                Notes.Add($"the index {shown} is unique in the deployment; the values that are generated are not certain to be");
            else if (AsTheyAre.Contains(option))
                parts.Add($"{option}: {YamlText.Value(value)}");
            else if (option == "language_override")
                parts.Add($"{option}: {YamlText.Quoted(value.ToString() == "language" ? "language" : names.Path(value.ToString()))}");
            else if (option == "wildcardProjection" && value.Type == BsonType.Document)
                parts.Add($"{option}: {Shown(value.ToDocument())}");
            else if (option == "partialFilterExpression" && value.Type == BsonType.Document)
                Partial(value.ToDocument(), parts, shown);
            else if (!OfTheServer.Contains(option))
                Notes.Add($"the option {option} of the index {shown}");
        }

        if (index.FindDocument("weights") is { } weights && weights.Any(one => one.Value.ToDouble() != 1))
            parts.Add($"weights: {Fields(weights)}");
        if (index.FindDocument("collation") is { } collation)
            parts.Add($"collation: {Collation(collation)}");
        else if (hasCollation)
            parts.Add("collation: {locale: simple}");
        return parts.Count == 1 ? key : $"{{{string.Join(", ", parts)}}}";
    }

    /// <summary>A key with its directions.</summary>
    public string Fields(BsonDocument key) =>
        $"{{{string.Join(", ", key.Select(one => $"{YamlText.Name(names.Path(one.Key))}: {Direction(one.Value)}"))}}}";

    /// <summary>Which fields a wildcard has: 1 or true, 0 or false, and the same of the fields in them.</summary>
    private string Shown(BsonDocument projection) => $"{{{string.Join(", ", projection.Select(one =>
        $"{YamlText.Name(names.Path(one.Key))}: {(one.Value.Type == BsonType.Document ? Shown(one.Value.ToDocument())
            : one.Value.ToBoolean() ? "1" : "0")}"))}}}";

    /// <summary>Options of create; null for none.</summary>
    public string? Options(BsonDocument options)
    {
        var parts = new List<string>();
        foreach ((string option, BsonValue value) in options)
        {
            switch (option)
            {
                case "capped" or "size" or "max" when options.IsTrue("capped"):
                    parts.Add($"{option}: {YamlText.Value(value)}");
                    break;
                case "changeStreamPreAndPostImages" or "storageEngine":
                    parts.Add($"{option}: {YamlText.Value(value)}");
                    break;
                case "timeseries" when value.Type == BsonType.Document:
                    parts.Add($"timeseries: {TimeSeries(value.ToDocument())}");
                    break;
                case "clusteredIndex":
                    parts.Add("clusteredIndex: {key: {_id: 1}, unique: true}");
                    break;
                case "collation" when value.Type == BsonType.Document:
                    parts.Add($"collation: {Collation(value.ToDocument())}");
                    break;
                case "expireAfterSeconds":
                    Notes.Add($"documents expire after {value} s in the deployment; here they stay");
                    break;
                case "validator" when value.Type == BsonType.Document:
                    parts.AddRange(Validator(value.ToDocument(), options));
                    break;
                case "validator" or "validationLevel" or "validationAction":
                    break;
                case "uuid" or "capped" or "size" or "max" or "autoIndexId" or "flags":
                    break;
                default:
                    Notes.Add($"the option {option} of the collection");
                    break;
            }
        }

        return parts.Count == 0 ? null : $"{{{string.Join(", ", parts)}}}";
    }

    /// <summary>The documents of a unique index on one field all have their own value.</summary>
    private bool StaysUnique(BsonDocument index) => KeyOf(index).Any(one => values.MadeUnique.Contains(one.Path));

    private IEnumerable<string> Validator(BsonDocument validator, BsonDocument options)
    {
        var writer = new ValidatorWriter(root, names, values);
        string? text = writer.Of(validator);
        if (text is null)
            Notes.Add("its validator: all of it is values of the data, or what documents that were read don't meet");
        else if (writer.LeftOut is { Length: > 0 } left)
            Notes.Add($"of its validator: {left}");
        if (text is null)
            yield break;
        yield return $"validator: {text}";
        foreach (string option in (string[])["validationLevel", "validationAction"])
        {
            if (options.FindString(option) is "strict" or "moderate" or "off" or "error" or "warn" or "errorAndLog")
                yield return $"{option}: {options.FindString(option)}";
        }
    }

    private string TimeSeries(BsonDocument series)
    {
        var parts = new List<string> { $"timeField: {YamlText.Name(names.Path(series.FindString("timeField") ?? ""))}" };
        if (series.FindString("metaField") is { } meta)
            parts.Add($"metaField: {YamlText.Name(names.Path(meta))}");
        if (series.FindString("granularity") is { } granularity)
            parts.Add($"granularity: {YamlText.Name(granularity)}");
        else if (series.FindInt64("bucketMaxSpanSeconds") is { } span)
            parts.Add($"bucketMaxSpanSeconds: {span}, bucketRoundingSeconds: {span}");
        return $"{{{string.Join(", ", parts)}}}";
    }

    private static string Collation(BsonDocument collation) => $"{{{string.Join(", ", collation.Where(one => one.Key != "version")
        .Select(one => $"{YamlText.Name(one.Key)}: {YamlText.Value(one.Value)}"))}}}";

    private static string Direction(BsonValue value) =>
        value.IsNumber ? YamlText.Number(value.ToDouble()) : YamlText.Quoted(value.ToString());

    private string Key(BsonDocument index) =>
        $"{{{string.Join(", ", KeyOf(index).Select(one => $"{YamlText.Name(one.Name)}: {one.Kind}"))}}}";

    /// <summary>The key as it was given; listIndexes shows what a text index is made of instead.</summary>
    private IEnumerable<(string Name, string Path, string Kind)> KeyOf(BsonDocument index)
    {
        foreach ((string field, BsonValue value) in index.FindDocument("key") ?? BsonDocument.Empty)
        {
            if (field == "_ftsx")
                continue;
            if (field == "_fts")
            {
                foreach ((string text, _) in index.FindDocument("weights") ?? BsonDocument.Empty)
                    yield return (names.Path(text), text, "text");
                continue;
            }

            yield return (names.Path(field), field, value.IsNumber ? YamlText.Number(value.ToDouble()) : YamlText.Name(value.ToString()));
        }
    }

    private void Partial(BsonDocument filter, List<string> parts, string shown)
    {
        if (Condition(filter, "") is { } text)
            parts.Add($"partialFilterExpression: {text}");
        else
            Notes.Add($"the partialFilterExpression of the index {shown}, which has values of the data; it has all documents here");
    }

    /// <returns>Null where a value has no counterpart.</returns>
    private string? Condition(BsonDocument filter, string path)
    {
        var parts = new List<string>();
        foreach ((string name, BsonValue value) in filter)
        {
            string? text = name switch
            {
                "$and" or "$or" => List(value, item => item.Type == BsonType.Document ? Condition(item.ToDocument(), "") : null),
                "$exists" or "$type" => YamlText.Value(value),
                "$in" => List(value, item => values.Instead(path, item)),
                "$eq" => values.Instead(path, value),
                "$gt" or "$gte" or "$lt" or "$lte" => ValueTally.NumberOf(value) is { } bound ? values.Bound(path, bound, bound)
                    : values.Instead(path, value),
                ['$', ..] => null,
                _ when value.Type == BsonType.Document && value.ToDocument().FirstOrDefault().Key is ['$', ..] =>
                    Condition(value.ToDocument(), name),
                _ => values.Instead(name, value),
            };
            if (text is null)
                return null;
            parts.Add($"{(name is ['$', ..] ? name : YamlText.Name(names.Path(name)))}: {text}");
        }

        return $"{{{string.Join(", ", parts)}}}";
    }

    private static string? List(BsonValue list, Func<BsonValue, string?> write)
    {
        if (list.Type != BsonType.Array)
            return null;
        string?[] items = [.. list.ToDocument().Select(one => write(one.Value))];
        return items.Contains(null) ? null : $"[{string.Join(", ", items)}]";
    }

    /// <summary>The values that a partial index names, but for bounds, with their fields.</summary>
    public static IEnumerable<(string Path, BsonValue Value)> Literals(BsonDocument index) =>
        index.Find("partialFilterExpression") is { } filter ? Literals(filter, "") : [];

    private static IEnumerable<(string Path, BsonValue Value)> Literals(BsonValue value, string path) =>
        value.Type is not (BsonType.Document or BsonType.Array) ? path.Length == 0 ? [] : [(path, value)]
            : value.ToDocument().Where(one => one.Key is not ("$gt" or "$gte" or "$lt" or "$lte" or "$exists" or "$type"))
                .SelectMany(one => Literals(one.Value, value.Type == BsonType.Array || one.Key is ['$', ..] ? path : one.Key));
}
