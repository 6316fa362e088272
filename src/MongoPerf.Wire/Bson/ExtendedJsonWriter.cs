using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;

namespace MongoPerf.Wire.Bson;

/// <summary>Writes one document as Extended JSON. One use, one thread.</summary>
internal sealed class ExtendedJsonWriter(ExtendedJsonMode mode, bool indented)
{
    private const int MaximumDepth = 250;

    /// <summary>9999-12-31T23:59:59.999Z: later dates (and those before 1970) are written as numbers in relaxed form too.</summary>
    private const long LastIsoDate = 253402300799999;

    private readonly StringBuilder _text = new();
    private int _depth;

    private bool IsRelaxed => mode == ExtendedJsonMode.Relaxed;

    public override string ToString() => _text.ToString();

    public void WriteDocument(ReadOnlySpan<byte> document, bool isArray)
    {
        if (++_depth > MaximumDepth)
            throw new BsonFormatException(0, $"nested deeper than {MaximumDepth} documents");
        var reader = new BsonReader(document);
        _text.Append(isArray ? '[' : '{');
        bool isEmpty = true;
        while (reader.Read())
        {
            if (!isEmpty)
                _text.Append(indented ? "," : ", ");
            isEmpty = false;
            StartLine();
            if (!isArray)
                WriteText(reader.Name).Append(": ");
            WriteValue(reader.Type, reader.Value);
        }

        _depth--;
        if (!isEmpty)
            StartLine();
        _text.Append(isArray ? ']' : '}');
    }

    private void StartLine()
    {
        if (indented)
            _text.Append('\n').Append(' ', 2 * _depth);
    }

    private void WriteValue(BsonType type, ReadOnlySpan<byte> value)
    {
        switch (type)
        {
            case BsonType.Document or BsonType.Array: WriteDocument(value, type == BsonType.Array); break;
            case BsonType.String: WriteText(value[4..^1]); break;
            case BsonType.Boolean: _text.Append(value[0] == 0 ? "false" : "true"); break;
            case BsonType.Null: _text.Append("null"); break;
            case BsonType.Int32: WriteInteger("$numberInt", BinaryPrimitives.ReadInt32LittleEndian(value)); break;
            case BsonType.Int64: WriteInteger("$numberLong", BinaryPrimitives.ReadInt64LittleEndian(value)); break;
            case BsonType.Double: WriteDouble(BinaryPrimitives.ReadDoubleLittleEndian(value)); break;
            case BsonType.DateTime: WriteDate(BinaryPrimitives.ReadInt64LittleEndian(value)); break;
            case BsonType.Decimal128: WriteWrapped("$numberDecimal", Decimal128.FromBytes(value).ToString()); break;
            case BsonType.ObjectId: WriteWrapped("$oid", ObjectId.FromBytes(value).ToString()); break;
            case BsonType.MinKey: _text.Append("{\"$minKey\": 1}"); break;
            case BsonType.MaxKey: _text.Append("{\"$maxKey\": 1}"); break;
            case BsonType.Undefined: _text.Append("{\"$undefined\": true}"); break;
            default: WriteRare(type, value); break;
        }
    }

    private void WriteRare(BsonType type, ReadOnlySpan<byte> value)
    {
        switch (type)
        {
            case BsonType.Binary:
                // Subtype 2 repeats its length inside; JSON shows the payload only.
                string base64 = Convert.ToBase64String(value[(value[4] == 2 ? 9 : 5)..]);
                _text.Append($"{{\"$binary\": {{\"base64\": \"{base64}\", \"subType\": \"{value[4]:x2}\"}}}}");
                break;
            case BsonType.Timestamp:
                ulong timestamp = BinaryPrimitives.ReadUInt64LittleEndian(value);
                _text.Append($"{{\"$timestamp\": {{\"t\": {timestamp >> 32}, \"i\": {(uint)timestamp}}}}}");
                break;
            case BsonType.Regex:
                WriteRegex(value);
                break;
            case BsonType.DbPointer:
                _text.Append("{\"$dbPointer\": {\"$ref\": ");
                WriteText(value[4..^(ObjectId.Size + 1)]).Append(", \"$id\": ");
                WriteWrapped("$oid", ObjectId.FromBytes(value[^ObjectId.Size..]).ToString());
                _text.Append("}}");
                break;
            case BsonType.JavaScript or BsonType.Symbol:
                _text.Append(type == BsonType.Symbol ? "{\"$symbol\": " : "{\"$code\": ");
                WriteText(value[4..^1]).Append('}');
                break;
            case BsonType.JavaScriptWithScope:
                int codeLength = BinaryPrimitives.ReadInt32LittleEndian(value[4..]);
                _text.Append("{\"$code\": ");
                WriteText(value.Slice(8, codeLength - 1)).Append(", \"$scope\": ");
                WriteDocument(value[(8 + codeLength)..], isArray: false);
                _text.Append('}');
                break;
            default:
                throw new BsonFormatException(0, $"element type {type} has no JSON form");
        }
    }

    private void WriteRegex(ReadOnlySpan<byte> value)
    {
        int end = value.IndexOf((byte)0);
        byte[] options = value[(end + 1)..^1].ToArray();
        Array.Sort(options);
        _text.Append("{\"$regularExpression\": {\"pattern\": ");
        WriteText(value[..end]).Append(", \"options\": ");
        WriteText(options).Append("}}");
    }

    private void WriteInteger(string wrapper, long value)
    {
        if (IsRelaxed)
            _text.Append(CultureInfo.InvariantCulture, $"{value}");
        else
            WriteWrapped(wrapper, value.ToString(CultureInfo.InvariantCulture));
    }

    private void WriteDouble(double value)
    {
        string text = value.ToString("R", CultureInfo.InvariantCulture);
        // A number that reads as whole gets its ".0", so that it stays a double.
        if (double.IsFinite(value) && !text.AsSpan().ContainsAny('.', 'E'))
            text += ".0";
        if (IsRelaxed && double.IsFinite(value))
            _text.Append(text);
        else
            WriteWrapped("$numberDouble", text);
    }

    private void WriteDate(long milliseconds)
    {
        if (!IsRelaxed || milliseconds is < 0 or > LastIsoDate)
        {
            _text.Append(CultureInfo.InvariantCulture, $"{{\"$date\": {{\"$numberLong\": \"{milliseconds}\"}}}}");
            return;
        }

        string format = milliseconds % 1000 == 0 ? "yyyy-MM-ddTHH:mm:ssZ" : "yyyy-MM-ddTHH:mm:ss.fffZ";
        WriteWrapped(
            "$date", DateTimeOffset.FromUnixTimeMilliseconds(milliseconds).UtcDateTime.ToString(format, CultureInfo.InvariantCulture));
    }

    /// <param name="name">The wrapper's name.</param>
    /// <param name="text">Text that needs no escaping.</param>
    private void WriteWrapped(string name, string text) => _text.Append($"{{\"{name}\": \"{text}\"}}");

    private StringBuilder WriteText(ReadOnlySpan<byte> utf8) =>
        _text.Append('"').Append(JavaScriptEncoder.UnsafeRelaxedJsonEscaping.Encode(Encoding.UTF8.GetString(utf8))).Append('"');
}
