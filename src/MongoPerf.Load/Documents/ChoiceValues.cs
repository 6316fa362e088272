using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>One of several values, each with its weight; or in turn, each for a number of consecutive documents.</summary>
/// <param name="items">One or more, of any kind.</param>
/// <param name="weights">As many weights, above 0 in total; null weighs all the same.</param>
/// <param name="salt">The value's own.</param>
/// <param name="turns">For how many documents each stands, above 0 in total; then the first comes again. Null draws them.</param>
public sealed class ChoiceValue(
    IReadOnlyList<TemplateValue> items, IReadOnlyList<double>? weights, ulong salt, IReadOnlyList<long>? turns = null) : TemplateValue
{
    private readonly double[] _ends = WeightedChoice.Ends(weights ?? [.. items.Select(_ => 1.0)]);
    private readonly long _cycle = turns?.Sum() ?? 0;

    public override IEnumerable<TemplateValue> Parts => items;

    public override TemplateValue Bind(StepValues values) =>
        new ChoiceValue([.. items.Select(item => item.Bind(values))], weights, salt, turns);

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
        items[turns is null ? WeightedChoice.Pick(_ends, context.BitsOf(salt)) : TurnOf(context.Number % _cycle)]
            .Write(writer, name, context);

    private int TurnOf(long place)
    {
        int turn = 0;
        for (; place >= turns![turn]; turn++)
            place -= turns[turn];
        return turn;
    }
}

/// <summary>For each value of another one its own; where there is none, that value itself.</summary>
/// <param name="by">The other one.</param>
/// <param name="items">What stands for each of its texts, whole numbers or booleans.</param>
public sealed class MappedValue(TemplateValue by, IReadOnlyList<KeyValuePair<string, TemplateValue>> items) : TemplateValue
{
    private readonly byte[][] _texts = [.. items.Select(item => Encoding.UTF8.GetBytes(item.Key))];
    private readonly long?[] _numbers = [.. items.Select(item =>
        long.TryParse(item.Key, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number) ? number : (long?)null)];

    public override IEnumerable<TemplateValue> Parts => [by, .. items.Select(item => item.Value)];

    public override TemplateValue Bind(StepValues values) =>
        new MappedValue(by.Bind(values), [.. items.Select(item => KeyValuePair.Create(item.Key, item.Value.Bind(values)))]);

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        int start = writer.Length;
        by.Write(writer, name, context);
        int at = PlaceOf((BsonType)writer.Written[start], writer.Written[(start + name.Length + 2)..]);
        if (at < 0)
            return;
        writer.Truncate(start);
        items[at].Value.Write(writer, name, context);
    }

    private int PlaceOf(BsonType type, ReadOnlySpan<byte> value)
    {
        long? number = type switch
        {
            BsonType.Int32 => BinaryPrimitives.ReadInt32LittleEndian(value),
            BsonType.Int64 => BinaryPrimitives.ReadInt64LittleEndian(value),
            _ => null,
        };
        for (int i = 0; i < _texts.Length; i++)
        {
            bool isIt = type switch
            {
                BsonType.String => value[4..^1].SequenceEqual(_texts[i]),
                BsonType.Boolean => _texts[i].AsSpan().SequenceEqual(value[0] == 0 ? "false"u8 : "true"u8),
                _ => number is not null && _numbers[i] == number,
            };
            if (isIt)
                return i;
        }

        return -1;
    }
}

/// <summary>A word of the built-in dictionary, or of its first words.</summary>
/// <param name="words">1 to <see cref="WordList.Count"/>: so many of the first are drawn from.</param>
/// <param name="salt">The value's own.</param>
public sealed class WordValue(int words, ulong salt) : TemplateValue
{
    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
        writer.WriteString(name, WordList.Words[Mixing.Scale((uint)(context.BitsOf(salt) >> 32), words)]);
}

/// <summary>Picks by weight.</summary>
public static class WeightedChoice
{
    /// <summary>Where each item's share ends, 0 to 1; the last is 1.</summary>
    /// <exception cref="ArgumentException">A negative weight, or none above 0.</exception>
    public static double[] Ends(IReadOnlyList<double> weights)
    {
        double sum = weights.Sum();
        if (!(sum > 0) || weights.Any(w => !(w >= 0)))
            throw new ArgumentException("weights are 0 or more, and one of them above 0", nameof(weights));
        double[] ends = new double[weights.Count];
        double end = 0;
        for (int i = 0; i < ends.Length; i++)
            ends[i] = end += weights[i] / sum;
        // Rounding must not leave a gap: the last item with a share gets the rest.
        ends.AsSpan(weights.ToList().FindLastIndex(w => w > 0)).Fill(1);
        return ends;
    }

    public static int Pick(double[] ends, ulong bits)
    {
        double at = (bits >> 11) * (1.0 / (1UL << 53));
        int i = 0;
        while (at >= ends[i])
            i++;
        return i;
    }
}

/// <summary>About eight thousand words that look like words, the same on every machine.</summary>
public static class WordList
{
    /// <summary>As many words as the dictionary of the 2.4.8 report had.</summary>
    public const int Count = 7998;

    private const ulong Seed = 248;
    private static readonly string[] Onsets =
    [
        "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "cl", "dr", "fl", "gr", "pl", "pr",
        "sh", "sl", "st", "th", "tr",
    ];
    private static readonly string[] Vowels = ["a", "e", "i", "o", "u", "ai", "ea", "ou"];
    private static readonly string[] Codas = ["", "", "", "l", "m", "n", "r", "s", "t", "ck", "nd", "rt"];

    /// <summary>The words in UTF-8, no two the same.</summary>
    public static byte[][] Words { get; } = Make();

    private static byte[][] Make()
    {
        var random = new RandomStream(Seed);
        var seen = new HashSet<string>(Count);
        var words = new List<byte[]>(Count);
        while (words.Count < Count)
        {
            var word = new StringBuilder();
            int syllables = 1 + random.Next(3);
            for (int i = 0; i < syllables; i++)
                word.Append(Onsets[random.Next(Onsets.Length)]).Append(Vowels[random.Next(Vowels.Length)]);
            word.Append(Codas[random.Next(Codas.Length)]);
            if (seen.Add(word.ToString()))
                words.Add(Encoding.UTF8.GetBytes(word.ToString()));
        }

        return [.. words];
    }
}
