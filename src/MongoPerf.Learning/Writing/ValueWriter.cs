using System.Globalization;
using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>
/// Writes scalar values as generators that have their statistics: how many are different, how unevenly they come, ranges, lengths.
/// </summary>
/// <param name="collection">The collection's name in the deployment.</param>
/// <param name="unique">Paths of which each document has a value of its own, because an index requires it.</param>
/// <param name="expiring">Paths whose dates make the server remove documents.</param>
/// <param name="map">Told what the file has in place of values.</param>
/// <param name="ids">The collections' ids, which other collections may refer to.</param>
/// <param name="words">The words of texts that are searched; null for none.</param>
internal sealed class ValueWriter(string collection, IReadOnlySet<string> unique, IReadOnlySet<string> expiring, ValueMap map,
    ObjectIdMap ids, SearchedWords? words)
{
    /// <summary>Values that may be in the file, at most.</summary>
    private const int MostKept = 1000;

    /// <summary>Values that operations name, at most; they stand in each document's choice.</summary>
    private const int MostWatched = 64;

    /// <summary>Above this share of the documents, values count as all different.</summary>
    private const double AllDifferent = 0.9;

    private const int LongestPattern = 1000;

    /// <summary>Steps of dates below this are no whole milliseconds within a hundredth.</summary>
    private const double Fine = 50;

    /// <summary>How many times their range whole numbers are, if only their last digits differ.</summary>
    private const double Close = 1000;

    /// <summary>Beyond what a decimal takes.</summary>
    private const double MostSpread = 1e28;

    /// <summary>By how much the shares of values that come in turn may differ from those of all.</summary>
    private const double MostApart = 0.05;

    /// <summary>Of a <c>^spelled</c>.</summary>
    private const int MostDigits = 20;

    /// <summary>Far enough away that no run lasts so long.</summary>
    private static readonly long Future = new DateTimeOffset(2100, 1, 1, 0, 0, 0, TimeSpan.Zero).ToUnixTimeMilliseconds();

    /// <summary>What is written in another way than it is there, a sentence each.</summary>
    public List<string> Notes { get; } = [];

    /// <summary>Values of one type; null for a type that no generator makes.</summary>
    public string? Of(FieldStatistics field, BsonType type)
    {
        if (type == BsonType.Null)
            return "null";
        if (!field.Values.TryGetValue(type, out ValueStatistics? values))
            return null;
        if (map.IsKept(field.Path))
            return Kept(values);
        bool isUnique = unique.Contains(field.Path);
        if (!isUnique && type == BsonType.String && words?.TextOf(field.Path, values) is { } text)
            return text;
        return isUnique ? Many(field.Path, values, isUnique: true)
            : InTurn(field.Path, values) ?? (values.IsFew ? Few(field.Path, values) : Parted(field.Path, values))
                ?? Many(field.Path, values, isUnique: false);
    }

    /// <summary>Values that come in turn, again and again, do so here; null where they don't, or no generator says it.</summary>
    private string? InTurn(string path, ValueStatistics values)
    {
        const int Longest = 64;
        KeyValuePair<BsonValue, long>[] ordered = InOrder(values.Type, values.Values);
        if (values.IsIncreasing && values.IsFew && ordered.Length > 1 && values.Type != BsonType.String
            && MadeOfFew(path, values, ordered) is { } rising)
            return InTurns(rising, ordered.Select(one => Math.Max(1, Math.Round(one.Value * values.Total / values.Count))));
        if (values.Succession is not { Cycle: { Count: > 0 } cycle, Every: var every })
            return null;
        // What came in turn at first need not have gone on so.
        if (values.Count < values.Total && values.IsFew && ordered.Any(one =>
            Math.Abs(((double)one.Value / values.Count) - ShareOf(one.Key)) > MostApart))
            return null;
        if (cycle.Count <= Longest && values.IsFew && (values.Type == BsonType.Boolean || MadeOfFew(path, values, ordered) is not null))
        {
            string[] turns = [.. cycle.Select(value => map.Instead(path, value)).OfType<string>()];
            return turns.Length < cycle.Count ? null : InTurns(turns, turns.Select(_ => (double)every));
        }

        string groups = $"cycle: {cycle.Count}{(every > 1 ? $", every: {every}" : "")}";
        if (values.Values.Count() != cycle.Count && !values.IsPart(cycle.Count))
            return null;
        if (values.IsWhole)
        {
            (long low, long high, string kind) = EndsOf(values);
            long step = Math.Max(1, (high - low) / cycle.Count);
            map.Stretch(path, values.Type, [low, low + (step * (cycle.Count - 1.0))]);
            return $"{{^number: {{start: {low}{(step > 1 ? $", step: {step}" : "")}, {groups}{kind}}}}}";
        }

        if (values.Type != BsonType.String)
            return null;
        string digits = TextAlphabets.CharactersOf(values.Alphabet);
        int length = (int)values.Quantiles[^1];
        return length > MostDigits || Math.Pow(digits.Length, length) < cycle.Count ? null
            : $"{{^spelled: {{number: {{^number: {{{groups}}}}}, digits: {length}, "
                + $"with: [{string.Join(", ", digits.Select(c => YamlText.Quoted(c.ToString())))}]}}}}";

        double ShareOf(BsonValue value) =>
            (double)cycle.Count(one => one.Bytes.Span.SequenceEqual(value.Bytes.Span)) / cycle.Count;
    }

    private static string InTurns(IEnumerable<string> values, IEnumerable<double> documents) =>
        $"{{^choice: {{of: [{string.Join(", ", values)}], turns: [{string.Join(", ", documents.Select(YamlText.Number))}]}}}}";

    private string? Many(string path, ValueStatistics values, bool isUnique) => values.Type switch
    {
        BsonType.Boolean => $"{{^bool: {Share(values.TrueShare)}}}",
        BsonType.Int32 or BsonType.Int64 => Whole(path, values, isUnique),
        BsonType.Double => values.IsWhole ? Whole(path, values, isUnique) : Fractions(path, values),
        BsonType.Decimal128 => values.Quantiles.Length == 0 ? null : Repeated(values, Decimals(values)),
        BsonType.DateTime => Dates(path, values, isUnique),
        BsonType.ObjectId => Ids(path, values, isUnique),
        BsonType.String or BsonType.Symbol => Texts(path, values, isUnique),
        BsonType.Binary => values.AreUuids ? Made(path, Repeated(values, "^uuid"))
            : Repeated(values, OneOf([.. Lengths(values.Quantiles).Select(length => $"{{^binary: {length}}}")])),
        _ => null,
    };

    /// <summary>
    /// Made-up values in place of those that are frequent or watched, beside a generator of the others; null where there are none.
    /// </summary>
    private string? Parted(string path, ValueStatistics values)
    {
        if (values.IsIncreasing || values.IsUnique || values.Part(map.WatchedOf(path, values).Take(MostWatched)) is not var (some, others))
            return null;
        KeyValuePair<BsonValue, long>[] ordered = InOrder(values.Type, some);
        string[]? made = values.Type == BsonType.String ? MadeUp(path, ordered)
            : ordered.All(one => double.IsFinite(one.Key.ToDouble())) ? Rounded(values.Type, ordered) : null;
        if (made is not [_, ..] || Many(path, others, isUnique: false) is not { } rest)
            return null;
        map.Replace(path, ordered, made);
        return YamlText.Choice(made.Append(rest),
            ordered.Select(one => one.Value).Append(others.Count).Select(count => Percent((double)count / values.Count)));
    }

    /// <summary>Values by size, texts by their characters; none where they are of a type that has no made-up values.</summary>
    private static KeyValuePair<BsonValue, long>[] InOrder(BsonType type, IEnumerable<KeyValuePair<BsonValue, long>> values) => type switch
    {
        BsonType.String => [.. values.OrderBy(one => one.Key.ToString(), StringComparer.Ordinal)],
        BsonType.Int32 or BsonType.Int64 or BsonType.Double => [.. values.OrderBy(one => ValueStatistics.NumberOf(one.Key))],
        _ => [],
    };

    private string[]? MadeUp(string path, KeyValuePair<BsonValue, long>[] texts) =>
        MadeUpText.Instead([.. texts.Select(one => one.Key)], $"{collection}.{path}")?.Select(YamlText.Quoted).ToArray();

    /// <summary>One number for each, as near as rounded ones that differ can be.</summary>
    private static string[] Rounded(BsonType type, KeyValuePair<BsonValue, long>[] ordered)
    {
        double[] made = [.. ordered.Select(one => Rounded(one.Key))];
        for (int i = 1; i < made.Length; i++)
            made[i] = made[i] > made[i - 1] ? made[i] : made[i - 1] + 1;
        return [.. made.Select(number => ValueMap.Written(type, number))];
    }

    private static double Rounded(BsonValue number) => number.Type switch
    {
        BsonType.Int32 => Rounding.OutwardWhole(number.ToDouble(), number.ToDouble(), int.MinValue, int.MaxValue).Low,
        BsonType.Int64 => Rounding.OutwardWhole(number.ToDouble(), number.ToDouble(), long.MinValue / 4, long.MaxValue / 4).Low,
        _ => Rounding.Outward(number.ToDouble(), number.ToDouble()).Low,
    };

    /// <summary>Lengths as generators take them: one, or a range; several ranges of equal share where one would not do.</summary>
    public static IReadOnlyList<string> Lengths(double[] quantiles)
    {
        (double Low, double High)[] parts = IsEven(quantiles) ? [(quantiles[0], quantiles[^1])]
            : [.. Enumerable.Range(0, quantiles.Length / 2).Select(i => (quantiles[2 * i], quantiles[(2 * i) + 2]))];
        return [.. parts.Select(part => part.Low == part.High ? YamlText.Number(part.Low)
            : $"[{YamlText.Number(part.Low)}, {YamlText.Number(part.High)}]")];
    }

    /// <summary>One of several generators, each as often as it is among them.</summary>
    public static string OneOf(IReadOnlyList<string> parts)
    {
        KeyValuePair<string, int>[] different = [.. parts.CountBy(part => part)];
        if (different is [var only])
            return only.Key;
        return YamlText.Choice(different.Select(one => one.Key),
            different.All(one => one.Value == 1) ? null : different.Select(one => YamlText.Number(one.Value)));
    }

    private string Fractions(string path, ValueStatistics values)
    {
        if (values.Quantiles.Length > 0)
            map.Stretch(path, values.Type, Knots(values.Quantiles));
        return Repeated(values, Doubles(values));
    }

    public static string Doubles(ValueStatistics values) => values.Quantiles.Length == 0 ? "0.0"
        : OneOf([.. Parts(values.Quantiles).Select(part =>
        {
            (double low, double high) = Rounding.Outward(part.Low, part.High);
            return values.DecimalPlaces > 0
                ? $"{{^double: {{min: {YamlText.Double(low)}, max: {YamlText.Double(high)}, decimals: {values.DecimalPlaces}}}}}"
                : $"{{^double: [{YamlText.Double(low)}, {YamlText.Double(high)}]}}";
        })]);

    private static IEnumerable<(double Low, double High)> Parts(double[] quantiles) => IsEven(quantiles)
        ? [(quantiles[0], quantiles[^1])]
        : quantiles.Zip(quantiles.Skip(1));

    private static double[] Knots(double[] quantiles) => IsEven(quantiles) ? [quantiles[0], quantiles[^1]] : quantiles;

    /// <summary>A uniform draw would look like it.</summary>
    private static bool IsEven(double[] quantiles)
    {
        const double Tolerance = 0.06;
        double range = quantiles[^1] - quantiles[0];
        return range == 0 || !double.IsFinite(range) || quantiles.Index().All(part =>
            Math.Abs(part.Item - (quantiles[0] + (range * part.Index / (quantiles.Length - 1)))) <= Math.Max(1, Tolerance * range));
    }

    private static string Percent(double share) => YamlText.Number(Math.Max(0.001, Math.Round(100 * share, 2)));

    private static string Share(double share) => YamlText.Number(Math.Round(share, 4));

    /// <summary>The generator, of which as many values are different as in the collection, and come as unevenly.</summary>
    private static string Repeated(ValueStatistics values, string generator) =>
        IsAllDifferent(values) || generator[0] is not ('{' or '^') ? generator
            : $"{{^distinct: {{values: {DistinctOf(values)}, of: {generator}{Key(values)}}}}}";

    private static bool IsAllDifferent(ValueStatistics values) => values.Cardinality.Distinct >= AllDifferent * values.Total;

    private static long DistinctOf(ValueStatistics values) => (long)Math.Max(1, Math.Round(values.Cardinality.Drawn));

    private static string Key(ValueStatistics values) => Key(values.Cardinality);

    /// <summary>How unevenly values of a <c>^distinct</c> come; empty for evenly.</summary>
    public static string Key(Cardinality cardinality) => cardinality.Theta <= 0 ? ""
        : $", key: {{zipfian: {{theta: {YamlText.Number(Math.Clamp(Math.Round(cardinality.Theta, 3), 0.001, 0.999))}, "
            + "scrambled: false}}";

    private string Made(string path, string generator)
    {
        if (generator == "^uuid" || generator.StartsWith("{^objectId: ", StringComparison.Ordinal)
            || generator.StartsWith("{^number: ", StringComparison.Ordinal)
            || generator.StartsWith("{^numbered: ", StringComparison.Ordinal))
            map.MadeUnique.Add(path);
        return generator;
    }

    private string Kept(ValueStatistics values)
    {
        KeyValuePair<BsonValue, long>[] all = [.. values.Values];
        if (all.Length > MostKept)
            Notes.Add($"only the {MostKept:N0} most frequent of {all.Length:N0} values of a field with --values are here");
        KeyValuePair<BsonValue, long>[] some = [.. all.Take(MostKept)];
        return YamlText.Choice(some.Select(one => YamlText.Value(one.Key)), some.Select(one => YamlText.Number(one.Value)));
    }

    /// <summary>Made-up values in place of few real ones, with their shares, in their order.</summary>
    private string? Few(string path, ValueStatistics values)
    {
        KeyValuePair<BsonValue, long>[] ordered = InOrder(values.Type, values.Values);
        if (MadeOfFew(path, values, ordered) is not { } made)
            return null;
        if (made is [var only])
            return only;
        double most = ordered.Max(one => one.Value);
        return YamlText.Choice(made, ordered.All(one => one.Value > 0.9 * most) ? null
            : ordered.Select(one => Percent((double)one.Value / values.Count)));
    }

    /// <summary>What stands in place of each; null where nothing does.</summary>
    private string[]? MadeOfFew(string path, ValueStatistics values, KeyValuePair<BsonValue, long>[] ordered)
    {
        if (ordered.Length == 0 || values.Quantiles.Length == 0)
            return null;
        decimal[] numbers = values.Type == BsonType.String ? [] : Spread(values, ordered.Length);
        string[]? made = values.Type == BsonType.String ? MadeUp(path, ordered)
            : [.. numbers.Select(number => ValueMap.Written(values.Type, number))];
        if (made is null)
            return null;
        map.Replace(path, ordered, made);
        if (values.Type != BsonType.String)
            map.Place(path, ordered.Select(one => ValueStatistics.NumberOf(one.Key)), numbers.Select(number => (double)number));
        return made;
    }

    /// <summary>So many numbers over the range that they have.</summary>
    private static decimal[] Spread(ValueStatistics values, int count)
    {
        (double least, double most) = (values.Quantiles[0], values.Quantiles[^1]);
        // All but the first digits of numbers that are close together would be theirs.
        bool areClose = values.IsWhole && Math.Abs(least) >= Close * Math.Max(1, most - least);
        (double low, double high) = areClose ? Rounding.Outward(least, least) : Rounding.Outward(least, most);
        decimal from = (decimal)Math.Clamp(low, -MostSpread, MostSpread);
        decimal to = areClose ? from + (decimal)(most - least) : (decimal)Math.Clamp(high, -MostSpread, MostSpread);
        decimal step = count == 1 ? 0 : (to - from) / (count - 1);
        if (values.IsWhole)
        {
            from = decimal.Floor(from);
            step = count == 1 ? 0 : Math.Max(1, decimal.Floor(step));
        }

        return [.. Enumerable.Range(0, count).Select(i => from + (step * i))];
    }

    private static (long Least, long Most, string Type) TypeOf(ValueStatistics values) => values.Type switch
    {
        BsonType.Int32 => (int.MinValue, int.MaxValue, "int"),
        BsonType.Int64 => (long.MinValue / 4, long.MaxValue / 4, "long"),
        _ => (-(1L << 53), 1L << 53, "double"),
    };

    private static (long Low, long High, string Kind) EndsOf(ValueStatistics values)
    {
        (long least, long most, string type) = TypeOf(values);
        (long low, long high) = Rounding.OutwardWhole(values.Quantiles[0], values.Quantiles[^1], least, most);
        return (low, high, type == "long" ? "" : $", type: {type}");
    }

    private string Whole(string path, ValueStatistics values, bool isUnique)
    {
        if (values.Quantiles.Length == 0)
            return "0";
        (long low, long high, string kind) = EndsOf(values);
        map.Stretch(path, values.Type, [values.Quantiles[0], values.Quantiles[^1]]);
        double range = values.Quantiles[^1] - values.Quantiles[0];
        double total = values.Total;
        bool areAllDifferent = IsAllDifferent(values);
        if (isUnique || (areAllDifferent && values.IsIncreasing))
        {
            long step = (long)Math.Max(1, Math.Round(range / Math.Max(1, total - 1)));
            if (values.IsIncreasing)
                map.Stretch(path, values.Type, [low, low + (step * (total - 1))]);
            // Spread out where there is room for more documents than there are.
            return Made(path, !values.IsIncreasing && range >= 20 * total
                ? $"{{^number: {{start: {low}, cycle: {high - low}, shuffled: true{kind}}}}}"
                : $"{{^number: {{start: {low}{(step > 1 ? $", step: {step}" : "")}{kind}}}}}");
        }

        double distinct = values.Cardinality.Drawn;
        if (values.IsIncreasing)
        {
            distinct = values.Cardinality.Distinct;
            long every = values.Succession is { Every: > 1 and var runs } ? runs : (long)Math.Max(1, Math.Round(total / distinct));
            double groups = Math.Max(1, total / every);
            long step = (long)Math.Max(1, Math.Round(range / groups));
            map.Stretch(path, values.Type, [low, low + (step * (groups - 1))]);
            return $"{{^number: {{start: {low}, every: {every}{(step > 1 ? $", step: {step}" : "")}{kind}}}}}";
        }

        // A uniform draw hits nearly all numbers of a range that has fewer of them than there are documents.
        (long least, long most, string type) = TypeOf(values);
        if (type != "double" && values.Cardinality.Theta <= 0 && (areAllDifferent || distinct >= 0.6 * (range + 1)))
        {
            map.Stretch(path, values.Type, Knots(values.Quantiles));
            return OneOf([.. Parts(values.Quantiles).Select(part =>
            {
                (long from, long to) = Rounding.OutwardWhole(part.Low, part.High, least, most);
                return $"{{^{type}: [{from}, {to}]}}";
            })]);
        }

        double room = (double)high - low + 1;
        long count = (long)Math.Max(1, Math.Min(areAllDifferent ? 10 * total : Math.Round(distinct), room));
        long spread = Math.Max(1, (high - low) / count);
        return $"{{^distinct: {{values: {count}, of: {{^number: {{start: {low}{(spread > 1 ? $", step: {spread}" : "")}, cycle: {count}, "
            + $"shuffled: true{kind}}}}}{Key(values)}}}}}";
    }

    private static string Decimals(ValueStatistics values) => OneOf([.. Parts(values.Quantiles).Select(part =>
    {
        (double low, double high) = Rounding.Outward(part.Low, part.High);
        // Generators have 18 digits.
        int digits = (int)Math.Max(1, Math.Ceiling(Math.Log10(Math.Max(1, Math.Max(Math.Abs(low), Math.Abs(high))) + 1)));
        string format = "0." + new string('0', Math.Clamp(17 - digits, 0, values.DecimalPlaces));
        decimal from = (decimal)Math.Clamp(low, -1e17, 1e17);
        decimal to = (decimal)Math.Clamp(high, -1e17, 1e17);
        return $"{{^decimal: [{from.ToString(format, CultureInfo.InvariantCulture)}, "
            + $"{to.ToString(format, CultureInfo.InvariantCulture)}]}}";
    })]);

    private string Dates(string path, ValueStatistics values, bool isUnique)
    {
        if (values.Quantiles.Length == 0)
            return Rounding.Date(0);
        (long low, long high) = Rounding.OutwardDates(values.Quantiles[0], values.Quantiles[^1]);
        long shift = 0;
        if (expiring.Contains(path))
        {
            shift = Future - low;
            Notes.Add("dates that make the server remove documents lie in the future here, so that it removes none");
        }

        map.Stretch(path, values.Type, [values.Quantiles[0], values.Quantiles[^1]], shift);
        bool areDifferent = IsAllDifferent(values);
        if (isUnique || values.IsIncreasing)
        {
            long every = isUnique ? 1 : values.Succession is { Every: > 1 and var runs } ? runs : areDifferent ? 1
                : (long)Math.Max(1, Math.Round(values.Total / values.Cardinality.Distinct));
            double step = (values.Quantiles[^1] - values.Quantiles[0]) / Math.Max(1, (values.Total / every) - 1);
            double jitter = isUnique ? 0 : (values.Succession?.Jitter ?? 0) * step;
            // Of steps that are no whole milliseconds several make one.
            if (every == 1 && !isUnique && step is > 0 and < Fine && Math.Abs(Math.Round(step) - step) > 0.01 * step)
            {
                every = (long)Math.Ceiling(Fine / step);
                step *= every;
                jitter = Math.Max(jitter, step);
            }

            if (every == 1)
                map.MadeUnique.Add(path);
            double whole = Math.Max(1, Math.Round(step));
            map.Stretch(path, values.Type, [low, low + (whole * Math.Max(1, (values.Total / every) - 1))], shift);
            string late = jitter >= 1 && jitter > 0.01 * step ? $", jitter: {Rounding.Duration(Rounding.Rough(jitter))}" : "";
            return $"{{^date: {{start: {Rounding.Date(low + shift)}, step: {Rounding.Duration(step)}"
                + $"{(every > 1 ? $", every: {every}" : "")}{late}}}}}";
        }

        if (areDifferent)
        {
            map.Stretch(path, values.Type, Knots(values.Quantiles), shift);
            return OneOf([.. Parts(values.Quantiles).Select(part =>
            {
                (long from, long to) = Rounding.OutwardDates(part.Low, part.High);
                return $"{{^date: {{from: {Rounding.Date(from + shift)}, to: {Rounding.Date(to + shift)}}}}}";
            })]);
        }

        double between = (values.Quantiles[^1] - values.Quantiles[0]) / Math.Max(1, values.Cardinality.Drawn - 1);
        return Repeated(values, $"{{^date: {{start: {Rounding.Date(low + shift)}, step: {Rounding.Duration(between)}}}}}");
    }

    /// <summary>ObjectIds have the times that they had; those of another collection's documents are its.</summary>
    private string Ids(string path, ValueStatistics values, bool isUnique)
    {
        if (ids.OfOther($"{collection}.{path}", values) is { } others && !isUnique)
            return Made(path, Repeated(values, others));
        if (isUnique)
        {
            map.Stretch(path, values.Type, ObjectIdMap.KnotsOf(values));
            return Made(path, ObjectIdMap.Growing(values));
        }

        (long from, long to) = Rounding.OutwardDates(values.Times[0], values.Times[^1]);
        to = Math.Min(to, ObjectIdMap.LastTime);
        return Made(path, Repeated(values, $"{{^objectId: {{from: {Rounding.Date(from)}, to: {Rounding.Date(to)}}}}}"));
    }

    private string Texts(string path, ValueStatistics values, bool isUnique)
    {
        int[] lengths = [(int)values.Quantiles[0], (int)values.Quantiles[^1]];
        string sample = values.Values.First().Key.ToString();
        string real = values.CommonPrefix >= 2 ? sample[..Whole(sample, values.CommonPrefix)] : "";
        string prefix = real.Length == 0 ? "" : MadeUpText.Prefix(real, $"{collection}.{path}");
        int letters = TextAlphabets.CharactersOf(values.Alphabet).Length;
        double entropy = (lengths[0] - prefix.Length) * Math.Log10(letters);
        if (isUnique)
        {
            map.MadeUnique.Add(path);
            if (values.IsIncreasing || entropy < 4 + (2 * Math.Log10(values.Total)))
            {
                int digits = Math.Clamp(lengths[1] - prefix.Length, 1, 20);
                string all = prefix.Length + digits >= lengths[1] ? prefix : prefix + new string('x', lengths[1] - prefix.Length - digits);
                return $"{{^numbered: {{prefix: {YamlText.Quoted(all)}, digits: {digits}}}}}";
            }
        }

        string[] parts = [.. Lengths(values.Quantiles).Select(length => Text(values, prefix, length, isUnique))];
        if (isUnique)
            return OneOf(parts);
        // From few texts that are possible, some would be drawn twice.
        bool isShort = entropy < 2 + Math.Log10(values.Cardinality.Drawn) && lengths[0] - prefix.Length is >= 1 and <= 20
            && values.Cardinality.Drawn <= Math.Pow(10, lengths[0] - prefix.Length);
        return Repeated(values, isShort && !IsAllDifferent(values)
            ? $"{{^numbered: {{prefix: {YamlText.Quoted(prefix)}, digits: {lengths[0] - prefix.Length}}}}}" : OneOf(parts));
    }

    /// <summary>Not within the two halves of one character.</summary>
    private static int Whole(string text, int length) => length > 0 && char.IsHighSurrogate(text[length - 1]) ? length - 1 : length;

    /// <param name="values">The texts.</param>
    /// <param name="prefix">What they begin with.</param>
    /// <param name="length">Their length in bytes, or [least, most].</param>
    /// <param name="isUnique">No two may be the same: a ^string is cut out of a million places.</param>
    private static string Text(ValueStatistics values, string prefix, string length, bool isUnique)
    {
        int[] ends = [.. length.Trim('[', ']').Split(", ").Select(end => (int)double.Parse(end, CultureInfo.InvariantCulture))];
        if (values.Compressibility > 5 && prefix.Length == 0 && !isUnique)
            return $"{{^filler: {{length: {(ends[0] + ends[^1]) / 2}, compressibility: {values.Compressibility}}}}}";
        if (!isUnique && (ends[^1] > LongestPattern || (values.Alphabet == TextAlphabet.Any && prefix.Length == 0)))
            return $"{{^string: {length}}}";
        int least = Math.Max(0, ends[0] - prefix.Length);
        int most = Math.Max(0, ends[^1] - prefix.Length);
        string times = least == most ? $"{{{least}}}" : $"{{{least},{most}}}";
        return $"{{^pattern: \"{prefix}{TextAlphabets.ClassOf(values.Alphabet)}{times}\"}}";
    }
}
