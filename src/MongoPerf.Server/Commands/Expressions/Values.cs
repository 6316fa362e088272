using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Text;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>Makes values, compares them, and says how MongoDB calls their types. A missing value is a C# null.</summary>
internal static class Values
{
    /// <summary>What an array or a list has for each value, besides the value's bytes.</summary>
    private const int BytesOfReference = 32;

    public static BsonValue Null { get; } = new(BsonType.Null, default);

    public static BsonValue True { get; } = new(BsonType.Boolean, new byte[] { 1 });

    public static BsonValue False { get; } = new(BsonType.Boolean, new byte[] { 0 });

    public static BsonValue Of(bool value) => value ? True : False;

    public static BsonValue Of(double value) => Make(BsonType.Double, BitConverter.DoubleToInt64Bits(value));

    public static BsonValue Of(Decimal128 value)
    {
        byte[] bytes = new byte[Decimal128.Size];
        value.CopyTo(bytes);
        return new BsonValue(BsonType.Decimal128, bytes);
    }

    public static BsonValue Int32(int value) => Make(BsonType.Int32, value);

    public static BsonValue Int64(long value) => Make(BsonType.Int64, value);

    public static BsonValue Date(long milliseconds) => Make(BsonType.DateTime, milliseconds);

    /// <exception cref="CommandException">16493, as mongod's, for more than 16 MB.</exception>
    public static BsonValue Of(string text)
    {
        if (text.Length > ProtocolLimits.MaximumDocumentBytes)
            throw TooLong();
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        byte[] bytes = new byte[4 + utf8.Length + 1];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, utf8.Length + 1);
        utf8.CopyTo(bytes, 4);
        return new BsonValue(BsonType.String, bytes);
    }

    public static BsonValue Of(BsonDocument document) => new(BsonType.Document, document.Memory);

    /// <summary>Items that are worked out while they are asked for find what is there so far counted as held.</summary>
    public static BsonValue Array(IEnumerable<BsonValue> items)
    {
        long held = ActiveOperation.Held;
        var writer = new BsonWriter(256);
        writer.StartDocument();
        int index = 0;
        foreach (BsonValue item in items)
            Append(writer, ArrayNames.Of(index++), item);
        writer.End();
        ActiveOperation.Release(held);
        return new BsonValue(BsonType.Array, writer.ToArray());
    }

    /// <inheritdoc cref="Array"/>
    public static BsonValue Document(IEnumerable<(string Name, BsonValue Value)> fields)
    {
        long held = ActiveOperation.Held;
        var writer = new BsonWriter(256);
        writer.StartDocument();
        foreach ((string name, BsonValue value) in fields)
            Append(writer, Encoding.UTF8.GetBytes(name), value);
        writer.End();
        ActiveOperation.Release(held);
        return new BsonValue(BsonType.Document, writer.ToArray());
    }

    public static CommandException TooLong() => CommandException.Location(16493, "Tried to create string longer than 16MB");

    /// <summary>Notes that a value is kept while more is worked out; see <see cref="ActiveOperation.Hold"/>.</summary>
    public static void Hold(BsonValue? value) => ActiveOperation.Hold(BytesOfReference + (value?.Bytes.Length ?? 0));

    /// <summary>The value with memory of its own, where it is a small part of a document that it would keep alive.</summary>
    public static BsonValue? Owned(BsonValue? value)
    {
        const int Spare = 64;
        return value is { } known && MemoryMarshal.TryGetArray(known.Bytes, out ArraySegment<byte> part)
            && part.Array!.Length > (2 * part.Count) + Spare
            ? new BsonValue(known.Type, known.Bytes.ToArray())
            : value;
    }

    public static IEnumerable<BsonValue> Items(BsonValue array) => array.ToDocument().Select(pair => pair.Value);

    /// <summary>MongoDB's order of all values; a missing one stands before null.</summary>
    public static int Compare(BsonValue? left, BsonValue? right)
    {
        ActiveOperation.Check();
        if (left is not { } first)
            return right == null ? 0 : -1;
        if (right is not { } second)
            return 1;
        return BsonOrder.Compare(first.Type, first.Bytes.Span, second.Type, second.Bytes.Span);
    }

    public static bool AreEqual(BsonValue? left, BsonValue? right) => Compare(left, right) == 0;

    /// <summary>Same type and same bytes.</summary>
    public static bool AreIdentical(BsonValue left, BsonValue right) =>
        left.Type == right.Type && left.Bytes.Span.SequenceEqual(right.Bytes.Span);

    /// <summary>Equal values have equal keys; for sets and groups.</summary>
    public static string KeyOf(BsonValue value, Collation? collation = null)
    {
        var key = new KeyBuffer();
        KeyEncoder.Write(key, value.Type, value.Bytes.Span, isDescending: false, collation);
        return Convert.ToBase64String(key.Written);
    }

    public static bool IsNullish(BsonValue? value) => value is not { } known || known.Type is BsonType.Null or BsonType.Undefined;

    /// <summary>What counts as true in expressions: all but false, null, zero and what is missing.</summary>
    public static bool IsTrue(BsonValue? value) => !IsNullish(value) && value!.Value is var known
        && known.Type switch
        {
            BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128 or BsonType.Boolean => known.ToBoolean(),
            _ => true,
        };

    public static string TypeName(BsonValue? value) => value is { } known ? TypeSet.AliasOf(known.Type) : "missing";

    public static string Text(BsonValue value) => ValueText.Of(value.Type, value.Bytes.Span);

    private static void Append(BsonWriter writer, ReadOnlySpan<byte> name, BsonValue value)
    {
        const int TypeAndEndOfName = 2;
        ActiveOperation.Check();
        ActiveOperation.Hold(TypeAndEndOfName + name.Length + value.Bytes.Length);
        writer.WriteValue(name, value.Type, value.Bytes.Span);
    }

    private static BsonValue Make(BsonType type, long bits)
    {
        byte[] bytes = new byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, bits);
        return new BsonValue(type, type == BsonType.Int32 ? bytes.AsMemory(0, 4) : bytes);
    }
}
