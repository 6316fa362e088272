using System.Buffers.Binary;
using System.IO.Compression;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Sampling;

/// <summary>The values of one type that a field has in the sampled documents.</summary>
public sealed class ValueStatistics
{
    /// <summary>Edges of parts that hold equally many values, the least and the greatest included.</summary>
    public const int Edges = 9;

    /// <summary>So many different values at most are looked at one by one.</summary>
    public const int MostFew = 32;

    private const int MostText = 128 * 1024;

    private readonly Dictionary<BsonValue, long> _counts;

    /// <param name="type">Of all values.</param>
    /// <param name="values">One or more, in the order of the documents.</param>
    /// <param name="total">How many the whole collection has, by the sample's share.</param>
    /// <param name="areInOrder">The documents are in the order in which they were inserted.</param>
    /// <param name="areConsecutive">None was left out between them.</param>
    internal ValueStatistics(BsonType type, IReadOnlyList<BsonValue> values, double total, bool areInOrder, bool areConsecutive = false)
    {
        Type = type;
        Count = values.Count;
        Total = Math.Max(total, Count);
        _counts = new(SameValue.Instance);
        foreach (BsonValue value in values)
            _counts[value] = _counts.GetValueOrDefault(value) + 1;
        Cardinality = Cardinality.Of(_counts.Values, Total);
        if (areConsecutive)
            Succession = Succession.Of(values, SameValue.Instance);
        if (type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128 or BsonType.DateTime)
            ReadNumbers(values, areInOrder);
        else if (type is BsonType.String or BsonType.Symbol or BsonType.JavaScript)
            ReadTexts(values, areInOrder);
        else if (type == BsonType.Binary)
            ReadBinaries(values);
        else if (type == BsonType.ObjectId)
            Times = QuantilesOf([.. values.Select(value => value.ToObjectId().High * 1000.0)]);
        else if (type == BsonType.Boolean)
            TrueShare = (double)values.LongCount(value => value.ToBoolean()) / Count;
    }

    public BsonType Type { get; }

    /// <summary>In the sample.</summary>
    public long Count { get; }

    /// <summary>In the whole collection.</summary>
    public double Total { get; }

    public Cardinality Cardinality { get; }

    /// <summary>By how much the number of different values differs between samples, as a standard deviation.</summary>
    public double DistinctError => Cardinality.ErrorOf(_counts.Values, Total);

    /// <summary>Every document has its own.</summary>
    public bool IsUnique => Count > 1 && _counts.Count == Count && Cardinality.Distinct >= 0.9 * Total;

    /// <summary>Few different values, all of which were seen.</summary>
    public bool IsFew => _counts.Count <= MostFew && Count >= 4 * _counts.Count && Cardinality.Distinct < _counts.Count * 1.5;

    /// <summary>
    /// Of numbers, dates (in milliseconds since 1970) and lengths of texts and binaries (in bytes): parts of equal share.
    /// </summary>
    public double[] Quantiles { get; private set; } = [];

    /// <summary>Of ObjectIds: their times, in milliseconds since 1970, in parts of equal share.</summary>
    public double[] Times { get; private set; } = [];

    /// <summary>How they followed one another; null where that isn't known.</summary>
    public Succession? Succession { get; internal set; }

    /// <summary>Every number is whole.</summary>
    public bool IsWhole { get; private set; }

    /// <summary>The most decimal places of a decimal, at most 18; of doubles that have few, at most 4; otherwise 0.</summary>
    public int DecimalPlaces { get; private set; }

    /// <summary>Each is greater than those of the documents inserted before it, but for some that hardly fall behind.</summary>
    public bool IsIncreasing { get; private set; }

    /// <summary>How many characters all texts begin with alike.</summary>
    public int CommonPrefix { get; private set; }

    /// <summary>The characters of texts behind what they begin with alike.</summary>
    public TextAlphabet Alphabet { get; private set; }

    /// <summary>How much of a text compresses away, in percent; 0 for short ones.</summary>
    public int Compressibility { get; private set; }

    /// <summary>All have the subtype of a UUID.</summary>
    public bool AreUuids { get; private set; }

    public double TrueShare { get; private set; }

    /// <summary>The values themselves, most frequent first: for those that may leave the deployment, and to keep out all others.</summary>
    public IEnumerable<KeyValuePair<BsonValue, long>> Values => _counts.OrderByDescending(one => one.Value);

