using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Learning.Observing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Writes filters, updates and pipelines of one operation in flow style: where values stood, generators.</summary>
/// <remarks>
/// A value that always or often stood there is the file's counterpart of it. Another one is that of a document that is drawn, so that the
/// operation hits; or none that a document has, as often as replies said that nothing was found.
/// </remarks>
/// <param name="data">What the file says of its data.</param>
/// <param name="operation">The operation that is written.</param>
internal sealed partial class ShapeWriter(IWrittenData data, LearnedOperation operation)
{
    /// <summary>Shares of replies that tell hardly anything else from none, and from all.</summary>
    private const double HardlyAny = 0.02, NearlyAll = 0.98;

    /// <summary>Replies that found something may be so many fewer or more than is expected.</summary>
    private const double Tolerance = 0.05;

    private readonly string _collection = operation.Collection;
    private readonly List<string> _notLearned = [];
    private (double Distinct, KeyDistribution Distribution, int First)? _keys;
    private bool _hasMissed;
    private bool _areTogether;

    public IReadOnlyList<string> NotLearned => _notLearned;

    /// <summary>How documents are drawn, of the field with the most values; null where none is.</summary>
    public string? Keys => _keys is var (_, keys, first) ? keys.Kind switch
    {
        _ when first > 0 => string.Create(CultureInfo.InvariantCulture, $"{{first: {first}}}"),
        KeyDistributionKind.Zipfian => string.Create(CultureInfo.InvariantCulture,
            $"{{zipfian: {{theta: {Theta(keys):0.###}{(keys.IsScrambled ? "" : ", scrambled: false")}}}}}"),
        KeyDistributionKind.Sequential => "sequential",
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
        (Key(name), OneOfNames((DocumentShape)value)
            ?? Document((DocumentShape)value, (path, written) => (Key(data.NameOf(_collection, path)), Written(written, path)))));

    /// <summary>A change of one field whose name is data: any of those that documents have.</summary>
    private string? OneOfNames(DocumentShape fields) => fields.Fields is [var (path, written)]
        && path.EndsWith($".{DataNames.Any}", StringComparison.Ordinal) && path[..^2] is var parent
        && data.NamesAt(_collection, parent) is { } count
            ? $"{{^fields: {{count: {count}, prefix: {YamlText.Quoted($"{data.NameOf(_collection, parent)}.{FieldWriter.Prefix}")}, "
                + $"value: {Value(written, path)}, pick: one}}}}" : null;

    /// <summary>A value that is set: a point of GeoJSON is one of the field's, and not made up part by part.</summary>
    private string Written(Shape shape, string path) =>
        shape is DocumentShape { IsArray: false } document && document.Fields.Any(one => one.Key == "coordinates")
        && data.PlaceOf(_collection, path) is { } place && data.GeneratorOf(_collection, place) is { } point ? point : Value(shape, path);

