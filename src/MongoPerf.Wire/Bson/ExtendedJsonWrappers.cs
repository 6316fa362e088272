using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;

namespace MongoPerf.Wire.Bson;

/// <summary>The objects that stand for a typed value: <c>{"$oid": "…"}</c> and its like.</summary>
internal static class ExtendedJsonWrappers
{
    private static readonly SearchValues<char> NumberCharacters = SearchValues.Create("0123456789+-.eE");

    /// <returns>False when the object is a plain document; a wrapper with wrong contents throws.</returns>
    public static bool TryWrite(ExtendedJsonReader reader, BsonWriter writer, byte[] name, JsonElement value)
    {
        foreach (JsonProperty property in value.EnumerateObject())
        {
            if (property.Name.StartsWith('$') && Writers.TryGetValue(property.Name, out Write? write))
            {
                int allowed = property.Name == "$code" && value.TryGetProperty("$scope", out _) ? 2 : 1;
                RequireCount(reader, value, allowed, property.Name);
                write(new Wrapper(reader, writer, name, property.Name, property.Value, value));
                return true;
            }
        }

        return false;
    }

    private delegate void Write(Wrapper wrapper);

    private readonly record struct Wrapper(
        ExtendedJsonReader Reader, BsonWriter Writer, byte[] Name, string Key, JsonElement Value, JsonElement Whole)
    {
        public string Text => Reader.RequireText(Value, Key);

        public ExtendedJsonException Wrong(string found, string allowed) => Reader.Wrong($"{Key} is {found}, {allowed}");
    }

    private static Dictionary<string, Write> Writers { get; } = new(StringComparer.Ordinal)
    {
        ["$oid"] = WriteObjectId,
        ["$symbol"] = static w => WriteCode(w, BsonType.Symbol),
        ["$numberInt"] = static w => w.Writer.WriteInt32(w.Name, (int)ReadInteger(w, int.MinValue, int.MaxValue)),
        ["$numberLong"] = static w => w.Writer.WriteInt64(w.Name, ReadInteger(w, long.MinValue, long.MaxValue)),
        ["$numberDouble"] = WriteDouble,
        ["$numberDecimal"] = WriteDecimal,
        ["$binary"] = WriteBinary,
        ["$uuid"] = WriteUuid,
        ["$code"] = WriteCodeWithOrWithoutScope,
        ["$timestamp"] = WriteTimestamp,
        ["$regularExpression"] = WriteRegex,
        ["$dbPointer"] = WriteDbPointer,
        ["$date"] = WriteDate,
        ["$minKey"] = static w => WriteKey(w, BsonType.MinKey),
        ["$maxKey"] = static w => WriteKey(w, BsonType.MaxKey),
        ["$undefined"] = WriteUndefined,
    };

    private static void RequireCount(ExtendedJsonReader reader, JsonElement value, int allowed, string what)
    {
        int count = value.EnumerateObject().Count();
        if (count != allowed)
            throw reader.Wrong($"{count} keys in the object of {what}, {allowed} are allowed");
    }

    private static JsonElement Member(Wrapper w, string name, int members)
    {
        if (w.Value.ValueKind != JsonValueKind.Object || !w.Value.TryGetProperty(name, out JsonElement member))
            throw w.Wrong(ExtendedJsonReader.Describe(w.Value), $"an object with '{name}' is expected");
        RequireCount(w.Reader, w.Value, members, w.Key);
        return member;
    }

    private static string TextMember(Wrapper w, string name) => w.Reader.RequireText(Member(w, name, 2), $"{w.Key}.{name}");