    /// <summary>
    /// The values that are more frequent than in any zipfian, and certain ones, each with its number, and what the others are without
    /// them; null for none, and where no others are left.
    /// </summary>
    /// <param name="certain">Some of <see cref="Values"/>.</param>
    public (IReadOnlyList<KeyValuePair<BsonValue, long>> Some, ValueStatistics Others)? Part(
        IEnumerable<KeyValuePair<BsonValue, long>> certain)
    {
        KeyValuePair<BsonValue, long>[] some = [.. certain];
        var named = some.Select(one => one.Key).ToHashSet(SameValue.Instance);
        KeyValuePair<BsonValue, long>[] ordered = [.. Values.Where(one => !named.Contains(one.Key))];
        long left = Count - some.Sum(one => one.Value);
        Cardinality others = some.Length == 0 ? Cardinality : Rest(0);
        int frequent = 0;
        while (others.IsSteepest && frequent < Math.Min(MostFew, ordered.Length - 1))
        {
            left -= ordered[frequent++].Value;
            others = Rest(frequent);
        }

        return (frequent == 0 && some.Length == 0) || others.IsSteepest || frequent == ordered.Length ? null
            : ([.. some, .. ordered[..frequent]], new ValueStatistics(Type,
                [.. ordered[frequent..].SelectMany(one => Enumerable.Repeat(one.Key, (int)one.Value))], Total * left / Count,
                areInOrder: false));

        Cardinality Rest(int from) => Cardinality.Of([.. ordered[from..].Select(one => one.Value)], Total * left / Count);
    }

    /// <summary>The share of each value among them all, the most frequent first; null where each came hardly more than once.</summary>
    public IReadOnlyList<double>? Shares => Count < 1.5 * _counts.Count ? null
        : [.. _counts.Values.OrderDescending().Select(count => (double)count / Count)];

    /// <summary>Not all values were read, and there may be so many.</summary>
    public bool IsPart(int count) => Count < Total && _counts.Count <= count;

    public bool Has(BsonValue value) => _counts.ContainsKey(value);

    /// <summary>The share of values below one; for numbers and dates.</summary>
    public double ShareBelow(double value) =>
        (double)_counts.Where(one => NumberOf(one.Key) < value).Sum(one => one.Value) / Count;

    public static double NumberOf(BsonValue value) => value.Type == BsonType.DateTime ? value.ToInt64() : value.ToDouble();

    private void ReadNumbers(IReadOnlyList<BsonValue> values, bool areInOrder)
    {
        double[] numbers = [.. values.Select(NumberOf).Where(double.IsFinite)];
        if (numbers.Length == 0)
            return;
        IsIncreasing = areInOrder && IsGrowing([.. numbers.Take(10_000)]) && IsGrowing([.. numbers.TakeLast(10_000)]);
        IsWhole = Array.TrueForAll(numbers, number => number == Math.Floor(number));
        Quantiles = QuantilesOf(numbers);
        if (Type == BsonType.Decimal128)
            DecimalPlaces = values.Max(value => Math.Min(18, PlacesOf(value.ToString())));
        else if (Type == BsonType.Double)
            DecimalPlaces = Enumerable.Range(1, 4).FirstOrDefault(places =>
                Array.TrueForAll(numbers, number => Math.Abs(number) < 1e9 && Math.Round(number, places) == number));
    }

    private static int PlacesOf(string text) =>
        text.Contains('E', StringComparison.Ordinal) || text.IndexOf('.', StringComparison.Ordinal) is not (>= 0 and var point) ? 0
            : text.Length - point - 1;

    /// <summary>Hardly any is behind the greatest before it by more than a few steps, or a hundredth of them all.</summary>
    private static bool IsGrowing(double[] numbers)
    {
        const double Most = 0.01;
        if (numbers.Length < 20 || numbers[^1] <= numbers[0])
            return false;
        double range = numbers.Max() - numbers.Min();
        double allowed = Math.Max(Most, 3.0 / numbers.Length) * range;
        double greatest = double.NegativeInfinity;
        int behind = 0;
        foreach (double number in numbers)
        {
            if (greatest - number > allowed)
                behind++;
            else
                greatest = Math.Max(greatest, number);
        }

        return behind <= Most * numbers.Length;
    }