    public string Pipeline(DocumentShape pipeline) => $"[{string.Join(", ", pipeline.Fields.Select(stage =>
        stage.Value is DocumentShape { IsArray: false } one ? Document(one, Stage) : Value(stage.Value, "")))}]";

    /// <summary>A list of filters.</summary>
    public string List(DocumentShape list) => $"[{string.Join(", ", list.Fields.Select(item =>
        item.Value is DocumentShape { IsArray: false } filter ? Filter(filter) : Value(item.Value, "")))}]";

    public string Expressions(DocumentShape document) =>
        Document(document, (name, value) => (Key(data.NameOf(_collection, name)), Value(value, name)));

    private (string, string) Stage(string name, Shape value) => (Key(name), (name, value) switch
    {
        ("$match", DocumentShape filter) => Filter(filter),
        ("$sort", DocumentShape sort) => Expressions(sort),
        _ => Value(value, ""),
    });

    private (string, string) Filtered(string name, Shape value) => name is "$and" or "$or" or "$nor" && value is DocumentShape list
        ? (Key(name), List(list))
        : (Key(name is ['$', ..] ? name : data.NameOf(_collection, name)), Value(value, name));

    private string Document(DocumentShape document, Func<string, Shape, (string Name, string Value)> write)
    {
        var fields = new List<string>();
        foreach ((string name, Shape value) in document.Fields)
        {
            (string key, string text) = write(name, value);
            fields.Add($"{key}: {text}");
        }

        return $"{{{string.Join(", ", fields)}}}";
    }

    private string Value(Shape shape, string name) => shape switch
    {
        DocumentShape { IsArray: false, Fields: [{ Value: ValueShape { Role: ValueRole.NotEqual } known }] }
            when IsOfKnownDocument(known) => AsOftenAsSeen(),
        ConstantShape constant => Constant(constant.Value),
        ValueShape value => Value(value, name),
        DocumentShape { IsArray: true } list => $"[{string.Join(", ", list.Fields.Select(item => Value(item.Value, name)))}]",
        // Nothing has to equal a bound, and how much a query finds depends on where it lies, which need not be where the field's values do.
        DocumentShape { Fields: [_, ..] } document when document.Fields.All(one => IsKnownBound(one.Value, document.Fields.Count == 1)) =>
            Document(document, (bound, value) => (Key(bound), Bound((ValueShape)value) ?? OfType(((ValueShape)value).Seen))),
        DocumentShape document when Window(document) is var (lower, upper) => Document(document, (bound, part) => (Key(bound),
            part is ValueShape { Role: ValueRole.Above } ? lower
                : part is ValueShape { Role: ValueRole.Below } ? upper : Value(part, bound))),
        DocumentShape document => Document(document, (key, part) => (Key(KeyIn(key)), Value(part, key))),
        _ => throw new NotWritableException("a form that is not known"),
    };

    /// <summary>Two bounds of numbers or dates, as far apart as they were; null where there are not two.</summary>
    private (string Lower, string Upper)? Window(DocumentShape document)
    {
        if (Bounds(document) is not ([var lower], [{ Seen: { MeanWidth: { } width } } upper]))
            return null;
        if (lower.Seen.Ends is { } from && upper.Seen.Ends is { } to && lower.Seen.Types.Values.Sum() >= KeyFit.LeastDraws
            && data.WindowOf(_collection, upper.Field, from, to, width) is { } window)
            return window;
        return (Bound(lower) is null || Bound(upper) is null) && Drawn(lower) is { } drawn
            ? (drawn, $"{{^add: [{drawn}, {Width(upper.Seen, width)}]}}") : null;
    }

    private static (ValueShape[] Lower, ValueShape[] Upper) Bounds(DocumentShape document)
    {
        ValueShape[] values = [.. document.Fields.Select(one => one.Value).OfType<ValueShape>()];
        return ([.. values.Where(one => one.Role == ValueRole.Above)], [.. values.Where(one => one.Role == ValueRole.Below)]);
    }

    /// <summary>How far two bounds are apart: as it was, where it was one of few; otherwise the mean.</summary>
    private static string Width(ObservedValues upper, double mean)
    {
        string[] few = [.. upper.Widths.Select(one => Whole(one.Key, upper))];
        return few.Length == 0 ? Whole(upper.Types.ContainsKey(BsonType.DateTime) ? Rounding.Rough(mean) : mean, upper)
            : few.Length == 1 ? few[0] : Weighted([.. few.Zip(upper.Widths, (text, one) => (text, (double)one.Value))]);
    }

    /// <summary>Where so many documents lie below it as did; null where that differs from one operation to the next.</summary>
    private string? Bound(ValueShape value) => value.Seen is { Ends: var (least, greatest) } seen
        && seen.Types.Values.Sum() >= KeyFit.LeastDraws ? data.BoundOf(_collection, value.Field, least, greatest) : null;

    /// <summary>
    /// A bound so placed that as many documents are found as replies said; null where those of a document that is drawn do that, and where
    /// nobody can tell.
    /// </summary>
    private string? Placed(ValueShape bound)
    {
        if (operation is not ({ Kind: "find" or "count" } or { Kind: "update", IsMany: true }) || operation.Skip is not null
            || operation.Replies is not { AreEnough: true, Failed: < HardlyAny } replies || operation.Filter is not { } filter
            || filter.Values.Count(one => one.Role is ValueRole.Above or ValueRole.Below) > 1
            || BoundFit.Others(filter, bound, data, _collection) is not { } matches)
            return null;
        double limit = operation.Limit ?? double.PositiveInfinity;
        // Of documents that are drawn unevenly nobody knows where they lie.
        bool areEven = filter.Values.All(one => one.Seen.Few.Count > 0 || one.Seen.Keys is { IsScrambled: true }
            or { Kind: KeyDistributionKind.Uniform or KeyDistributionKind.Unknown });
        double share = BoundFit.ShareOf(replies, matches, limit, areEven);
        return double.IsNaN(share) ? null
            : data.BoundAt(_collection, bound.Field, bound.Role == ValueRole.Below ? share : 1 - share);
    }

    private string KeyIn(string key) => key is ['$', ..] ? key : data.NameOf(_collection, key);

    private string Value(ValueShape value, string name)
    {
        if (value.Role == ValueRole.Equal && IsOfKnownDocument(value))
            return AsOftenAsSeen();
        if (Few(value) is { } few)
            return few;
        switch (value.Role)
        {
            case ValueRole.Above or ValueRole.Below when Bound(value) is { } bound:
                return bound;
            case ValueRole.Equal when Drawn(value) is { } drawn:
                return Missing(value, drawn);
            // What the document that is drawn has would leave out this one, whatever else the filter says.
            case ValueRole.NotEqual when value.Seen.ListLength is null && data.FieldOf(_collection, value.Field) is not null:
                return OneOfMany(value);
            case ValueRole.Above or ValueRole.Below when Placed(value) is { } placed:
                return placed;
            case ValueRole.Above or ValueRole.Below when Drawn(value) is { } own:
                return own;
            case ValueRole.In or ValueRole.NotEqual when value.Seen.ListLength is var (least, most):
                return most == 0 ? "[]" : least == 1 && most == 1 && Drawn(value) is { } only ? $"[{only}]"
                    : $"{{^array: {{length: {(least == most ? $"{least}" : $"[{least}, {most}]")}, of: {OneOfMany(value)}}}}}";
            case ValueRole.In:
                return $"{{^array: {{length: 10, of: {OneOfMany(value)}}}}}";
            case ValueRole.Other when name == "$search" && data.SearchOf(_collection) is { } word:
                return Searched(word);
            case ValueRole.Prefix or ValueRole.Other when name == "$regex" || value.Seen.Types.ContainsKey(BsonType.Regex):
                string pattern = $"{{^pattern: \"{(value.Role == ValueRole.Prefix ? "\\\\^" : "")}[a-z]{{{PatternLength(value)}}}\"}}";
                return name == "$regex" ? pattern : $"{{$regex: {pattern}}}";
            case ValueRole.Place:
                string place = data.PlaceOf(_collection, value.Field) ?? throw new NotWritableException("the file has no such places");
                return Drawn(value with { Field = place }) ?? data.GeneratorOf(_collection, place)!;
            case ValueRole.Written when value.Seen.ListLength is var (fewest, greatest):
                return $"{{^array: {{length: [{fewest}, {greatest}], of: {Generated(value)}}}}}";
            default:
                return Generated(value);
        }
    }

    /// <summary>
    /// Whether a condition is about the one document that another one names, and only the application knew if it holds: the version that
    /// an update is to find and then changes, or that a reader has already. What documents have now doesn't tell it.
    /// </summary>
    private bool IsOfKnownDocument(ValueShape value) =>
        operation.Replies is { AreEnough: true } && !operation.IsUpsert && value.Seen.Few.Count == 0 && value.Seen.ListLength is null
        && operation.Kind is "find" or "update" or "replace" or "findAndModify"
        && (value.Role == ValueRole.NotEqual || IsChanged(value.Field))
        && operation.Filter!.Fields.Any(one => one.Value is ValueShape { Role: ValueRole.Equal } other && other.Field != value.Field
            && !IsChanged(other.Field) && data.FieldOf(_collection, other.Field) is not null
            && data.DocumentsPerValue(_collection, other.Field) < 1.5);

    /// <summary>Whether the operation itself changes the field.</summary>
    private bool IsChanged(string field) =>
        operation.Update is { } update
        && update.Fields.Any(one => one.Value is DocumentShape changes && changes.Fields.Any(change => change.Key == field));

    /// <summary>A condition that holds for a document as often as the operations found one.</summary>
    private string AsOftenAsSeen()
    {
        double found = 1 - operation.Replies!.Nothing;
        return found >= NearlyAll ? "{$exists: true}" : found <= HardlyAny ? "{$exists: false}"
            : Weighted([("{$exists: true}", found), ("{$exists: false}", 1 - found)]);
    }

    /// <summary>The value of a document that is drawn, so that the operation hits; null where not every document has one.</summary>
    private string? Drawn(ValueShape value)
    {
        if (value.Field.Length == 0 || data.FieldOf(_collection, value.Field) is not { } field)
            return null;
        // Of few documents among many it does not matter which they are.
        int first = value.Seen.Few.Count > 0 && data.DocumentsPerValue(_collection, value.Field) < 1.5 ? value.Seen.Few.Count : 0;
        if (_keys is null || value.Seen.Distinct > _keys.Value.Distinct)
            _keys = (value.Seen.Distinct, value.Seen.Keys, first);
        return field == "_id" ? "^key" : $"{{^field: {Key(field)}}}";
    }

    /// <summary>The file's counterparts of few values, as often as they came; null where there are none, or documents are drawn.</summary>
    private string? Few(ValueShape value)
    {
        if (Paired(value) is { } paired)
            return paired;
        IReadOnlyList<KeyValuePair<BsonValue, long>> few = value.Seen.Few;
        if (few.Count == 0 || value.Field.Length == 0
            || value.Role is not (ValueRole.Equal or ValueRole.In or ValueRole.NotEqual or ValueRole.Written)
            || (value.Role is ValueRole.Equal or ValueRole.In && !Fits(value)))
            return null;
        (string? Made, long Count)[] made = [.. few.Select(one => (data.ValueOf(_collection, value.Field, one.Key), one.Value))];
        if (Array.Exists(made, one => one.Made is null))
            return null;
        (string Made, double Count)[] different =
            [.. made.GroupBy(one => one.Made!).Select(one => (one.Key, (double)one.Sum(part => part.Count)))];
        string one = different is [var only] ? only.Made : Weighted(different);
        return value.Seen.ListLength is not var (least, most) ? one
            : least == most && most == made.Length && different.Length == made.Length
                ? $"[{string.Join(", ", different.Select(part => part.Made))}]"
            : $"{{^array: {{length: {(least == most ? $"{least}" : $"[{least}, {most}]")}, of: {one}}}}}";
    }

    /// <summary>
    /// A value that belongs to another one: both are drawn together, or, where that of a document that is drawn is asked for, the written
    /// one follows from it. Null for all other values.
    /// </summary>
    private string? Paired(ValueShape value)
    {
        if (operation.Pair is not { } pair)
            return null;
        (string? Asked, string? Written, double Count)[] made = [.. pair.Values.Select(one =>
            (data.ValueOf(_collection, pair.Filter, one.Asked), data.ValueOf(_collection, pair.Update, one.Written), one.Count))];
        if (Array.Exists(made, one => one.Asked is null || one.Written is null))
            return null;
        bool areTogether = value.Role == ValueRole.Equal ? value.Field == pair.Filter && value.Seen.Few.Count > 1 && Fits(value)
            : _areTogether;
        if (value.Role == ValueRole.Equal && value.Field == pair.Filter)
        {
            _areTogether = areTogether;
            return areTogether ? Together(made.Select(one => one.Asked!)) : null;
        }

        if (value.Role != ValueRole.Written || value.Field != pair.Update)
            return null;
        return areTogether ? Together(made.Select(one => one.Written!))
            : data.FieldOf(_collection, pair.Filter) is { } field && pair.Values.All(one => one.Asked.Type is BsonType.String
                or BsonType.Boolean or BsonType.Int32)
                ? $"{{^choice: {{by: {{^field: {Key(field)}}}, of: {{{string.Join(", ", made.GroupBy(one => one.Asked!).Select(one =>
                    $"{one.Key}: {OneOf([.. one.Select(pair => (pair.Written!, pair.Count))])}"))}}}}}}}" : null;

        string Together(IEnumerable<string> values)
        {
            double all = made.Sum(one => one.Count);
            return $"{{^choice: {{of: [{string.Join(", ", values)}], weights: [{string.Join(", ", made.Select(one =>
                YamlText.Number(Math.Max(0.001, Math.Round(100 * one.Count / all, 2)))))}], draw: pair}}}}";
        }

        static string OneOf((string Value, double Count)[] values) => values is [var only] ? only.Value : Weighted(values);
    }

    /// <summary>
    /// Whether queries for these values find as often as replies said, beside what else the filter asks for; otherwise they were those of
    /// the document that it is about.
    /// </summary>
    private bool Fits(ValueShape value)
    {
        double all = value.Seen.Few.Sum(one => one.Value);
        double share = value.Seen.Few.Sum(one => data.ShareOf(_collection, value.Field, one.Key) * one.Value / all);
        double? found = operation.Replies is { AreEnough: true } replies ? 1 - replies.Nothing - replies.Failed : null;
        if (share == 0)
        {
            if (found is null or < 0.5)
                return true;
            _notLearned.Add(FormattableString.Invariant(
                $"a value that {100 * found:0} % of these operations found, and that no document has now: they ask for others here"));
            return false;
        }

        // Each document that is drawn by another field has one of its values.
        double[] others =
        [
            .. (operation.Filter?.Values ?? []).Where(one => one.Role == ValueRole.Equal && one.Seen.Few.Count == 0
                && data.FieldOf(_collection, one.Field) is not null).Select(one => data.DocumentsPerValue(_collection, one.Field)),
        ];
        if (others.Length == 0)
            return true;
        double expected = others.Min() is var documents && documents < 1.5 ? Math.Min(1, share) : 1 - Math.Exp(-documents * share);
        return found is not { } seen ? value.Seen.Few.Count == 1 && expected >= 0.5
            : Math.Abs(seen - expected) <= Math.Max(1 - seen, Tolerance);
    }

    /// <summary>A value that no document has, as often as nothing was found; once in an operation.</summary>
    private string Missing(ValueShape value, string drawn)
    {
        if (_hasMissed || Misses is not (> HardlyAny and var misses))
            return drawn;
        _hasMissed = true;
        if (data.AbsentOf(_collection, value.Field) is not { } absent)
        {
            _notLearned.Add(FormattableString.Invariant($"that {100 * misses:0} % of these operations found nothing"));
            return drawn;
        }

        return misses >= NearlyAll ? absent : Weighted([(drawn, 1 - misses), (absent, misses)]);
    }

    /// <summary>A word that documents have, or one that none has, as often as nothing was found.</summary>
    private string Searched(string word)
    {
        double misses = operation.Replies is { AreEnough: true } replies ? replies.Nothing : 0;
        return misses >= NearlyAll ? SearchedWords.None : misses <= HardlyAny ? word
            : Weighted([(word, 1 - misses), (SearchedWords.None, misses)]);
    }

    /// <summary>The share of operations that ask for values that no document has, since they found nothing.</summary>
    public double Misses
    {
        get
        {
            if (operation.Misses is { } known)
                return known;
            if (operation.Replies is not { AreEnough: true } replies)
                return 0;
            // Later ones find nothing where earlier ones have removed it, here too.
            bool removes = operation.Kind == "delete" || operation.IsRemove;
            ValueShape[] places = [.. operation.Filter?.Values ?? []];
            if (Array.Exists(places, IsOfKnownDocument))
                return 0;
            bool isExplained = Array.Exists(places, one => one.Seen.Few.Count > 0 || one.Role != ValueRole.Equal);
            return operation.Kind is not ("find" or "count" or "distinct" or "update" or "replace" or "delete" or "findAndModify")
                || (replies.Nothing < NearlyAll && (removes || isExplained))
                || Array.Exists(places, one => one.Role == ValueRole.Equal && one.Seen.Few.Count > 0
                    && one.Seen.Few.All(few => data.ShareOf(_collection, one.Field, few.Key) == 0)) ? 0 : replies.Nothing;
        }
    }

    private static string Weighted(IReadOnlyList<(string Value, double Count)> parts)
    {
        double all = parts.Sum(one => one.Count);
        return YamlText.Choice(parts.Select(one => one.Value),
            parts.Select(one => YamlText.Number(Math.Max(0.001, Math.Round(100 * one.Count / all, 2)))));
    }

    /// <summary>A value of another document each time.</summary>
    private string OneOfMany(ValueShape value)
    {
        if (data.FieldOf(_collection, value.Field) is not { } field || data.CollectionOf(_collection) is not { } to)
            return Generated(value);
        KeyDistribution keys = value.Seen.Keys;
        string drawn = keys.Kind == KeyDistributionKind.Zipfian ? string.Create(CultureInfo.InvariantCulture,
            $"{{zipfian: {{theta: {Theta(keys):0.###}{(keys.IsScrambled ? "" : ", scrambled: false")}}}}}") : "uniform";
        return $"{{^reference: {{to: {Key(to)}, field: {Key(field)}, key: {drawn}}}}}";
    }

    private string Generated(ValueShape value) =>
        (value.Field.Length > 0 && value.Role != ValueRole.Added ? data.GeneratorOf(_collection, value.Field) : null)
            ?? OfType(value.Seen);

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
        return YamlText.Quoted(text is ['$', not '$', ..] ? $"${data.NameOf(_collection, text[1..])}" : data.CollectionOf(text) ?? text);
    }

    private static double Theta(KeyDistribution keys) => Math.Clamp(keys.Theta, 0.001, 0.999);

    private static int PatternLength(ValueShape value) => (int)Math.Clamp(Math.Round(value.Seen.MeanLength ?? 4) - 1, 1, 20);

    private static bool IsNumeric(ObservedValues values) =>
        values.Types.Keys.All(type => type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128);

    /// <summary>A bound that is always the same number of one or two digits, or, as the only one, spread evenly over a range.</summary>
    private static bool IsKnownBound(Shape shape, bool isOnly) =>
        shape is ValueShape { Role: ValueRole.Above or ValueRole.Below, Seen: var values } && IsNumeric(values)
        && (values is { Distinct: 1, Range: var (least, most) } ? least == most && values.Types.Values.Sum() >= KeyFit.LeastDraws
            : isOnly && values.IsEven && values.Keys.Kind is not (KeyDistributionKind.Zipfian
                or KeyDistributionKind.Latest or KeyDistributionKind.Sequential));

    private static string Whole(double width, ObservedValues values) => values.Types.ContainsKey(BsonType.Double)
        ? YamlText.Double(width) : Math.Max(1, Math.Round(width)).ToString("0", CultureInfo.InvariantCulture);

    [GeneratedRegex(@"\A\$?[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*\z")]
    private static partial Regex Plain();
}