    private static long ReadInteger(Wrapper w, long minimum, long maximum)
    {
        string text = w.Text;
        return long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long value)
            && value >= minimum && value <= maximum
            ? value
            : throw w.Wrong($"'{text}'", $"allowed: {minimum} to {maximum}");
    }

    private static void WriteObjectId(Wrapper w) => w.Writer.WriteObjectId(w.Name, ReadObjectId(w.Reader, w.Text));

    private static ObjectId ReadObjectId(ExtendedJsonReader reader, string text)
    {
        if (text.Length != 2 * ObjectId.Size || !text.All(char.IsAsciiHexDigit))
            throw reader.Wrong($"$oid is '{text}', 24 hexadecimal digits are allowed");
        return ObjectId.Parse(text);
    }

    private static void WriteDouble(Wrapper w)
    {
        string text = w.Text;
        bool isWord = text is "NaN" or "Infinity" or "-Infinity";
        if (!double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double value)
            || (!isWord && text.AsSpan().ContainsAnyExcept(NumberCharacters)))
            throw w.Wrong($"'{text}'", "a number, NaN, Infinity or -Infinity is allowed");
        w.Writer.WriteDouble(w.Name, value);
    }

    private static void WriteDecimal(Wrapper w)
    {
        if (!Decimal128.TryParse(w.Text, out Decimal128 value))
            throw w.Wrong($"'{w.Text}'", "a decimal number is allowed that 34 digits and exponents of -6176 to 6111 hold exactly");
        w.Writer.WriteName(BsonType.Decimal128, w.Name);
        value.CopyTo(w.Writer.Grow(Decimal128.Size));
    }

    private static void WriteBinary(Wrapper w)
    {
        string base64 = TextMember(w, "base64");
        string subtypeText = TextMember(w, "subType");
        if (subtypeText.Length is 0 or > 2
            || !byte.TryParse(subtypeText, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out byte subtype))
            throw w.Wrong($"of subType '{subtypeText}'", "one or two hexadecimal digits are allowed");
        byte[] bytes = new byte[base64.Length];
        if (!Convert.TryFromBase64String(base64, bytes, out int length))
            throw w.Wrong("not base64", "characters A-Z a-z 0-9 + / = are allowed");
        if (subtype == 2)
        {
            // The old binary repeats its length inside.
            byte[] withLength = new byte[length + 4];
            BitConverter.TryWriteBytes(withLength, length);
            bytes.AsSpan(0, length).CopyTo(withLength.AsSpan(4));
            (bytes, length) = (withLength, withLength.Length);
        }

        w.Writer.WriteBinary(w.Name, bytes.AsSpan(0, length), subtype);
    }

    private static void WriteUuid(Wrapper w)
    {
        if (!Guid.TryParseExact(w.Text, "D", out Guid uuid))
            throw w.Wrong($"'{w.Text}'", "hexadecimal digits in groups of 8-4-4-4-12 are allowed");
        w.Writer.WriteBinary(w.Name, uuid.ToByteArray(bigEndian: true), subtype: 4);
    }

    private static void WriteCode(Wrapper w, BsonType type)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(w.Text);
        w.Writer.WriteName(type, w.Name);
        WriteString(w.Writer, utf8);
    }

    private static void WriteString(BsonWriter writer, byte[] utf8)
    {
        writer.WriteRawInt32(utf8.Length + 1);
        writer.WriteRaw(utf8);
        writer.WriteRawByte(0);
    }

    private static void WriteCodeWithOrWithoutScope(Wrapper w)
    {
        if (!w.Whole.TryGetProperty("$scope", out JsonElement scope))
        {
            WriteCode(w, BsonType.JavaScript);
            return;
        }

        byte[] utf8 = Encoding.UTF8.GetBytes(w.Text);
        if (scope.ValueKind != JsonValueKind.Object)
            throw w.Reader.Wrong($"$scope is {ExtendedJsonReader.Describe(scope)}, an object is expected");
        w.Writer.WriteName(BsonType.JavaScriptWithScope, w.Name);
        int start = w.Writer.Length;
        w.Writer.WriteRawInt32(0);
        WriteString(w.Writer, utf8);
        w.Reader.WriteDocument(scope);
        w.Writer.PatchInt32(start, w.Writer.Length - start);
    }

    private static void WriteTimestamp(Wrapper w)
    {
        uint seconds = ReadUInt32(w, "t");
        uint increment = ReadUInt32(w, "i");
        w.Writer.WriteTimestamp(w.Name, ((ulong)seconds << 32) | increment);
    }

    private static uint ReadUInt32(Wrapper w, string name)
    {
        JsonElement member = Member(w, name, 2);
        return member.ValueKind == JsonValueKind.Number && member.TryGetUInt32(out uint value)
            ? value
            : throw w.Reader.Wrong($"{w.Key}.{name} is {ExtendedJsonReader.Describe(member)}; allowed: 0 to {uint.MaxValue}");
    }

    private static void WriteRegex(Wrapper w)
    {
        string pattern = TextMember(w, "pattern");
        string options = string.Concat(TextMember(w, "options").Order());
        if (pattern.Contains('\0', StringComparison.Ordinal) || options.Contains('\0', StringComparison.Ordinal))
            throw w.Wrong("with a zero character", "none is allowed in pattern and options");
        w.Writer.WriteName(BsonType.Regex, w.Name);
        w.Writer.WriteRaw(Encoding.UTF8.GetBytes(pattern));
        w.Writer.WriteRawByte(0);
        w.Writer.WriteRaw(Encoding.UTF8.GetBytes(options));
        w.Writer.WriteRawByte(0);
    }

    private static void WriteDbPointer(Wrapper w)
    {
        byte[] collection = Encoding.UTF8.GetBytes(TextMember(w, "$ref"));
        JsonElement id = Member(w, "$id", 2);
        if (id.ValueKind != JsonValueKind.Object || !id.TryGetProperty("$oid", out JsonElement hex))
            throw w.Reader.Wrong($"$dbPointer.$id is {ExtendedJsonReader.Describe(id)}, an object with $oid is expected");
        RequireCount(w.Reader, id, 1, "$dbPointer.$id");
        ObjectId value = ReadObjectId(w.Reader, w.Reader.RequireText(hex, "$oid"));
        w.Writer.WriteName(BsonType.DbPointer, w.Name);
        WriteString(w.Writer, collection);
        value.CopyTo(w.Writer.Grow(ObjectId.Size));
    }

    private static void WriteDate(Wrapper w)
    {
        if (w.Value.ValueKind == JsonValueKind.Object)
        {
            JsonElement number = Member(w, "$numberLong", 1);
            w.Writer.WriteDateTime(w.Name, ReadInteger(w with { Key = "$date.$numberLong", Value = number }, long.MinValue, long.MaxValue));
            return;
        }

        string[] formats = ["yyyy-MM-dd'T'HH:mm:ssK", "yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK"];
        string text = w.Text;
        bool hasZone = text.EndsWith('Z') || (text.Length > 6 && text[^6] is '+' or '-');
        if (!hasZone
            || !DateTimeOffset.TryParseExact(text, formats, CultureInfo.InvariantCulture, DateTimeStyles.None, out DateTimeOffset date))
            throw w.Wrong($"'{text}'", "a time such as 2026-11-21T08:00:00.123Z is allowed");
        w.Writer.WriteDateTime(w.Name, date.ToUnixTimeMilliseconds());
    }

    private static void WriteKey(Wrapper w, BsonType type)
    {
        if (w.Value.ValueKind != JsonValueKind.Number || w.Value.GetRawText() != "1")
            throw w.Wrong(ExtendedJsonReader.Describe(w.Value), "1 is allowed");
        w.Writer.WriteName(type, w.Name);
    }

    private static void WriteUndefined(Wrapper w)
    {
        if (w.Value.ValueKind != JsonValueKind.True)
            throw w.Wrong(ExtendedJsonReader.Describe(w.Value), "true is allowed");
        w.Writer.WriteName(BsonType.Undefined, w.Name);
    }
}
