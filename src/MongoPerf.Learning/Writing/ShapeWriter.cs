using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Learning.Observing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Writes filters, updates and pipelines of one operation in flow style: where values stood, generators.</summary>
/// <param name="data">What the file says of its data.</param>
/// <param name="collection">The collection, as the deployment calls it.</param>
internal sealed partial class ShapeWriter(IWrittenData data, string collection)
{
    private readonly List<string> _notLearned = [];
    private (double Distinct, KeyDistribution Distribution)? _keys;

    public IReadOnlyList<string> NotLearned => _notLearned;

    /// <summary>How documents are drawn, of the field with the most values; null where none is.</summary>
    public string? Keys => _keys is var (_, keys) ? keys.Kind switch
    {
        KeyDistributionKind.Zipfian => string.Create(CultureInfo.InvariantCulture,
            $"{{zipfian: {{theta: {Theta(keys):0.###}{(keys.IsScrambled ? "" : ", scrambled: false")}}}}}"),
        KeyDistributionKind.Latest => string.Create(CultureInfo.InvariantCulture, $"{{latest: {{theta: {Theta(keys):0.###}}}}}"),
        _ => "uniform",
    } : null;

    /// <summary>A key or a name, quoted where it must be.</summary>
    /// <exception cref="NotWritableException">A scenario can't have it.</exception>
    public static string Key(string name)
    {
        if (name.StartsWith('^') || name.Contains("$(", StringComparison.Ordinal) || name.Contains('\0', StringComparison.Ordinal))
            throw new NotWritableException("a name that a scenario would read as a generator or a parameter");
        return Plain().IsMatch(name) ? name : YamlText.Name(name);
    }

    public string Filter(DocumentShape filter) => Document(filter, Filtered);

    public string Update(DocumentShape update) => Document(update, (name, value) =>
        (Key(name), Document((DocumentShape)value, (path, written) => (Key(data.NameOf(collection, path)), Value(written, path)))));

