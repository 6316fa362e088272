using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage.Keys;

/// <summary>An order of strings that is not that of their bytes. Immutable; any thread.</summary>
/// <remarks>
/// There is one object for each collation, so that two are the same when they are the same object; null stands for the simple collation.
/// </remarks>
internal sealed class Collation : IStringOrder
{
    /// <summary>The locales whose order is the root order. Source: mongod 6.0.5, every character sorted by each of its locales.</summary>
    public static readonly string[] Locales =
    [
        "bo", "ca", "de", "de_AT", "dz", "en", "en_US", "fr", "ga", "id", "it", "lb", "ms", "nl", "pt", "sw", "wae", "zu",
    ];

    private const byte EndOfLevel = 1;
    private const byte EndOfKey = 0;
    private const byte Lowest = 2;
    private const byte First = 3;
    private const int Base = 250;
    private const int LargePrimary = 0xE000;
    private const byte LargeLead = 0xF0;

    // As ICU: a longer number is compared in parts.
    private const int DigitsOfPart = 254;

    private const int UsualWeights = 4096;

    private static readonly Dictionary<(string Locale, int Strength, bool IsNumeric, bool IsShifted), Collation> Known = [];

    [ThreadStatic]
    private static Scratch? _scratch;

    private readonly int _strength;
    private readonly bool _isNumeric;
    private readonly bool _isShifted;

    private Collation(string locale, int strength, bool isNumeric, bool isShifted)
    {
        (_strength, _isNumeric, _isShifted) = (strength, isNumeric, isShifted);
        Description = BsonDocument.Of(
            ("locale", locale), ("caseLevel", false), ("caseFirst", "off"), ("strength", strength), ("numericOrdering", isNumeric),
            ("alternate", isShifted ? "shifted" : "non-ignorable"), ("maxVariable", "punct"), ("normalization", false),
            ("backwards", false), ("version", "57.1"));
    }

    /// <summary>All of its options, as mongod shows them.</summary>
    public BsonDocument Description { get; }

    /// <param name="locale">One of <see cref="Locales"/>.</param>
    /// <param name="strength">1 compares letters, 2 accents too, 3 also case and variants.</param>
    /// <param name="isNumeric">Digits are compared as the numbers that they are.</param>
    /// <param name="isShifted">Spaces and punctuation count nothing.</param>
    public static Collation Of(string locale, int strength, bool isNumeric, bool isShifted)
    {
        lock (Known)
        {
            if (!Known.TryGetValue((locale, strength, isNumeric, isShifted), out Collation? known))
                Known[(locale, strength, isNumeric, isShifted)] = known = new Collation(locale, strength, isNumeric, isShifted);
            return known;
        }
    }

    /// <summary>The collation that a <see cref="Description"/> says; null for none.</summary>
    public static Collation? FromDescription(BsonDocument? description) => description == null ? null : Of(
        description.FindString("locale")!, (int)description.FindInt64("strength")!, description.IsTrue("numericOrdering"),
        description.FindString("alternate") == "shifted");

    /// <summary>Whether values of a type may have strings in them, and so an order that depends on the collation.</summary>
    public static bool Concerns(BsonType type) => type is BsonType.String or BsonType.Symbol or BsonType.Document or BsonType.Array;

    public int Compare(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        Scratch scratch = _scratch ??= new Scratch();
        scratch.Left.Clear();
        scratch.Right.Clear();
        WriteKey(scratch.Left, left);
        WriteKey(scratch.Right, right);
        return scratch.Left.Written.SequenceCompareTo(scratch.Right.Written);
    }

