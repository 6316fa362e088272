using System.Globalization;
using System.Text;
using System.Text.Json;

namespace MongoPerf.Wire.Bson;

/// <summary>Reads one document of Extended JSON into BSON. One use, one thread.</summary>
internal sealed class ExtendedJsonReader
{
    /// <summary>What <see cref="BsonWriter"/> holds; JSON needs up to three levels more for the wrappers of the innermost value.</summary>
    private const int MaximumDepth = 100;

    private readonly BsonWriter _writer = new();
    private readonly List<string> _path = [];

    public static BsonDocument Read(string json)
    {
        try
        {
            using var parsed = JsonDocument.Parse(json, new JsonDocumentOptions { MaxDepth = MaximumDepth + 3 });
            var reader = new ExtendedJsonReader();
            if (parsed.RootElement.ValueKind != JsonValueKind.Object)
                throw reader.Wrong($"the text is {Describe(parsed.RootElement)}, an object is expected");
            reader.WriteDocument(parsed.RootElement);
            return new BsonDocument(reader._writer.ToArray());
        }
        catch (JsonException e)
        {
            throw new ExtendedJsonException(
                "", $"line {e.LineNumber + 1}, byte {e.BytePositionInLine + 1}: not JSON ({e.Message.Split(". ")[0]})");
        }
    }

    /// <summary>The value of a wrapper that must be a string.</summary>
    internal string RequireText(JsonElement value, string wrapper) => value.ValueKind == JsonValueKind.String
        ? Decode(value)
        : throw Wrong($"{wrapper} is {Describe(value)}, a string is expected");

    internal ExtendedJsonException Wrong(string what) => new(string.Join('.', _path), what);

    internal static string Describe(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.Object => "an object",
        JsonValueKind.Array => "an array",
        JsonValueKind.String => "a string",
        JsonValueKind.Number => $"the number {value.GetRawText()}",
        _ => value.GetRawText(),
    };

    internal void WriteDocument(JsonElement value)
    {
        StartNested();
        foreach (JsonProperty element in value.EnumerateObject())
        {
            string name = DecodeName(element);
            _path.Add(name);
            WriteValue(Encoding.UTF8.GetBytes(name), element.Value);
            _path.RemoveAt(_path.Count - 1);
        }

        _writer.End();
    }

    private void StartNested()
    {
        if (_path.Count >= MaximumDepth)
            throw Wrong($"nested deeper than {MaximumDepth} documents");
        _writer.StartDocument();
    }

    private void WriteArray(JsonElement value)
    {
        StartNested();
        int index = 0;
        foreach (JsonElement item in value.EnumerateArray())
        {
            string name = index++.ToString(CultureInfo.InvariantCulture);
            _path.Add(name);
            WriteValue(Encoding.ASCII.GetBytes(name), item);
            _path.RemoveAt(_path.Count - 1);
        }

        _writer.End();
    }

    private void WriteValue(byte[] name, JsonElement value)
    {
        switch (value.ValueKind)
        {
            case JsonValueKind.String:
                _writer.WriteString(name, Decode(value));
                break;
            case JsonValueKind.Number:
                WriteNumber(name, value);
                break;
            case JsonValueKind.True or JsonValueKind.False:
                _writer.WriteBoolean(name, value.ValueKind == JsonValueKind.True);
                break;
            case JsonValueKind.Array:
                _writer.WriteName(BsonType.Array, name);
                WriteArray(value);
                break;
            case JsonValueKind.Object:
                if (ExtendedJsonWrappers.TryWrite(this, _writer, name, value))
                    break;
                _writer.WriteName(BsonType.Document, name);
                WriteDocument(value);
                break;
            default:
                _writer.WriteNull(name);
                break;
        }
    }

    private void WriteNumber(byte[] name, JsonElement value)
    {
        string text = value.GetRawText();
        bool isWhole = !text.AsSpan().ContainsAny('.', 'e', 'E');
        if (isWhole && value.TryGetInt32(out int small))
            _writer.WriteInt32(name, small);
        else if (isWhole && value.TryGetInt64(out long large))
            _writer.WriteInt64(name, large);
        else
            _writer.WriteDouble(name, value.GetDouble());
    }

    private string DecodeName(JsonProperty element)
    {
        string name;
        try
        {
            name = element.Name;
        }
        catch (InvalidOperationException)
        {
            throw Wrong("a key holds half of a surrogate pair");
        }

        return name.Contains('\0', StringComparison.Ordinal) ? throw Wrong("a key holds a zero character") : name;
    }

    private string Decode(JsonElement value)
    {
        try
        {
            return value.GetString()!;
        }
        catch (InvalidOperationException)
        {
            throw Wrong("a string holds half of a surrogate pair");
        }
    }
}
