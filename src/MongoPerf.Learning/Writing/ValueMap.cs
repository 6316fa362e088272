using System.Globalization;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>
/// What the file has in place of a collection's values, the same wherever a value stands: in documents, filters, updates, indexes and
/// validators.
/// </summary>
/// <param name="collection">The collection's name in the deployment.</param>
/// <param name="root">Its documents.</param>
/// <param name="kept">Paths whose values may be in the file.</param>
/// <param name="watched">Of a path, the values that operations and indexes name; they need a counterpart, however rare they are.</param>
internal sealed class ValueMap(string collection, FieldStatistics root, IReadOnlySet<string> kept,
    IReadOnlyDictionary<string, IReadOnlyCollection<BsonValue>> watched)
{
    /// <summary>Bounds that lie within this share of the documents are one.</summary>
    private const double Narrow = 0.05;

    private const int LongestPattern = 100;

    /// <summary>Below it each whole double is another number.</summary>
    private const double Exact = 1L << 53;

    /// <summary>Ranges that differ by less are one.</summary>
    private const double Same = 0.02;

    /// <summary>Fewer of each value in a sample tell nothing of how often it comes.</summary>
    private const double LeastPerValue = 3;

    /// <summary>The times of ObjectIds, whole seconds, tell a share of no less than so many milliseconds.</summary>
    private const double LeastTime = 50_000;

    private readonly Dictionary<string, Dictionary<string, string>> _tokens = new(StringComparer.Ordinal);
    private readonly Dictionary<string, List<(double Real, double Made)>> _numbers = new(StringComparer.Ordinal);
    private readonly Dictionary<string, (BsonType Type, double[] Knots, long Shift)> _ranges = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Dictionary<string, double>> _shares = new(StringComparer.Ordinal);

    /// <summary>Paths of which no two documents have the same value in the file.</summary>
    public HashSet<string> MadeUnique { get; } = new(StringComparer.Ordinal);

    /// <summary>Its values may be in the file.</summary>
    public bool IsKept(string path) => kept.Contains(path);

    /// <summary>Those of the values that are watched, each once.</summary>
    public IEnumerable<KeyValuePair<BsonValue, long>> WatchedOf(string path, ValueStatistics values)
    {
        HashSet<string> keys = [.. (watched.GetValueOrDefault(path) ?? []).Select(KeyOf)];
        return keys.Count == 0 ? [] : values.Values.Where(one => keys.Contains(KeyOf(one.Key)));
    }

    /// <summary>From now on the file has these in place of those.</summary>
    public void Replace(string path, IReadOnlyList<KeyValuePair<BsonValue, long>> values, IReadOnlyList<string> made)
    {
        Dictionary<string, string> tokens = TokensOf(path);
        for (int i = 0; i < made.Count; i++)
            tokens[KeyOf(values[i].Key)] = made[i];
    }

    /// <summary>The same for numbers, by which bounds are placed between them.</summary>
    /// <param name="path">The field.</param>
    /// <param name="values">All that its documents have, ascending.</param>
    /// <param name="made">What stands in their place, ascending.</param>
    public void Place(string path, IEnumerable<double> values, IEnumerable<double> made) => _numbers[path] = [.. values.Zip(made)];

    /// <summary>The documents' values lie evenly between these edges of parts that have equally many.</summary>
    /// <param name="path">The field.</param>
    /// <param name="type">Theirs; the edges of dates, and of times of ObjectIds, are milliseconds since 1970.</param>
    /// <param name="knots">At least two, ascending.</param>
    /// <param name="shift">By how much the file's dates are later.</param>
    public void Stretch(string path, BsonType type, double[] knots, long shift = 0) => _ranges[path] = (type, knots, shift);

    /// <summary>What the file has in place of a value; null where nobody knows what its generators make of it.</summary>
    public string? Instead(string path, BsonValue value)
    {
        path = PathOf(path);
        if (value.Type is BsonType.Boolean or BsonType.Null || kept.Contains(path))
            return YamlText.Value(value);
        if (_tokens.GetValueOrDefault(path)?.GetValueOrDefault(KeyOf(value)) is { } known)
            return known;
        // What documents have without a counterpart is one of many values.
        if ((MadeUnique.Contains(path) && value.Type != BsonType.ObjectId) || ShareOf(path, value) > 0
            || MakeAbsent(path, value) is not { } made)
            return null;
        TokensOf(path)[KeyOf(value)] = made;
        return made;
    }

    /// <summary>What the file has in place of a bound, so that the same share of its documents lies below it.</summary>
    /// <param name="path">The field.</param>
    /// <param name="least">The least of the bounds that came.</param>
    /// <param name="greatest">The greatest.</param>
    /// <returns>Null where bounds lie too far apart to be one, or the field has no numbers or dates.</returns>
    public string? Bound(string path, double least, double greatest)
    {
        path = PathOf(path);
        if (ScalarsAt(path)?.Values.Values.Where(IsOrdered).MaxBy(one => one.Count) is not { } values)
            return null;
        (double below, double most) = (values.ShareBelow(least), values.ShareBelow(greatest));
        if (most - below > Narrow)
            return null;
        if (_numbers.TryGetValue(path, out List<(double Real, double Made)>? few))
            return few.FindIndex(one => one.Real >= greatest) is var next && next >= 0 && few[next].Real == greatest
                ? Written(values.Type, few[next].Made)
                : Written(values.Type, next < 0 ? few[^1].Made + 1 : next == 0 ? few[0].Made - 1
                    : (few[next - 1].Made + few[next].Made) / 2);
        return BoundAt(path, (below + most) / 2);
    }

    /// <summary>What has this share of the file's documents below it; null where nobody knows what they have.</summary>
    /// <param name="path">The field.</param>
    /// <param name="share">From 0 to 1.</param>
    public string? BoundAt(string path, double share)
    {
        path = PathOf(path);
        if (!_ranges.TryGetValue(path, out (BsonType Type, double[] Knots, long Shift) range)
            || (range.Type == BsonType.ObjectId && range.Knots[^1] - range.Knots[0] < LeastTime))
            return null;
        bool isWhole = ScalarsAt(path)?.Values.GetValueOrDefault(range.Type)?.IsWhole is true;
        return Written(range.Type, At(range.Knots, share, range.Type, isWhole) + range.Shift);
    }

    /// <summary>What the file has in place of two bounds that hardly move, so that as many documents lie between them.</summary>
    /// <param name="path">The field.</param>
    /// <param name="lower">The least and the greatest of the lower bounds.</param>
    /// <param name="upper">The same of the upper ones.</param>
    /// <param name="width">How far they were apart on average.</param>
    /// <returns>Null where they move, or the field has few values, or no numbers or dates.</returns>
    public (string Lower, string Upper)? Window(
        string path, (double Least, double Greatest) lower, (double Least, double Greatest) upper, double width)
    {
        path = PathOf(path);
        if (_numbers.ContainsKey(path) || !_ranges.TryGetValue(path, out (BsonType Type, double[] Knots, long Shift) range)
            || ScalarsAt(path)?.Values.GetValueOrDefault(range.Type) is not { Quantiles.Length: > 0 } values || width <= 0)
            return null;
        (double low, double lowMost) = (values.ShareBelow(lower.Least), values.ShareBelow(lower.Greatest));
        (double high, double highMost) = (values.ShareBelow(upper.Least), values.ShareBelow(upper.Greatest));
        if (lowMost - low > Narrow || highMost - high > Narrow || low + lowMost <= 0 || high + highMost >= 2)
            return null;
        double from = At(range.Knots, (low + lowMost) / 2, range.Type, values.IsWhole);
        // Between two edges distances are what they were, but for how the edges were rounded.
        double scale = (range.Knots[^1] - range.Knots[0]) / Math.Max(1e-9, values.Quantiles[^1] - values.Quantiles[0]);
        double made = range.Knots.Length > 2
            ? PlaceOf(range.Knots, (high + highMost) / 2) - PlaceOf(range.Knots, (low + lowMost) / 2)
            : Math.Abs(scale - 1) < Same ? width : width * scale;
        return (Written(range.Type, from + range.Shift), Written(range.Type, from + Rounding.Rough(made) + range.Shift));
    }

    /// <summary>
    /// How many of the documents have the value of one that is drawn, as a share, and how likely that is; a single one where the sample
    /// does not tell.
    /// </summary>
    public IReadOnlyList<(double Weight, double Share)> SharesOf(string path, bool isWhole, double documentsPerValue, double documents)
    {
        long[] counts = [.. ScalarsAt(PathOf(path))?.Values.Values.SelectMany(values => values.Values).Select(one => one.Value) ?? []];
        double all = counts.Sum();
        return all == 0 || (!isWhole && all < LeastPerValue * counts.Length)
            ? [(1, Math.Min(1, documentsPerValue / Math.Max(1, documents)))]
            : [.. counts.CountBy(count => count).Select(one => (one.Key * one.Value / all, Math.Min(1, (double)one.Key / root.Count)))];
    }

    /// <summary>The share of the documents that have the value, or an array with it.</summary>
    public double ShareOf(string path, BsonValue value)
    {
        path = PathOf(path);
        FieldStatistics? field = root.Find(path);
        if (value.Type == BsonType.Null)
            return 1 - (field?.Presence ?? 0);
        if (!_shares.TryGetValue(path, out Dictionary<string, double>? shares))
        {
            shares = new(StringComparer.Ordinal);
            foreach (KeyValuePair<BsonValue, long> one in ScalarsAt(path)?.Values.Values.SelectMany(values => values.Values) ?? [])
                shares[KeyOf(one.Key)] = Math.Min(1, shares.GetValueOrDefault(KeyOf(one.Key)) + ((double)one.Value / root.Count));
            _shares[path] = shares;
        }

        return shares.GetValueOrDefault(KeyOf(value));
    }

    /// <summary>A generator of values that no document has, another one each time where its type allows that; null for none.</summary>
    public string? Absent(string path)
    {
        if (ScalarsAt(PathOf(path))?.Values.Values.MaxBy(one => one.Count) is not { } values)
            return null;
        return values.Type switch
        {
            BsonType.String => $"{{^pattern: \"[a-z0-9]{{{Math.Clamp((int)values.Quantiles[^1], 12, LongestPattern)}}}\"}}",
            BsonType.Int32 => values.Quantiles is [.., < 2e9] ? "{^int: [2100000000, 2147483647]}" : "{^int: [-2147483648, -2100000000]}",
            BsonType.Int64 or BsonType.Double or BsonType.Decimal128 => "{^long: [4000000000000000000, 4500000000000000000]}",
            BsonType.DateTime => "{^date: {from: 2200-01-01, to: 2300-01-01}}",
            BsonType.ObjectId => NoObjectId,
            BsonType.Binary => "^uuid",
            _ => null,
        };
    }

    /// <summary>An id that no document has.</summary>
    public const string NoObjectId = "{$oid: \"ffffffffffffffffffffffff\"}";

    /// <summary>A number of a type, or a date or an ObjectId of a time in milliseconds since 1970.</summary>
    public static string Written(BsonType type, double number) => type switch
    {
        BsonType.Int64 or BsonType.Int32 when Math.Abs(number) < 9e18 => Written(type, (decimal)(long)Math.Round(number)),
        BsonType.DateTime => YamlText.Value(BsonDocument.Of(("v",
            DateTimeOffset.FromUnixTimeMilliseconds((long)number).UtcDateTime)).First().Value),
        BsonType.ObjectId => $"{{$oid: \"{(uint)Math.Clamp(number / 1000, 0, uint.MaxValue):x8}{0:x16}\"}}",
        _ => YamlText.Double(number),
    };

    /// <summary>The same of a number with all its digits.</summary>
    public static string Written(BsonType type, decimal number) => type switch
    {
        BsonType.Int64 => string.Create(CultureInfo.InvariantCulture, $"{{$numberLong: {decimal.Round(number):0}}}"),
        BsonType.Int32 => decimal.Round(number).ToString("0", CultureInfo.InvariantCulture),
        _ => Written(type, (double)number),
    };

    private static bool IsOrdered(ValueStatistics values) => values.Quantiles.Length > 0
        && values.Type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.DateTime;

    /// <summary>
    /// The place that has this share of the documents below it. Its distance from the nearer end is rounded to two digits: no more of it
    /// follows from the deployment's bound.
    /// </summary>
    private static double At(double[] knots, double share, BsonType type, bool isWhole)
    {
        bool isDate = type is BsonType.DateTime or BsonType.ObjectId;
        (double low, double high) = isDate ? Rounding.OutwardDates(knots[0], knots[^1]) is var (from, to) ? (from, to) : default
            : Rounding.Outward(knots[0], knots[^1]);
        if (share is <= 0 or >= 1)
            return share <= 0 ? low - (isDate ? 1000 : 1) : high + (isDate ? 1000 : 1);
        double at = PlaceOf(knots, share);
        double distance = share < 0.5 ? at - low : high - at;
        double unit = Math.Max(distance > 0 ? Math.Pow(10, Math.Floor(Math.Log10(distance)) - 1) : 0,
            isDate || isWhole ? 1 : 1e-9);
        distance = Math.Round(distance / unit) * unit;
        return share < 0.5 ? low + distance : high - distance;
    }

    private static double PlaceOf(double[] knots, double share)
    {
        double place = share * (knots.Length - 1);
        int part = Math.Min((int)place, knots.Length - 2);
        return knots[part] + ((place - part) * (knots[part + 1] - knots[part]));
    }

    /// <summary>A made-up value that no document of the file has.</summary>
    private string? MakeAbsent(string path, BsonValue value)
    {
        Dictionary<string, string> tokens = TokensOf(path);
        if (value.Type == BsonType.String)
        {
            for (int attempt = 0; attempt < 20; attempt++)
            {
                if (MadeUpText.Instead([value], $"{collection}.{path} {tokens.Count} {attempt}") is [{ } text]
                    && !tokens.ContainsValue(YamlText.Quoted(text)))
                    return YamlText.Quoted(text);
            }

            return null;
        }

        if (value.Type == BsonType.ObjectId)
            return NoObjectId;
        if (ValueTally.NumberOf(value) is not { } number || value.Type == BsonType.Decimal128)
            return null;
        ValueStatistics? there = ScalarsAt(path)?.Values.Values.Where(IsOrdered).MaxBy(one => one.Count);
        if (there is null || value.IsNumber != (there.Type != BsonType.DateTime))
            return value.IsNumber ? Written(value.Type, Rounding.Outward(number, number).Low) : null;
        // Beyond the end that is nearer, each at a place of its own.
        (double low, double high) = value.IsNumber ? Rounding.Outward(there.Quantiles[0], there.Quantiles[^1])
            : Rounding.OutwardDates(there.Quantiles[0], there.Quantiles[^1]) is var (from, to) ? (from, to) : default;
        long shift = _ranges.GetValueOrDefault(path).Shift;
        double step = (1 + tokens.Count) * (value.IsNumber ? 1 : 1000);
        return Written(there.Type, (number < (low + high) / 2 ? low - step : high + step) + shift);
    }

    private FieldStatistics? ScalarsAt(string path)
    {
        FieldStatistics? field = root.Find(path);
        return field?.Values.Count == 0 ? field.Elements : field;
    }

    /// <summary>Without places in arrays.</summary>
    private string PathOf(string path) => root.Find(path)?.Path ?? path;

    private Dictionary<string, string> TokensOf(string path) =>
        _tokens.TryGetValue(path, out Dictionary<string, string>? tokens) ? tokens
            : _tokens[path] = new Dictionary<string, string>(StringComparer.Ordinal);

    /// <summary>The same for numbers that are equal, whatever their types.</summary>
    private static string KeyOf(BsonValue value) =>
        value.Type is BsonType.Int32 or BsonType.Int64 ? value.ToInt64().ToString(CultureInfo.InvariantCulture)
            : value.Type == BsonType.Double && value.ToDouble() is > -Exact and < Exact and var real && Math.Floor(real) == real
                ? ((long)real).ToString(CultureInfo.InvariantCulture)
            : value.IsNumber ? value.ToDouble().ToString("R", CultureInfo.InvariantCulture)
            : $"{value.Type} {Convert.ToHexString(value.Bytes.Span)}";
}
