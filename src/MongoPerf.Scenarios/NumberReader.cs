using MongoPerf.Load.Documents;
using MongoPerf.Measurement;

namespace MongoPerf.Scenarios;

/// <summary>Reads the generators of numbers, dates and booleans.</summary>
internal static class NumberReader
{
    private const long MostInGroup = long.MaxValue / 2;

    /// <summary>Reads <c>^number</c>, which follows from the document's number.</summary>
    public static SequenceValue Sequence(GeneratorReader reader, ulong salt, ulong seed)
    {
        NumberKind kind = reader.OneOf("type", "long", "int", "double") switch
        {
            "int" => NumberKind.Int32,
            "double" => NumberKind.Double,
            _ => NumberKind.Int64,
        };
        NumberGroups? groups = Groups(reader, salt, seed);
        long? cycle = reader.Count("cycle", 1, long.MaxValue);
        bool isShuffled = reader.Flag("shuffled");
        if (isShuffled && cycle is null)
            throw reader.Wrong("shuffled needs a cycle, the numbers that come in another order", "such as {cycle: 100, shuffled: true}");
        var value = new SequenceValue(
            kind, reader.Long("start") ?? 0, reader.Long("step") ?? 1, groups, cycle ?? long.MaxValue, isShuffled);
        return value.Limit > 0 && (cycle is null || value.Limit == long.MaxValue) ? value
            : throw reader.Wrong($"its values go beyond {(kind == NumberKind.Int32 ? "32" : "64")} bits",
                kind == NumberKind.Int32 ? "type: long has 64 bits" : "a smaller start, step or cycle");
    }

    private static NumberGroups? Groups(GeneratorReader reader, ulong salt, ulong seed) =>
        reader.CountRange("every", 1, MostInGroup) is var (least, most) ? new NumberGroups(least, most, Mixing.Mix(seed ^ salt)) : null;

    /// <summary>Reads <c>^int</c>: uniform, TPC-C's NURand, or one half of a draw that two fields share.</summary>
    public static TemplateValue Int(GeneratorReader reader, ulong salt, ulong seed)
    {
        if (reader.Text("draw") is { } half)
            return TypedValueReader.SharedDraw(reader, half, seed);
        return reader.Count("nurand", 1, int.MaxValue - 1) is { } a
            ? NonUniform(reader, (int)a, salt, seed)
            : Integers(reader, NumberKind.Int32, int.MinValue, int.MaxValue, salt);
    }

    /// <summary>Reads <c>^long</c>.</summary>
    public static IntegerValue Long(GeneratorReader reader, ulong salt) =>
        Integers(reader, NumberKind.Int64, long.MinValue, long.MaxValue, salt);

    /// <summary>Reads <c>^double</c>.</summary>
    public static DoubleValue Double(GeneratorReader reader, ulong salt)
    {
        (double low, double high) = reader.NumberRange() ?? throw reader.Wrong("the least and greatest values are missing");
        return low <= high ? new DoubleValue(low, high, salt, (int?)reader.Count("decimals", 0, 15))
            : throw reader.Wrong($"{low} to {high}: the least value comes first", $"write [{high}, {low}]");
    }

    /// <summary>Reads <c>^bool</c>: true with a probability, half unless it is given.</summary>
    public static BooleanValue Bool(GeneratorReader reader, ulong salt) => new(reader.Number(null, 0, 1) ?? 0.5, salt);

    /// <summary>Reads <c>^date</c>: drawn between two dates, or one after the other.</summary>
    public static TemplateValue Date(GeneratorReader reader, ulong salt, ulong seed)
    {
        if (reader.Date("from") is { } from)
        {
            if ((reader.Node("step") ?? reader.Node("start") ?? reader.Node("every") ?? reader.Node("jitter")) is not null)
                throw reader.Wrong("'from' and 'to' draw dates, 'start', 'step', 'every' and 'jitter' follow the number",
                    "remove one or the other");
            long to = reader.Date("to") ?? throw reader.Wrong("'to' is missing");
            return from <= to ? new IntegerValue(NumberKind.Date, from, to, salt) : throw reader.Wrong("'from' is later than 'to'");
        }

        long start = reader.Date("start") ?? throw reader.Wrong("'from' and 'to', or 'start' and 'step' are missing",
            "such as {^date: {from: 2011-01-01, to: 2012-01-01}}");
        return new SequenceValue(NumberKind.Date, start, Milliseconds(reader, "step") ?? 1000, Groups(reader, salt, seed),
            jitter: Milliseconds(reader, "jitter") ?? 0, salt: salt);
    }

    private static long? Milliseconds(GeneratorReader reader, string key)
    {
        if (reader.Duration(key) is not { } seconds)
            return null;
        double milliseconds = Math.Round(seconds * 1e6) / 1000;
        return milliseconds == Math.Floor(milliseconds) ? (long)milliseconds
            : throw reader.Wrong($"{key} is {milliseconds:0.###}ms; a date has whole milliseconds", $"such as {key}: 1ms");
    }

    /// <summary>The constant C is the same wherever A is, in data and in operations.</summary>
    private static NonUniformValue NonUniform(GeneratorReader reader, int a, ulong salt, ulong seed)
    {
        (int min, int max) = reader.Int32Range(0, "such as {^int: {min: 1, max: 3000, nurand: 1023}}");
        return new NonUniformValue(min, max, a, (int)(Mixing.Mix(seed ^ (ulong)a) % ((ulong)a + 1)), salt);
    }

    private static IntegerValue Integers(GeneratorReader reader, NumberKind kind, long least, long greatest, ulong salt)
    {
        (long min, long max) =
            reader.IntegerRange() ?? throw reader.Wrong("the least and greatest values are missing", "such as {^int: [0, 99]}");
        if (min > max)
            throw reader.Wrong($"{min} to {max}: the least value comes first", $"write [{max}, {min}]");
        if (min < least || max > greatest)
            throw reader.Wrong($"{min} to {max} is not a valid range between {least} and {greatest}",
                kind == NumberKind.Int32 ? "^long has a larger range" : null);
        return new IntegerValue(kind, min, max, salt);
    }
}
