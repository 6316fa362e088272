using System.Globalization;
using System.Text;
using System.Text.Json;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads values that are written out: YAML's own, and Extended JSON's for the types that YAML has not.</summary>
internal static class LiteralReader
{
    /// <summary>
    /// Plain 5 is an int32, or int64 beyond its range; 5.0 a double; true, false and null are themselves; everything else, and
    /// what is quoted, a text.
    /// </summary>
    public static BsonValue Scalar(ScalarNode scalar)
    {
        if (scalar.IsQuoted)
            return Bson(scalar.Text);
        if (scalar.IsNull)
            return Bson(null);
        if (scalar.Text is "true" or "false")
            return Bson(scalar.Text == "true");
        // A count such as 10k is a text here, at any scale.
        string text = long.TryParse(scalar.Text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out _) ? scalar.InValues
            : scalar.Text;
        if (long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long whole))
            return whole is >= int.MinValue and <= int.MaxValue ? Bson((int)whole) : Bson(whole);
        if (!double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double number)
            || !char.IsAsciiDigit(text[^1]))
            return Bson(text);
        byte[] digits = Encoding.UTF8.GetBytes(text);
        return NumberText.IsHeldBy(number, digits) ? Bson(number)
            : throw MappingReader.Wrong(scalar,
                $"'{text}' is beyond "
                + (NumberText.IsWhole(digits) ? "64 bits, and a double would lose digits of it" : "the range of a double"),
                (digits.Length <= LongestNumber ? $"write {{$numberDecimal: \"{text}\"}}, or " : "") + "put it in quotes for a text");
    }

    /// <summary>Characters of a number that may fit a decimal.</summary>
    private const int LongestNumber = 40;

    private static BsonValue Bson(object? value) => BsonDocument.Of(("v", value)).First().Value;

    private static readonly string[] Wrappers =
        [
            "$oid", "$date", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$binary", "$uuid", "$timestamp",
            "$regularExpression", "$minKey", "$maxKey",
        ];

    /// <summary>A value as in Extended JSON, such as {$numberLong: 5}.</summary>
    public static bool IsWrapper(MappingNode mapping) => mapping.Entries is [{ Name: var name }] && Wrappers.Contains(name);

    /// <summary>Types that YAML has not are written as in Extended JSON.</summary>
    public static BsonValue Wrapped(MappingNode mapping)
    {
        try
        {
            return ExtendedJson.Parse($"{{\"v\": {Json(mapping, mapping.Entries[0].Name is "$minKey" or "$maxKey" or "$timestamp")}}}")
                .First().Value;
        }
        catch (ExtendedJsonException e)
        {
            throw MappingReader.Wrong(mapping, e.Message);
        }
    }

    private static string Json(ScenarioNode node, bool holdsNumbers) => node switch
    {
        MappingNode mapping =>
            $"{{{string.Join(", ", mapping.Entries.Select(e => $"{JsonSerializer.Serialize(e.Name)}: {Json(e.Value, holdsNumbers)}"))}}}",
        ScalarNode scalar when holdsNumbers && long.TryParse(scalar.InValues, out long number) =>
            number.ToString(CultureInfo.InvariantCulture),
        ScalarNode scalar => JsonSerializer.Serialize(scalar.InValues),
        _ => "[]",
    };
}
