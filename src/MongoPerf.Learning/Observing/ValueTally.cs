using System.Buffers.Binary;
using System.Globalization;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>
/// Counts the values that were seen in one place of a command. Of a value only a hash and a position are kept, until the end.
/// </summary>
/// <param name="inserted">Which documents have come so far, if values are their <c>_id</c>s; null if nobody knows.</param>
internal sealed class ValueTally(InsertionOrder? inserted = null)
{
    /// <summary>Beyond these, values are only counted: 24 bytes each.</summary>
    private const int MostDifferent = 500_000;

    private const int MostInOrder = 200_000;

    /// <summary>So many different values are kept as they are, while no more have come.</summary>
    private const int MostFew = 32;

    private const int MostBytesOfFew = 1000;
    private const int MostFewWidths = 8;

    /// <summary>This share of the keys that go up, each once, is a scan.</summary>
    private const double Nearly = 0.98;

    private readonly Dictionary<BsonType, long> _types = [];
    private readonly Dictionary<ulong, long> _counts = [];
    private readonly List<ulong> _order = [];
    private Dictionary<ulong, (BsonValue Value, long Count)>? _few = [];
    private readonly List<(int Age, int Came)> _ages = [];
    private long _values;
    private long _beyond;
    private double _textBytes;
    private long _texts;
    private (int Least, int Most)? _list;
    private (double Least, double Most)? _range;
    private double _numbers;
    private double _sum;
    private double _squares;
    private double _widths;
    private long _bounds;
    private Dictionary<double, long>? _fewWidths = [];

    /// <param name="value">A value that is no list of several.</param>
    public void Add(BsonValue value)
    {
        _values++;
        AddType(value.Type);
        ulong hash = HashOf(value);
        if (_counts.Count < MostDifferent || _counts.ContainsKey(hash))
            _counts[hash] = _counts.GetValueOrDefault(hash) + 1;
        else
            _beyond++;
        if (_few is not null)
        {
            _few[hash] = (value, _few.GetValueOrDefault(hash).Count + 1);
            if (_few.Count > MostFew || value.Bytes.Length > MostBytesOfFew)
                _few = null;
        }

        if (inserted is { Count: > 0 } && _ages.Count < MostInOrder)
            _ages.Add((inserted.AgeOf(hash), inserted.Count));
        if (_order.Count < MostInOrder && PositionOf(value) is { } position)
            _order.Add(position);
        if (value.Type is BsonType.String or BsonType.Symbol or BsonType.Binary)
        {
            _texts++;
            _textBytes += value.Bytes.Length - 5;
        }

        if (NumberOf(value) is not { } number || !double.IsFinite(number))
            return;
        _range = _range is var (least, most) ? (Math.Min(least, number), Math.Max(most, number)) : (number, number);
        _numbers++;
        _sum += number;
        _squares += number * number;
    }

    /// <summary>Adds a value of which only the type is known.</summary>
    public void AddType(BsonType type) => _types[type] = _types.GetValueOrDefault(type) + 1;

    /// <param name="length">How many values one list had.</param>
    public void AddList(int length) =>
        _list = _list is var (least, most) ? (Math.Min(least, length), Math.Max(most, length)) : (length, length);

    /// <param name="width">How far it was above the lower bound.</param>
    public void AddWidth(double width)
    {
        if (!double.IsFinite(width))
            return;
        _widths += width;
        _bounds++;
        if (_fewWidths is null)
            return;
        _fewWidths[width] = _fewWidths.GetValueOrDefault(width) + 1;
        if (_fewWidths.Count > MostFewWidths)
            _fewWidths = null;
    }

    /// <param name="field">What is known of the field.</param>
    public ObservedValues ToValues(KnownField field) => new(_types, _counts.Count + _beyond, KeysOf(field))
    {
        ListLength = _list,
        MeanLength = _texts > 0 ? _textBytes / _texts : null,
        MeanWidth = _bounds > 0 ? _widths / _bounds : null,
        Widths = _fewWidths is { Count: > 0 } widths && _bounds >= 10 * Math.Max(2, widths.Count)
            ? [.. widths.OrderByDescending(one => one.Value)] : [],
        Range = Range,
        Ends = _range,
        Few = _few is { Count: > 0 } few && _values >= 10 * Math.Max(2, few.Count)
            ? [.. few.Values.OrderByDescending(one => one.Count).Select(one => KeyValuePair.Create(one.Value, one.Count))] : [],
        IsEven = IsEven,
    };

    private (double Least, double Most)? Range =>
        _range is var (least, most) ? (RoundOutward(least, up: false), RoundOutward(most, up: true)) : null;

    /// <summary>Mean and deviation are those of an even distribution over the range, which is hardly wider when it is rounded.</summary>
    private bool IsEven
    {
        get
        {
            if (_range is not var (least, most) || Range is not var (low, high) || most <= least || high - low > 1.1 * (most - least)
                || _numbers < Math.Max(_values, KeyFit.LeastDraws))
                return false;
            double mean = _sum / _numbers;
            double deviation = Math.Sqrt(Math.Max(0, (_squares / _numbers) - (mean * mean))) * Math.Sqrt(12) / (most - least);
            return Math.Abs(((mean - least) / (most - least)) - 0.5) < 0.05 && Math.Abs(deviation - 1) < 0.1;
        }
    }

