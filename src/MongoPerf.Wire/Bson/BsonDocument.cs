using System.Buffers.Binary;
using System.Collections;
using System.Globalization;
using System.Text;

namespace MongoPerf.Wire.Bson;

/// <summary>
/// One value of a document: its type and its bytes. For commands that run once; the measured paths use <see cref="BsonReader"/>.
/// </summary>
public readonly struct BsonValue(BsonType type, ReadOnlyMemory<byte> bytes)
{
    public BsonType Type { get; } = type;

    public ReadOnlyMemory<byte> Bytes { get; } = bytes;

    public bool IsNumber => Type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128;

    /// <summary>Int32, int64, double or decimal128, whatever the server chose.</summary>
    public double ToDouble() => Type switch
    {
        BsonType.Int32 => BinaryPrimitives.ReadInt32LittleEndian(Bytes.Span),
        BsonType.Int64 => BinaryPrimitives.ReadInt64LittleEndian(Bytes.Span),
        BsonType.Double => BinaryPrimitives.ReadDoubleLittleEndian(Bytes.Span),
        BsonType.Decimal128 => ToDecimal128().ToDouble(),
        _ => throw new BsonFormatException(0, $"value is {Type}, a number is expected"),
    };

    /// <inheritdoc cref="ToDouble"/>
    public long ToInt64() => Type switch
    {
        BsonType.Int32 => BinaryPrimitives.ReadInt32LittleEndian(Bytes.Span),
        BsonType.Int64 => BinaryPrimitives.ReadInt64LittleEndian(Bytes.Span),
        BsonType.Double => (long)BinaryPrimitives.ReadDoubleLittleEndian(Bytes.Span),
        BsonType.Decimal128 => ToDecimal128().ToInt64(),
        BsonType.DateTime => BinaryPrimitives.ReadInt64LittleEndian(Bytes.Span),
        _ => throw new BsonFormatException(0, $"value is {Type}, a number is expected"),
    };

    public bool ToBoolean() => Type switch
    {
        BsonType.Boolean => Bytes.Span[0] != 0,
        BsonType.Decimal128 => !ToDecimal128().IsZero,
        _ => IsNumber && ToDouble() != 0,
    };

    public Decimal128 ToDecimal128() => Decimal128.FromBytes(Bytes.Span);

    public BsonDocument ToDocument() => Type is BsonType.Document or BsonType.Array
        ? new BsonDocument(Bytes)
        : throw new BsonFormatException(0, $"value is {Type}, a document is expected");

    /// <summary>A binary's bytes, whatever its subtype.</summary>
    public ReadOnlyMemory<byte> ToBinary() => Type == BsonType.Binary
        ? Bytes[5..]
        : throw new BsonFormatException(0, $"value is {Type}, binary is expected");

    public ObjectId ToObjectId() => ObjectId.FromBytes(Bytes.Span);

    /// <summary>A string as it is; numbers, booleans and ObjectIds as text; anything else by its type's name.</summary>
    public override string ToString() => Type switch
    {
        BsonType.String or BsonType.Symbol or BsonType.JavaScript => Encoding.UTF8.GetString(Bytes.Span[4..^1]),
        BsonType.Int32 or BsonType.Int64 => ToInt64().ToString(CultureInfo.InvariantCulture),
        BsonType.Double => ToDouble().ToString("R", CultureInfo.InvariantCulture),
        BsonType.Decimal128 => ToDecimal128().ToString(),
        BsonType.Boolean => ToBoolean() ? "true" : "false",
        BsonType.ObjectId => ToObjectId().ToString(),
        _ => Type.ToString(),
    };
}

/// <summary>A finished document for commands that run once: built from pairs, read by dotted paths.</summary>
/// <remarks>Immutable as long as nobody writes to the memory it was made over; safe for many readers.</remarks>
public sealed class BsonDocument(ReadOnlyMemory<byte> bytes) : IEnumerable<KeyValuePair<string, BsonValue>>
{
    public static BsonDocument Empty { get; } = new(new byte[] { 5, 0, 0, 0, 0 });

    public ReadOnlyMemory<byte> Memory { get; } = bytes;

    public ReadOnlySpan<byte> Bytes => Memory.Span;