    /// <summary>Writes bytes that sort as the text does, and that no other text's begin with; they end with the only 0.</summary>
    /// <remarks>
    /// Primary weights, then secondary, then tertiary ones, as far as the strength goes, with a 1 between them. The common weight, which
    /// is the least, is left out at the end of a level.
    /// </remarks>
    public void WriteKey(KeyBuffer key, ReadOnlySpan<byte> text)
    {
        List<Weights> weights = (_scratch ??= new Scratch()).Weights;
        weights.Clear();
        RootOrder order = RootOrder.Instance;
        for (int at = 0; at < text.Length;)
            at += _isNumeric && ReadNumber(order, text[at..], weights) is > 0 and var length ? length : order.Read(text[at..], weights);
        if (_isShifted)
            RemoveVariable(weights, order.LastVariable);
        foreach (Weights weight in weights)
        {
            if (weight.Primary != 0)
                AddPrimary(key, weight.Primary);
        }

        if (_strength > 1)
            AddLevel(key, weights, RootOrder.CommonSecondary, static weight => weight.Secondary);
        if (_strength > 2)
            AddLevel(key, weights, RootOrder.CommonTertiary, static weight => weight.Tertiary);
        key.Add(EndOfKey);
        // A thread that has met a text of megabytes would keep ten times as much for as long as it lives.
        if (weights.Capacity > UsualWeights)
            _scratch = null;
    }

    /// <summary>Takes spaces and punctuation out, with the marks that belong to them.</summary>
    private static void RemoveVariable(List<Weights> weights, int lastVariable)
    {
        int kept = 0;
        bool isAfterVariable = false;
        foreach (Weights weight in weights.ToArray())
        {
            // Length and digits of a number have primary weights of their own, and no others.
            if (weight.Primary > 0 && weight.Primary <= lastVariable && weight.Secondary != 0)
                isAfterVariable = true;
            else if (weight.Primary != 0)
                isAfterVariable = false;
            if (!isAfterVariable)
                weights[kept++] = weight;
        }

        weights.RemoveRange(kept, weights.Count - kept);
    }

    /// <returns>The bytes of the number that the text begins with; 0 when it begins with none.</returns>
    private static int ReadNumber(RootOrder order, ReadOnlySpan<byte> text, List<Weights> weights)
    {
        List<byte> digits = (_scratch ??= new Scratch()).Digits;
        digits.Clear();
        int length = 0;
        while (length < text.Length)
        {
            Rune.DecodeFromUtf8(text[length..], out Rune rune, out int bytes);
            int digit = order.DigitOf(rune.Value);
            if (digit < 0)
                break;
            digits.Add((byte)digit);
            length += bytes;
        }

        for (int at = 0; at < digits.Count;)
        {
            while (at < digits.Count - 1 && digits[at] == 0)
                at++;
            int count = Math.Min(DigitsOfPart, digits.Count - at);
            weights.Add(new Weights(order.NumberPrimary, RootOrder.CommonSecondary, RootOrder.CommonTertiary));
            weights.Add(new Weights(count, 0, 0));
            for (int end = at + count; at < end; at++)
                weights.Add(new Weights(digits[at] + 1, 0, 0));
        }

        return length;
    }

    private static void AddPrimary(KeyBuffer key, int primary)
    {
        switch (primary)
        {
            case Weights.LeastPrimary:
                key.Add(Lowest);
                break;
            case < LargePrimary:
                AddPair(key, primary);
                break;
            default:
                key.Add(LargeLead);
                key.Add((byte)(First + (primary / (Base * Base))));
                AddPair(key, primary % (Base * Base));
                break;
        }
    }

    private static void AddLevel(KeyBuffer key, List<Weights> weights, int common, Func<Weights, short> weightOf)
    {
        key.Add(EndOfLevel);
        int end = key.Length;
        foreach (Weights weight in weights)
        {
            short value = weightOf(weight);
            if (value == 0)
                continue;
            AddPair(key, value);
            if (value != common)
                end = key.Length;
        }

        key.Truncate(end);
    }

    private static void AddPair(KeyBuffer key, int value)
    {
        key.Add((byte)(First + (value / Base)));
        key.Add((byte)(First + (value % Base)));
    }

    private sealed class Scratch
    {
        public List<Weights> Weights { get; } = [];

        public List<byte> Digits { get; } = [];

        public KeyBuffer Left { get; } = new();

        public KeyBuffer Right { get; } = new();
    }
}
