using System.Buffers;
using System.Buffers.Text;
using System.Text;
using System.Text.Json;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>A document of Extended JSON on each line.</summary>
/// <remarks>
/// What mongoexport and applications write often (numbers, strings, dates, ObjectIds, decimals, UUIDs) is written without allocating; rarer
/// types go through <see cref="ExtendedJson"/>.
/// </remarks>
internal sealed class JsonRows : RowFormat
{
    /// <summary>BSON's own limit is 100, and the outermost document takes one.</summary>
    private const int MostDepth = 99;
    private const int MostNameBytes = 1024;

    public override int Begin(string name, ReadOnlySpan<byte> beginning) => beginning.TrimStart(" \t\r\n"u8) is [(byte)'[', ..]
        ? throw new RowFormatException($"{name} is one JSON array; expected one document on each line (jq -c '.[]' makes them)")
        : base.Begin(name, beginning);

    public override bool TryFindEnd(ReadOnlySpan<byte> piece, bool isAll, ref int end)
    {
        int at = piece.IndexOf((byte)'\n');
        end = at < 0 ? piece.Length : at;
        return at >= 0 || isAll;
    }

    public override void WriteFields(BsonWriter writer, ReadOnlySpan<byte> row, byte[][] except)
    {
        Utf8JsonReader json = Open(row);
        try
        {
            json.Read();
            if (json.TokenType != JsonTokenType.StartObject)
                throw new RowFormatException("not a JSON document; expected {…} on each line");
            WriteElements(writer, ref json, except);
            if (json.Read())
                throw new RowFormatException("something follows the document; each is on a line of its own");
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            throw Wrong(e);
        }
    }

    public override bool TryWriteField(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> row, RowField field)
    {
        Utf8JsonReader json = Open(row);
        try
        {
            json.Read();
            foreach (byte[] step in field.Steps)
            {
                if (json.TokenType != JsonTokenType.StartObject || !Find(ref json, step))
                    return false;
            }

            WriteValue(writer, name, ref json);
            return true;
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            throw Wrong(e);
        }
    }

    private static RowFormatException Wrong(Exception e) => new(e is JsonException json
        ? $"not JSON, at byte {json.BytePositionInLine + 1}: {json.Message.Split(". ")[0].Split(" LineNumber")[0].TrimEnd('.')}"
        : "a string holds half of a surrogate pair");

    private static Utf8JsonReader Open(ReadOnlySpan<byte> row) => new(row, new JsonReaderOptions { MaxDepth = MostDepth });

    /// <summary>Stops at a property's value.</summary>
    private static bool Find(ref Utf8JsonReader json, ReadOnlySpan<byte> name)
    {
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            bool isIt = json.ValueTextEquals(name);
            json.Read();
            if (isIt)
                return true;
            json.Skip();
        }