    private void ReadTexts(IReadOnlyList<BsonValue> values, bool areInOrder)
    {
        string[] texts = [.. values.Select(value => Encoding.UTF8.GetString(value.Bytes.Span[4..^1]))];
        Quantiles = QuantilesOf([.. values.Select(value => (double)value.Bytes.Length - 5)]);
        string first = texts[0];
        int prefix = first.Length;
        foreach (string text in texts)
            prefix = Math.Min(prefix, first.AsSpan(0, prefix).CommonPrefixLength(text));
        CommonPrefix = _counts.Count == 1 ? 0 : prefix;
        Alphabet = TextAlphabets.Of(texts.Select(text => text[CommonPrefix..]));
        IsIncreasing = areInOrder && texts.Length >= 20 && texts.Zip(texts.Skip(1))
            .Count(pair => string.CompareOrdinal(pair.First, pair.Second) <= 0) >= 0.95 * (texts.Length - 1);
        if (Quantiles[Edges / 2] >= 64)
            Compressibility = CompressibilityOf(texts);
    }

    /// <summary>Random text of 64 characters, as a scenario makes it, still packs to three quarters.</summary>
    private static int CompressibilityOf(string[] texts)
    {
        const double Random = 0.76;
        byte[] some = Encoding.UTF8.GetBytes(string.Concat(texts.Take(2000)));
        some = some.Length > MostText ? some[..MostText] : some;
        using var packed = new MemoryStream();
        using (var pack = new DeflateStream(packed, CompressionLevel.Fastest, leaveOpen: true))
            pack.Write(some);
        return (int)Math.Clamp(100 * (1 - (packed.Length / (some.Length * Random))), 0, 95);
    }

    private void ReadBinaries(IReadOnlyList<BsonValue> values)
    {
        AreUuids = values.All(value => value.Bytes.Length == 21 && value.Bytes.Span[4] is 3 or 4);
        Quantiles = QuantilesOf([.. values.Select(value => (double)BinaryPrimitives.ReadInt32LittleEndian(value.Bytes.Span))]);
    }

    internal static double[] QuantilesOf(double[] numbers)
    {
        if (numbers.Length == 0)
            return [];
        double[] sorted = [.. numbers.Order()];
        return [.. Enumerable.Range(0, Edges).Select(i => sorted[(int)((long)(sorted.Length - 1) * i / (Edges - 1))])];
    }

    private sealed class SameValue : IEqualityComparer<BsonValue>
    {
        public static SameValue Instance { get; } = new();

        public bool Equals(BsonValue x, BsonValue y) => x.Type == y.Type && x.Bytes.Span.SequenceEqual(y.Bytes.Span);

        public int GetHashCode(BsonValue value)
        {
            var hash = new HashCode();
            hash.AddBytes(value.Bytes.Span);
            return hash.ToHashCode();
        }
    }
}

/// <summary>Which characters texts are made of.</summary>
public enum TextAlphabet
{
    Digits,
    LowerHex,
    UpperHex,
    Lower,
    Upper,
    LowerAndDigits,
    UpperAndDigits,
    Any,
}

/// <summary>What scenarios write for an alphabet.</summary>
public static class TextAlphabets
{
    private static readonly (TextAlphabet Alphabet, string Characters)[] All =
    [
        (TextAlphabet.Digits, "0123456789"),
        (TextAlphabet.LowerHex, "0123456789abcdef"),
        (TextAlphabet.UpperHex, "0123456789ABCDEF"),
        (TextAlphabet.Lower, "abcdefghijklmnopqrstuvwxyz"),
        (TextAlphabet.Upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (TextAlphabet.LowerAndDigits, "abcdefghijklmnopqrstuvwxyz0123456789"),
        (TextAlphabet.UpperAndDigits, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ];

    /// <summary>The smallest that has all characters.</summary>
    public static TextAlphabet Of(IEnumerable<string> texts)
    {
        var left = All.ToList();
        foreach (string text in texts)
        {
            left.RemoveAll(one => text.Any(c => !one.Characters.Contains(c, StringComparison.Ordinal)));
            if (left.Count == 0)
                return TextAlphabet.Any;
        }

        return left[0].Alphabet;
    }

    /// <summary>Its characters; of <see cref="TextAlphabet.Any"/> letters and digits.</summary>
    public static string CharactersOf(TextAlphabet alphabet) => All.FirstOrDefault(one => one.Alphabet == alphabet).Characters
        ?? "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    /// <summary>Its class in a pattern.</summary>
    public static string ClassOf(TextAlphabet alphabet) => alphabet switch
    {
        TextAlphabet.Digits => "[0-9]",
        TextAlphabet.LowerHex => "[0-9a-f]",
        TextAlphabet.UpperHex => "[0-9A-F]",
        TextAlphabet.Lower => "[a-z]",
        TextAlphabet.Upper => "[A-Z]",
        TextAlphabet.LowerAndDigits => "[a-z0-9]",
        TextAlphabet.UpperAndDigits => "[A-Z0-9]",
        _ => "[a-zA-Z0-9]",
    };
}
