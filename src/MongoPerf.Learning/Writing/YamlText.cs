using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Names and values as a scenario writes them, in flow style.</summary>
internal static partial class YamlText
{
    /// <summary>As it is where YAML reads it as a text, quoted otherwise.</summary>
    public static string Name(string name) => Plain().IsMatch(name) && !Reserved().IsMatch(name) ? name : Quoted(name);

    /// <summary>A sentence in a comment: what a server says can't begin a line of its own.</summary>
    public static string Comment(string text) =>
        string.Concat(text.Select(c => char.IsControl(c) || c is '\u2028' or '\u2029' ? '?' : c));

    public static string Quoted(string text) => JsonSerializer.Serialize(text);

    public static string Number(double number) =>
        number == Math.Floor(number) && Math.Abs(number) < 1e18 ? ((long)number).ToString(CultureInfo.InvariantCulture)
            : number.ToString("0.######", CultureInfo.InvariantCulture) is var text && text != "0" ? text
            : number.ToString("R", CultureInfo.InvariantCulture);

    /// <summary>A double that is read as one.</summary>
    public static string Double(double number) => Number(number) is var text && text.All(c => char.IsAsciiDigit(c) || c == '-')
        ? $"{text}.0" : text;

    /// <summary>One of several values or generators.</summary>
    /// <param name="values">They.</param>
    /// <param name="weights">How often each comes, against the others; null for equally often.</param>
    public static string Choice(IEnumerable<string> values, IEnumerable<string>? weights = null) =>
        $"{{^choice: {{of: [{string.Join(", ", values)}]{(weights is null ? "" : $", weights: [{string.Join(", ", weights)}]")}}}}}";

    /// <summary>A value of the deployment as it is.</summary>
    public static string Value(BsonValue value) => value.Type switch
    {
        BsonType.String => Quoted(value.ToString()),
        BsonType.Boolean => value.ToBoolean() ? "true" : "false",
        BsonType.Null => "null",
        BsonType.Int32 => value.ToString(),
        BsonType.Double when double.IsFinite(value.ToDouble()) => Exact(value.ToDouble()),
        BsonType.Document => $"{{{string.Join(", ", value.ToDocument().Select(one => $"{Name(one.Key)}: {Value(one.Value)}"))}}}",
        BsonType.Array => $"[{string.Join(", ", value.ToDocument().Select(one => Value(one.Value)))}]",
        _ => Wrapped(value),
    };

    private static string Exact(double number) => number.ToString("R", CultureInfo.InvariantCulture) is var text
        && text.All(c => char.IsAsciiDigit(c) || c == '-') ? $"{text}.0" : text;

    private static string Wrapped(BsonValue value)
    {
        string json = ExtendedJson.Write(BsonDocument.Of(("v", value)).Bytes, ExtendedJsonMode.Canonical);
        int from = json.IndexOf(':', StringComparison.Ordinal) + 1;
        return json[from..json.LastIndexOf('}')].Trim();
    }

    [GeneratedRegex(@"\A[A-Za-z_][A-Za-z0-9_]*\z")]
    private static partial Regex Plain();

    /// <summary>What YAML 1.1 or 1.2 reads as something else than a text.</summary>
    [GeneratedRegex("^(true|false|null|yes|no|on|off|y|n)$", RegexOptions.IgnoreCase)]
    private static partial Regex Reserved();
}
