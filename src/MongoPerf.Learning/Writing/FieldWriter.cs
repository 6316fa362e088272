using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Writes the fields of a collection's documents as generators: documents, arrays, and which types they have.</summary>
/// <param name="names">What fields are called.</param>
/// <param name="values">Writes single values.</param>
internal sealed class FieldWriter(WrittenNames names, ValueWriter values)
{
    private const int LongestElement = 3000;

    private static readonly string[] Shapes = ["LineString", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"];

    /// <summary>A field whose parts stay together; null for none.</summary>
    public SeriesMeta? Together { get; init; }

    /// <summary>What names begin with in place of those that are data; a number follows.</summary>
    public const string Prefix = "k";

    /// <summary>What is written in another way than it is there, a sentence each.</summary>
    public List<string> Notes { get; } = [];

    /// <summary>The fields of the document itself, each with what generates it.</summary>
    public IEnumerable<(string Name, string Value)> Root(FieldStatistics root)
    {
        TellOddNames(root);
        foreach (FieldStatistics field in root.Fields)
        {
            yield return (YamlText.Name(names.Path(field.Name)),
                WithPresence(Together is { Field: var same } && same.Path == field.Path ? same : field));
        }
    }

    /// <summary>The values of a field or of elements, of whatever types they are.</summary>
    public string Value(FieldStatistics field)
    {
        (BsonType Type, long Count)[] types = [.. field.Types.Select(one => (one.Key, one.Value)).OrderByDescending(one => one.Value)];
        if (types is [var only])
            return OfType(field, only.Type);
        return YamlText.Choice(types.Select(one => OfType(field, one.Type)), types.Select(one => YamlText.Number(one.Count)));
    }

    private string WithPresence(FieldStatistics field) => field.IsAlways || field.Name == "_id" ? Value(field)
        : $"{{^optional: {{share: {YamlText.Number(ShareOf(field))}, of: {Value(field)}}}}}";

    /// <summary>The share of documents that have the field, as the file says it.</summary>
    public static double ShareOf(FieldStatistics field) => Math.Round(field.Presence, 4);

    private string OfType(FieldStatistics field, BsonType type)
    {
        switch (type)
        {
            case BsonType.Document:
                return Place(field) ?? Document(field);
            case BsonType.Array:
                return Array(field);
        }

        if (values.Of(field, type) is { } text)
        {
            return Together is (var together, > 0 and var documents, var key) && text is ['{' or '^', ..]
                && field.Path.StartsWith($"{together.Path}.", StringComparison.Ordinal)
                ? $"{{^distinct: {{values: {documents}, of: {text}{key}, draw: {YamlText.Name(names.Path(together.Path))}}}}}" : text;
        }

        Notes.Add($"values of {names.Path(field.Path)} have the type {type}, which no generator makes: they are null here");
        return "null";
    }

    private string Document(FieldStatistics field)
    {
        if (field.Map is var (count, inner))
        {
            Notes.Add($"the names of fields in {names.Path(field.Path)} are data; every document has the same names here");
            return $"{{^fields: {{count: {NamesOf(count)}, prefix: {Prefix}, value: {Value(inner)}}}}}";
        }

        TellOddNames(field);
        return $"{{{string.Join(", ", field.Fields.Select(one => $"{YamlText.Name(names.Path(one.Name))}: {WithPresence(one)}"))}}}";
    }

    /// <summary>How many names a document of the file has in place of so many.</summary>
    public static int NamesOf(double count) => (int)Math.Clamp(Math.Round(count), 1, 10_000);

    private void TellOddNames(FieldStatistics field)
    {
        if (field.OddNames.Count > 0)
            Notes.Add($"{field.OddNames.Count:N0} field name(s) that a scenario can't have, or that are data"
                + (field.Path.Length > 0 ? $" in {names.Path(field.Path)}" : ""));
    }

    private string Array(FieldStatistics field)
    {
        if (field.Pair is var (first, second))
            return $"[{ValueWriter.Doubles(first)}, {ValueWriter.Doubles(second)}]";
        if (field.Elements is not { } elements)
            return "[]";
        string of = Value(elements);
        // What is long is written once: arrays within arrays would multiply.
        if (of.Length > LongestElement)
        {
            double least = field.Lengths[0];
            double most = Math.Ceiling(Math.Max(least, (2 * field.Lengths.Average()) - least));
            return OfLength($"[{YamlText.Number(least)}, {YamlText.Number(most)}]");
        }

        if (field.HasEvenLengths || field.FewLengths.Count == 0)
            return ValueWriter.OneOf([.. ValueWriter.Lengths(field.Lengths).Select(OfLength)]);
        return YamlText.Choice(field.FewLengths.Select(one => OfLength(YamlText.Number(one.Key))),
            field.FewLengths.Select(one => YamlText.Number(one.Value)));

        string OfLength(string length) => $"{{^array: {{length: {length}, of: {of}}}}}";
    }

    /// <summary>Documents of the field are GeoJSON whose coordinates are others in the file, which has points and polygons.</summary>
    public static bool HasOtherPlaces(FieldStatistics field) => FormsOf(field) is { Length: > 0 } forms
        && !forms.All(form => form == "Polygon") && !(forms.All(form => form == "Point") && field.Fields[1].Pair is not null);

    /// <summary>Documents of the field are points of GeoJSON in the file.</summary>
    public static bool HasPoints(FieldStatistics field) => FormsOf(field) is { Length: > 0 } forms && !forms.All(form => form == "Polygon");

    /// <summary>The forms of GeoJSON that its documents have; empty where they are something else.</summary>
    private static string[] FormsOf(FieldStatistics field) =>
        field.Fields is [{ Name: "type" } type, { Name: "coordinates" } coordinates]
            && type.Values.TryGetValue(BsonType.String, out ValueStatistics? kinds) && coordinates.IsOnly(BsonType.Array)
            && kinds.Values.Select(one => one.Key.ToString()).ToArray() is var found
            && found.All(kind => kind is "Point" or "Polygon" || Shapes.Contains(kind)) ? found : [];

    /// <summary>GeoJSON keeps its form, which an index needs; where the places are is told by the rectangle around them.</summary>
    private string? Place(FieldStatistics field)
    {
        string[] found = FormsOf(field);
        if (found.Length == 0)
            return null;
        if (found.FirstOrDefault(Shapes.Contains) is { } shape)
            Notes.Add($"{names.Path(field.Path)} has places of the form {shape}, which are points here");
        FieldStatistics? at = field.Fields[1];
        while (at is { Pair: null })
            at = at.Elements;
        string within = at?.Pair is var (longitudes, latitudes)
            ? $"{{within: [{Edge(longitudes, 0, -180, 180)}, {Edge(latitudes, 0, -85, 85)}, {Edge(longitudes, 1, -180, 180)}, "
                + $"{Edge(latitudes, 1, -85, 85)}]}}"
            : "{}";
        return found.All(kind => kind == "Polygon") ? $"{{^polygon: {within}}}" : $"{{^point: {within}}}";
    }

    private static string Edge(ValueStatistics degrees, int which, double least, double most)
    {
        (double low, double high) = Rounding.Outward(degrees.Quantiles[0], degrees.Quantiles[^1]);
        return YamlText.Number(Math.Clamp(which == 0 ? low : high, least, most));
    }
}