        return false;
    }

    private static void WriteElements(BsonWriter writer, ref Utf8JsonReader json, byte[][] except)
    {
        Span<byte> unescaped = stackalloc byte[MostNameBytes];
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            // As it stands in the row, so that it outlives what is read next.
            scoped ReadOnlySpan<byte> name = json.ValueSpan;
            if (name.Length > MostNameBytes)
                throw new RowFormatException($"a field's name is longer than {MostNameBytes} bytes");
            if (json.ValueIsEscaped)
                name = unescaped[..json.CopyString(unescaped)];
            if (name.Contains((byte)0))
                throw new RowFormatException("a field's name contains a zero character");
            json.Read();
            if (Has(except, name))
                json.Skip();
            else
                WriteValue(writer, name, ref json);
        }
    }

    private static void WriteValue(BsonWriter writer, scoped ReadOnlySpan<byte> name, ref Utf8JsonReader json)
    {
        switch (json.TokenType)
        {
            case JsonTokenType.StartObject:
                if (TryWriteWrapped(writer, name, ref json))
                    break;
                writer.StartDocument(name);
                WriteElements(writer, ref json, []);
                writer.End();
                break;
            case JsonTokenType.StartArray:
                writer.StartArray(name);
                WriteItems(writer, ref json);
                writer.End();
                break;
            case JsonTokenType.String:
                WriteText(writer, name, json);
                break;
            case JsonTokenType.Number:
                WriteNumber(writer, name, json);
                break;
            case JsonTokenType.True or JsonTokenType.False:
                writer.WriteBoolean(name, json.TokenType == JsonTokenType.True);
                break;
            default:
                writer.WriteNull(name);
                break;
        }
    }

    private static void WriteItems(BsonWriter writer, ref Utf8JsonReader json)
    {
        Span<byte> name = stackalloc byte[11];
        for (int i = 0; json.Read() && json.TokenType != JsonTokenType.EndArray; i++)
        {
            Utf8Formatter.TryFormat(i, name, out int length);
            WriteValue(writer, name[..length], ref json);
        }
    }

    private static void WriteText(BsonWriter writer, scoped ReadOnlySpan<byte> name, in Utf8JsonReader json)
    {
        if (!json.ValueIsEscaped)
        {
            writer.WriteString(name, json.ValueSpan);
            return;
        }

        writer.WriteName(BsonType.String, name);
        int start = writer.Length;
        writer.WriteRawInt32(0);
        int length = json.CopyString(writer.Grow(json.ValueSpan.Length));
        writer.Truncate(start + 4 + length);
        writer.WriteRawByte(0);
        writer.PatchInt32(start, length + 1);
    }

    /// <summary>Whole numbers are int32 or, beyond its range, int64; all others double.</summary>
    private static void WriteNumber(BsonWriter writer, scoped ReadOnlySpan<byte> name, in Utf8JsonReader json)
    {
        if (json.TryGetInt32(out int small))
            writer.WriteInt32(name, small);
        else if (json.TryGetInt64(out long large))
            writer.WriteInt64(name, large);
        else if (json.TryGetDouble(out double number) && NumberText.IsHeldBy(number, json.ValueSpan))
            writer.WriteDouble(name, number);
        else
            throw new RowFormatException($"{Shown(name)}: {Shown(json.ValueSpan)} is beyond "
                + (NumberText.IsWhole(json.ValueSpan) ? "64 bits, and a double would lose digits of it" : "the range of a double")
                + $"; write {{\"$numberDecimal\": \"{Shown(json.ValueSpan)}\"}}, or put it in quotes for a text");
    }

    /// <summary>Types that JSON has not, such as <c>{"$oid": "…"}</c>.</summary>
    /// <returns>False for a plain document; nothing has been read of it then.</returns>
    private static bool TryWriteWrapped(BsonWriter writer, scoped ReadOnlySpan<byte> name, ref Utf8JsonReader json)
    {
        Utf8JsonReader ahead = json;
        if (!ahead.Read() || ahead.TokenType != JsonTokenType.PropertyName || ahead.ValueSpan is not [(byte)'$', ..])
            return false;
        ReadOnlySpan<byte> wrapper = ahead.ValueSpan;
        int start = writer.Length;
        ahead.Read();
        if (!(ahead.TokenType == JsonTokenType.String ? !ahead.ValueIsEscaped && TryWriteSimple(writer, name, wrapper, ahead)
            : ahead.TokenType == JsonTokenType.StartObject && TryWriteNested(writer, name, wrapper, ref ahead))
            || !ahead.Read() || ahead.TokenType != JsonTokenType.EndObject)
        {
            writer.Truncate(start);
            return TryWriteRare(writer, name, ref json);
        }

        json = ahead;
        return true;
    }

    private static bool TryWriteSimple(
        BsonWriter writer, scoped ReadOnlySpan<byte> name, scoped ReadOnlySpan<byte> wrapper, in Utf8JsonReader value)
    {
        ReadOnlySpan<byte> text = value.ValueSpan;
        if (wrapper.SequenceEqual("$oid"u8) && text.Length == 2 * ObjectId.Size)
        {
            Span<byte> id = stackalloc byte[ObjectId.Size];
            if (Convert.FromHexString(text, id, out _, out _) != OperationStatus.Done)
                return false;
            writer.WriteObjectId(name, ObjectId.FromBytes(id));
            return true;
        }

        bool isLong = wrapper.SequenceEqual("$numberLong"u8);
        if ((isLong || wrapper.SequenceEqual("$numberInt"u8)) && TryReadWhole(text, out long whole) && (isLong || whole == (int)whole))
        {
            if (isLong)
                writer.WriteInt64(name, whole);
            else
                writer.WriteInt32(name, (int)whole);
            return true;
        }

        if (wrapper.SequenceEqual("$numberDouble"u8) && TryReadDouble(text, out double number))
        {
            writer.WriteDouble(name, number);
            return true;
        }

        if (wrapper.SequenceEqual("$numberDecimal"u8) && TryReadDecimal(text, out Decimal128 precise))
        {
            writer.WriteName(BsonType.Decimal128, name);
            precise.CopyTo(writer.Grow(Decimal128.Size));
            return true;
        }

        // Without a zone a date is none, as in Extended JSON.
        if (wrapper.SequenceEqual("$date"u8) && text is [.., (byte)'Z'] && value.TryGetDateTimeOffset(out DateTimeOffset date))
        {
            writer.WriteDateTime(name, date.ToUnixTimeMilliseconds());
            return true;
        }

        if (wrapper.SequenceEqual("$uuid"u8) && Utf8Parser.TryParse(text, out Guid uuid, out int read) && read == text.Length)
        {
            writer.WriteName(BsonType.Binary, name);
            writer.WriteRawInt32(16);
            writer.WriteRawByte(4);
            uuid.TryWriteBytes(writer.Grow(16), bigEndian: true, out _);
            return true;
        }

        return false;
    }

    private static bool TryWriteNested(
        BsonWriter writer, scoped ReadOnlySpan<byte> name, scoped ReadOnlySpan<byte> wrapper, ref Utf8JsonReader json)
    {
        json.Read();
        if (json.TokenType != JsonTokenType.PropertyName)
            return false;
        if (wrapper.SequenceEqual("$date"u8) && json.ValueTextEquals("$numberLong"u8))
        {
            json.Read();
            if (json.TokenType != JsonTokenType.String || !TryReadWhole(json.ValueSpan, out long milliseconds))
                return false;
            writer.WriteDateTime(name, milliseconds);
            return json.Read() && json.TokenType == JsonTokenType.EndObject;
        }

        if (!wrapper.SequenceEqual("$binary"u8) || !json.ValueTextEquals("base64"u8))
            return false;
        json.Read();
        ReadOnlySpan<byte> base64 = json.ValueSpan;
        Utf8JsonReader rest = json;
        Span<byte> subtype = stackalloc byte[1];
        if (json.ValueIsEscaped || !rest.Read() || rest.TokenType != JsonTokenType.PropertyName || !rest.ValueTextEquals("subType"u8)
            || !rest.Read() || rest.ValueSpan.Length != 2
            || Convert.FromHexString(rest.ValueSpan, subtype, out _, out _) != OperationStatus.Done || subtype[0] == 2)
            return false;
        writer.WriteName(BsonType.Binary, name);
        int at = writer.Length;
        writer.WriteRawInt32(0);
        writer.WriteRawByte(subtype[0]);
        if (Base64.DecodeFromUtf8(base64, writer.Grow(Base64.GetMaxDecodedFromUtf8Length(base64.Length)), out _, out int length)
            != OperationStatus.Done)
            return false;

        writer.Truncate(at + 5 + length);
        writer.PatchInt32(at, length);
        json = rest;
        return json.Read() && json.TokenType == JsonTokenType.EndObject;
    }

    /// <summary>Whatever else Extended JSON knows, and its messages for what is wrong.</summary>
    private static bool TryWriteRare(BsonWriter writer, scoped ReadOnlySpan<byte> name, ref Utf8JsonReader json)
    {
        using JsonDocument value = JsonDocument.ParseValue(ref json);
        try
        {
            BsonValue parsed = ExtendedJson.Parse($"{{\"v\": {value.RootElement.GetRawText()}}}").First().Value;
            writer.WriteValue(name, parsed.Type, parsed.Bytes.Span);
            return true;
        }
        catch (ExtendedJsonException e)
        {
            throw new RowFormatException($"{Encoding.UTF8.GetString(name)}: {e.Message}");
        }
    }
}