    /// <summary>A number or a date (in milliseconds) as a number; null for anything else.</summary>
    public static double? NumberOf(BsonValue value) => value.IsNumber ? value.ToDouble()
        : value.Type == BsonType.DateTime ? value.ToInt64() : null;

    /// <summary>How the values of several tallies were drawn together.</summary>
    public static KeyDistribution KeysOf(IEnumerable<ValueTally> tallies, FieldPopulation? population)
    {
        var all = new ValueTally();
        foreach (ValueTally tally in tallies)
        {
            all._values += tally._values;
            all._ages.AddRange(tally._ages);
            foreach ((ulong hash, long count) in tally._counts)
                all._counts[hash] = all._counts.GetValueOrDefault(hash) + count;
        }

        return all.KeysOf(new KnownField(population, default));
    }

    private KeyDistribution KeysOf(KnownField field)
    {
        if (_values < KeyFit.LeastDraws)
            return field.Keys;
        if (IsScan)
            return new KeyDistribution(KeyDistributionKind.Sequential);
        if (_order.Count > _values * 0.99 && _order.Count >= KeyFit.LeastDraws && LatestFit.Of(_order, field.Population) is { } theta)
            return new KeyDistribution(KeyDistributionKind.Latest, theta);
        if (LatestFit.OfAges(_ages, field.Population) is { } aged)
            return new KeyDistribution(KeyDistributionKind.Latest, aged);
        var frequencies = new Dictionary<long, long>();
        foreach (long count in _counts.Values)
            frequencies[count] = frequencies.GetValueOrDefault(count) + 1;
        return KeyFit.Of(frequencies, field.Population, field.Keys);
    }

    /// <summary>
    /// Each key is greater than the one before, and none of documents that came while it was watched: of these, that would be the newest.
    /// </summary>
    private bool IsScan => _order.Count >= KeyFit.LeastDraws && _order.Count > _values * 0.99 && _counts.Count >= Nearly * _values
        && _ages.Count(one => one.Age >= 0) < _values / 2.0
        && _order.Zip(_order.Skip(1)).Count(pair => pair.Second > pair.First) >= Nearly * (_order.Count - 1);

    /// <summary>The same for numbers that are equal, whatever their types.</summary>
    public static ulong HashOf(BsonValue value)
    {
        ulong hash = value.IsNumber && value.Type != BsonType.Decimal128 ? 0 : (ulong)value.Type;
        if (value.IsNumber && value.Type != BsonType.Decimal128)
            return Mixing.Mix(value.Type != BsonType.Double || IsWhole(value.ToDouble()) ? (ulong)value.ToInt64()
                : (ulong)BitConverter.DoubleToInt64Bits(value.ToDouble()));
        ReadOnlySpan<byte> bytes = value.Bytes.Span;
        Span<byte> word = stackalloc byte[8];
        while (bytes.Length > 0)
        {
            int count = Math.Min(8, bytes.Length);
            word.Clear();
            bytes[..count].CopyTo(word);
            hash = Mixing.Mix(hash ^ BinaryPrimitives.ReadUInt64LittleEndian(word)) + (ulong)count;
            bytes = bytes[count..];
        }

        return hash;
    }

    private static bool IsWhole(double number) => Math.Abs(number) < 1L << 53 && Math.Floor(number) == number;

    /// <summary>
    /// Where among others a value stands that may grow from one document to the next: a whole number, a date, an ObjectId by its time and
    /// counter, a text that ends in digits by these.
    /// </summary>
    private static ulong? PositionOf(BsonValue value)
    {
        const ulong Middle = 1UL << 63;
        switch (value.Type)
        {
            case BsonType.Int32 or BsonType.Int64 or BsonType.DateTime:
                return (ulong)value.ToInt64() ^ Middle;
            case BsonType.Double when IsWhole(value.ToDouble()):
                return (ulong)(long)value.ToDouble() ^ Middle;
            case BsonType.ObjectId:
                ObjectId id = value.ToObjectId();
                return ((ulong)id.High << 24) | (id.Low & 0xFFFFFF);
            case BsonType.String:
                ReadOnlySpan<byte> text = value.Bytes.Span[4..^1];
                ReadOnlySpan<byte> digits = text[(text.LastIndexOfAnyExceptInRange((byte)'0', (byte)'9') + 1)..];
                return digits.Length is > 0 and <= 18 ? ulong.Parse(digits, CultureInfo.InvariantCulture) : null;
            default:
                return null;
        }
    }

    /// <summary>To two digits, so that no bound is a value that somebody stored; whole numbers up to 10 tell nothing.</summary>
    private static double RoundOutward(double number, bool up)
    {
        if (number == 0 || (Math.Abs(number) <= 10 && IsWhole(number)))
            return number;
        double unit = Math.Pow(10, Math.Floor(Math.Log10(Math.Abs(number))) - 1);
        return (up ? Math.Ceiling(number / unit) : Math.Floor(number / unit)) * unit;
    }
}
