using System.Buffers;
using System.Globalization;
using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>How BSON values are written as the text that Tokyo Tyrant's columns and conditions hold.</summary>
/// <remarks>
/// Numbers as decimal digits, dates as milliseconds since 1970, ObjectIds as 24 hexadecimal digits, booleans as true and false, strings as
/// they are; an array's values with commas between them. Nothing is allocated.
/// </remarks>
internal static class TyrantText
{
    private const int LongestNumber = 32;

    /// <summary>Where the server parts the words of a column.</summary>
    private static readonly SearchValues<byte> WordEnds = SearchValues.Create("\t\n\r ,"u8);

    /// <summary>Whether the server may compare the value as a number.</summary>
    public static bool IsNumber(BsonType type) => type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.DateTime;

    /// <param name="to">Takes the text.</param>
    /// <param name="value">The element whose value is written.</param>
    /// <param name="field">Its name, for messages.</param>
    /// <exception cref="OperationLimitException">No text stands for such a value.</exception>
    public static void Write(BsonWriter to, in BsonReader value, ReadOnlySpan<byte> field)
    {
        switch (value.Type)
        {
            case BsonType.Int32: WriteNumber(to, value.Int32); break;
            case BsonType.Int64: WriteNumber(to, value.Int64); break;
            case BsonType.DateTime: WriteNumber(to, value.DateTimeMilliseconds); break;
            case BsonType.Double: WriteNumber(to, value.Double); break;
            case BsonType.Boolean: to.WriteRaw(value.Boolean ? "true"u8 : "false"u8); break;
            case BsonType.ObjectId: Convert.TryToHexStringLower(value.Value, to.Grow(2 * ObjectId.Size), out _); break;
            case BsonType.String: WriteString(to, value.StringBytes, field); break;
            case BsonType.Array: WriteWords(to, value.DocumentBytes, field); break;
            default: throw Refuse(field, value.Type);
        }
    }

    /// <summary>Does the same as <see cref="Write"/> for a value that the server shall take for one word.</summary>
    /// <inheritdoc cref="Write"/>
    public static void WriteWord(BsonWriter to, in BsonReader value, ReadOnlySpan<byte> field)
    {
        if (value.Type == BsonType.Array)
            throw Refuse(field, value.Type);
        int start = to.Length;
        Write(to, value, field);
        if (to.Written[start..].ContainsAny(WordEnds))
            throw new OperationLimitException($"field '{Text(field)}' is an array containing '{Text(to.Written[start..])}', "
                + "which Tokyo Tyrant splits into several words; allowed: values without commas and spaces");
    }

    private static void WriteWords(BsonWriter to, ReadOnlySpan<byte> array, ReadOnlySpan<byte> field)
    {
        int start = to.Length;
        var item = new BsonReader(array);
        while (item.Read())
        {
            if (to.Length > start)
                to.WriteRawByte((byte)',');
            WriteWord(to, item, field);
        }
    }

    private static void WriteNumber<T>(BsonWriter to, T value)
        where T : IUtf8SpanFormattable
    {
        int start = to.Length;
        value.TryFormat(to.Grow(LongestNumber), out int length, default, CultureInfo.InvariantCulture);
        to.Truncate(start + length);
    }

    private static void WriteString(BsonWriter to, ReadOnlySpan<byte> text, ReadOnlySpan<byte> field)
    {
        if (text.Contains((byte)0))
            throw new OperationLimitException($"field '{Text(field)}' contains a zero byte, which separates columns in a Tokyo Tyrant "
                + "record; allowed: text without zero bytes");
        to.WriteRaw(text);
    }

    private static OperationLimitException Refuse(ReadOnlySpan<byte> field, BsonType type) => new(
        $"field '{Text(field)}' is {type}; allowed with Tokyo Tyrant: numbers, dates, strings, booleans, ObjectIds, and arrays of these");

    private static string Text(ReadOnlySpan<byte> utf8) => Encoding.UTF8.GetString(utf8);
}