    /// <summary>
    /// Builds a document. Values: string, int, long, double, bool, null, DateTime, ObjectId, byte[], BsonDocument, BsonValue,
    /// and arrays of these.
    /// </summary>
    /// <exception cref="ArgumentException">A value of another type.</exception>
    public static BsonDocument Of(params ReadOnlySpan<(string Name, object? Value)> elements)
    {
        var writer = new BsonWriter(256);
        writer.StartDocument();
        foreach ((string name, object? value) in elements)
            WriteAny(writer, Encoding.UTF8.GetBytes(name), value);
        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    /// <summary>The value at a path such as <c>wiredTiger.cache.bytes read into cache</c>; null when a step is missing.</summary>
    /// <remarks>Dots part the steps; a name that itself holds a dot can't be reached this way.</remarks>
    public BsonValue? Find(string path)
    {
        ReadOnlyMemory<byte> current = Memory;
        string[] steps = path.Split('.');
        for (int i = 0; i < steps.Length; i++)
        {
            var reader = new BsonReader(current.Span);
            if (!reader.Find(Encoding.UTF8.GetBytes(steps[i])))
                return null;
            ReadOnlyMemory<byte> value = current.Slice(reader.ValueOffset, reader.Value.Length);
            if (i == steps.Length - 1)
                return new BsonValue(reader.Type, value);
            if (reader.Type is not (BsonType.Document or BsonType.Array))
                return null;
            current = value;
        }

        return null;
    }

    public double? FindDouble(string path) => Find(path) is { IsNumber: true } value ? value.ToDouble() : null;

    public long? FindInt64(string path) =>
        Find(path) is { } value && (value.IsNumber || value.Type == BsonType.DateTime) ? value.ToInt64() : null;

    public string? FindString(string path) => Find(path) is { Type: BsonType.String } value ? value.ToString() : null;

    public BsonDocument? FindDocument(string path) =>
        Find(path) is { Type: BsonType.Document or BsonType.Array } value ? value.ToDocument() : null;

    public bool IsTrue(string path) => Find(path)?.ToBoolean() ?? false;

    public IEnumerator<KeyValuePair<string, BsonValue>> GetEnumerator()
    {
        // Element by element: a list of them all would take ten times what a document of many small elements does.
        int position = new BsonReader(Bytes).Position;
        while (TryRead(ref position, out KeyValuePair<string, BsonValue> element))
            yield return element;
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private bool TryRead(ref int position, out KeyValuePair<string, BsonValue> element)
    {
        var reader = new BsonReader(Bytes, position);
        bool any = reader.Read();
        element = any ? new(reader.NameText, new BsonValue(reader.Type, Memory.Slice(reader.ValueOffset, reader.Value.Length))) : default;
        position = reader.Position;
        return any;
    }

    private static void WriteAny(BsonWriter writer, ReadOnlySpan<byte> name, object? value)
    {
        switch (value)
        {
            case null: writer.WriteNull(name); break;
            case string text: writer.WriteString(name, text); break;
            case int number: writer.WriteInt32(name, number); break;
            case long number: writer.WriteInt64(name, number); break;
            case double number: writer.WriteDouble(name, number); break;
            case bool flag: writer.WriteBoolean(name, flag); break;
            case DateTime time: writer.WriteDateTime(name, new DateTimeOffset(time.ToUniversalTime()).ToUnixTimeMilliseconds()); break;
            case ObjectId id: writer.WriteObjectId(name, id); break;
            case byte[] bytes: writer.WriteBinary(name, bytes); break;
            case BsonDocument document: writer.WriteDocument(name, document.Bytes); break;
            case BsonValue any: writer.WriteValue(name, any.Type, any.Bytes.Span); break;
            case IEnumerable items: WriteArray(writer, name, items); break;
            default: throw new ArgumentException($"no BSON type for {value.GetType().Name}", nameof(value));
        }
    }

    private static void WriteArray(BsonWriter writer, ReadOnlySpan<byte> name, IEnumerable items)
    {
        writer.StartArray(name);
        int index = 0;
        foreach (object? item in items)
            WriteAny(writer, Encoding.UTF8.GetBytes(index++.ToString(CultureInfo.InvariantCulture)), item);
        writer.End();
    }
}