    public string Pipeline(DocumentShape pipeline) => $"[{string.Join(", ", pipeline.Fields.Select(stage =>
        stage.Value is DocumentShape { IsArray: false } one ? Document(one, Stage) : Value(stage.Value, "")))}]";

    /// <summary>A list of filters.</summary>
    public string List(DocumentShape list) => $"[{string.Join(", ", list.Fields.Select(item =>
        item.Value is DocumentShape { IsArray: false } filter ? Filter(filter) : Value(item.Value, "")))}]";

    public string Expressions(DocumentShape document) =>
        Document(document, (name, value) => (Key(data.NameOf(collection, name)), Value(value, name)));

    private (string, string) Stage(string name, Shape value) => (Key(name), (name, value) switch
    {
        ("$match", DocumentShape filter) => Filter(filter),
        ("$sort", DocumentShape sort) => Expressions(sort),
        _ => Value(value, ""),
    });

    private (string, string) Filtered(string name, Shape value) => name is "$and" or "$or" or "$nor" && value is DocumentShape list
        ? (Key(name), List(list))
        : (Key(name is ['$', ..] ? name : data.NameOf(collection, name)), Value(value, name));

    private string Document(DocumentShape document, Func<string, Shape, (string Name, string Value)> write)
    {
        var fields = new List<string>();
        foreach ((string name, Shape value) in document.Fields)
        {
            if (IsLeftOut(document, value))
                continue;
            (string key, string text) = write(name, value);
            fields.Add($"{key}: {text}");
        }

        return $"{{{string.Join(", ", fields)}}}";
    }

    /// <summary>The distance of two dates can't be written, so that one of them bounds the field.</summary>
    private bool IsLeftOut(DocumentShape document, Shape value)
    {
        if (value is not ValueShape { Role: ValueRole.Below, Values: { MeanWidth: not null } values } || document.Fields.Count < 2
            || !values.Types.ContainsKey(BsonType.DateTime))
            return false;
        _notLearned.Add("upper bounds of dates that have a lower one: they are left out");
        return true;
    }

    private string Value(Shape shape, string name) => shape switch
    {
        ConstantShape constant => Constant(constant.Value),
        ValueShape value => Value(value, name),
        DocumentShape { IsArray: true } list => $"[{string.Join(", ", list.Fields.Select(item => Value(item.Value, name)))}]",
        // Nothing has to equal a bound, and how much a query finds depends on where it lies, which need not be where the field's values do.
        DocumentShape { Fields: [_, ..] } document when document.Fields.All(one => IsKnownBound(one.Value, document.Fields.Count == 1)) =>
            Document(document, (bound, value) => (Key(bound), OfType(((ValueShape)value).Values))),
        DocumentShape document => Document(document, (key, part) => (Key(KeyIn(key)), Value(part, key))),
        _ => throw new NotWritableException("a form that is not known"),
    };

    private string KeyIn(string key) => key is ['$', ..] ? key : data.NameOf(collection, key);

    private string Value(ValueShape value, string name)
    {
        switch (value.Role)
        {
            case ValueRole.Equal or ValueRole.Above or ValueRole.NotEqual when value.Values.ListLength is null && Drawn(value) is { } drawn:
                return drawn;
            case ValueRole.Below when Drawn(value) is { } upper:
                return value.Values.MeanWidth is { } width && IsNumeric(value.Values)
                    ? string.Create(CultureInfo.InvariantCulture, $"{{^add: [{upper}, {Whole(width, value.Values)}]}}") : upper;
            case ValueRole.In or ValueRole.NotEqual when value.Values.ListLength is var (least, most):
                return most == 0 ? "[]" : least == 1 && most == 1 && Drawn(value) is { } only ? $"[{only}]"
                    : $"{{^array: {{length: {(least == most ? $"{least}" : $"[{least}, {most}]")}, of: {OneOfMany(value)}}}}}";
            case ValueRole.In:
                return $"{{^array: {{length: 10, of: {OneOfMany(value)}}}}}";
            case ValueRole.Prefix or ValueRole.Other when name == "$regex" || value.Values.Types.ContainsKey(BsonType.Regex):
                string pattern = $"{{^pattern: \"{(value.Role == ValueRole.Prefix ? "\\\\^" : "")}[a-z]{{{PatternLength(value)}}}\"}}";
                return name == "$regex" ? pattern : $"{{$regex: {pattern}}}";
            case ValueRole.Place:
                string place = data.PlaceOf(collection, value.Field) ?? throw new NotWritableException("the file has no such places");
                return Drawn(value with { Field = place }) ?? data.GeneratorOf(collection, place)!;
            case ValueRole.Written when value.Values.ListLength is var (fewest, greatest):
                return $"{{^array: {{length: [{fewest}, {greatest}], of: {Generated(value)}}}}}";
            default:
                return Generated(value);
        }
    }

    /// <summary>The value of a document that is drawn, so that the operation hits; null where not every document has one.</summary>
    private string? Drawn(ValueShape value)
    {
        if (value.Field.Length == 0 || data.FieldOf(collection, value.Field) is not { } field)
            return null;
        if (_keys is null || value.Values.Distinct > _keys.Value.Distinct)
            _keys = (value.Values.Distinct, value.Values.Keys);
        return field == "_id" ? "^key" : $"{{^field: {Key(field)}}}";
    }

    /// <summary>A value of another document each time.</summary>
    private string OneOfMany(ValueShape value)
    {
        if (data.FieldOf(collection, value.Field) is not { } field || data.CollectionOf(collection) is not { } to)
            return Generated(value);
        KeyDistribution keys = value.Values.Keys;
        string drawn = keys.Kind == KeyDistributionKind.Zipfian ? string.Create(CultureInfo.InvariantCulture,
            $"{{zipfian: {{theta: {Theta(keys):0.###}{(keys.IsScrambled ? "" : ", scrambled: false")}}}}}") : "uniform";
        return $"{{^reference: {{to: {Key(to)}, field: {Key(field)}, key: {drawn}}}}}";
    }

    private string Generated(ValueShape value) =>
        (value.Field.Length > 0 && value.Role != ValueRole.Added ? data.GeneratorOf(collection, value.Field) : null)
            ?? OfType(value.Values);

    /// <summary>A value of the type that most had, with what is known of their size.</summary>
    private static string OfType(ObservedValues values)
    {
        (double least, double most) = values.Range ?? (0, 1000);
        int length = Math.Max(1, (int)Math.Round(values.MeanLength ?? 8));
        BsonType type = values.Types.Count > 0 ? values.Types.MaxBy(one => one.Value).Key : BsonType.Null;
        return type switch
        {
            BsonType.Int32 or BsonType.Int64 when least == most => least.ToString("0", CultureInfo.InvariantCulture),
            BsonType.Int32 when least >= int.MinValue && most <= int.MaxValue => Range("^int", least, most, "0"),
            BsonType.Int32 or BsonType.Int64 => Range("^long", Math.Max(least, -9.2e18), Math.Min(most, 9.2e18), "0"),
            BsonType.Double when least == most => YamlText.Double(least),
            BsonType.Double => Range("^double", least, most, "0.##########"),
            BsonType.Decimal128 => Range("^decimal", Math.Max(least, -1e12), Math.Min(most, 1e12), "0.00"),
            BsonType.Boolean => "^bool",
            BsonType.String or BsonType.Symbol => $"{{^string: {length}}}",
            BsonType.DateTime => $"{{^date: {{from: {Day(least)}, to: {Day(most, after: 1)}}}}}",
            BsonType.ObjectId => "^objectId",
            BsonType.Binary => $"{{^binary: {length}}}",
            BsonType.Array => "[]",
            BsonType.Document => "{}",
            _ => "null",
        };
    }

    private static string Range(string generator, double least, double most, string format)
    {
        string low = least.ToString(format, CultureInfo.InvariantCulture);
        string high = most.ToString(format, CultureInfo.InvariantCulture);
        return $"{{{generator}: [{low}, {high}]}}";
    }

    private static string Day(double milliseconds, int after = 0)
    {
        double days = Math.Clamp(milliseconds / 86_400_000, -25_000, 100_000) + after;
        return DateTime.UnixEpoch.AddDays(days).ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
    }

    /// <summary>A constant of the form; texts that name fields get the file's names.</summary>
    private string Constant(BsonValue value)
    {
        if (value.Type != BsonType.String)
            return YamlText.Value(value);
        string text = value.ToString();
        if (text.Contains("$(", StringComparison.Ordinal))
            throw new NotWritableException("a text that a scenario would read as a parameter");
        return YamlText.Quoted(text is ['$', not '$', ..] ? $"${data.NameOf(collection, text[1..])}" : data.CollectionOf(text) ?? text);
    }

    private static double Theta(KeyDistribution keys) => Math.Clamp(keys.Theta, 0.001, 0.999);

    private static int PatternLength(ValueShape value) => (int)Math.Clamp(Math.Round(value.Values.MeanLength ?? 4) - 1, 1, 20);

    private static bool IsNumeric(ObservedValues values) =>
        values.Types.Keys.All(type => type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128);

    /// <summary>A bound that is always the same number of one or two digits, or, as the only one, spread evenly over a range.</summary>
    private static bool IsKnownBound(Shape shape, bool isOnly) =>
        shape is ValueShape { Role: ValueRole.Above or ValueRole.Below, Values: var values } && IsNumeric(values)
        && (values is { Distinct: 1, Range: var (least, most) } ? least == most && values.Types.Values.Sum() >= KeyFit.LeastDraws
            : isOnly && values.IsEven && values.Keys.Kind is not (KeyDistributionKind.Zipfian or KeyDistributionKind.Latest));

    private static string Whole(double width, ObservedValues values) => values.Types.ContainsKey(BsonType.Double)
        ? YamlText.Double(width) : Math.Max(1, Math.Round(width)).ToString("0", CultureInfo.InvariantCulture);

    [GeneratedRegex(@"\A\$?[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*\z")]
    private static partial Regex Plain();
}
