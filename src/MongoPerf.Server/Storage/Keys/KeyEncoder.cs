using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage.Keys;

/// <summary>Writes BSON values as bytes whose memory order is MongoDB's order of the values (<see cref="BsonOrder"/>).</summary>
/// <remarks>
/// No encoded value is the beginning of another one, so keys of several fields are written one after the other, and a
/// descending field is its bytes inverted. Layout: a rank byte, then
/// numbers: 8 bytes of <see cref="NumberKey.SortableDouble"/>, and from 2^53 on 2 bytes of remainder;
/// a decimal128 that is equal to no number of another type: such a number's bytes, the last before it in the field's direction, then FF
/// and 16 bytes of <see cref="DecimalKey.Rest"/>. It sorts behind that number, since nothing that may follow a number begins with FF;
/// strings: their bytes with 0x00 written as 00 FF, then 00 00; under a collation its key (<see cref="Collation.WriteKey"/>);
/// documents and arrays: for each element its rank, name (documents only) and value, then 00;
/// the rest: fixed lengths, big-endian.
/// </remarks>
internal static class KeyEncoder
{
    private const byte BehindNumber = 0xFF;
    private const byte NumberRankDown = 0xFF - BsonOrder.NumberRank;
    private const int LongestPlainNumber = 11;

    /// <param name="key">Takes the value behind what it has.</param>
    /// <param name="type">The value's type.</param>
    /// <param name="value">The value's bytes.</param>
    /// <param name="isDescending">The greatest value comes first.</param>
    /// <param name="collation">The order of strings; null for that of their bytes.</param>
    public static void Write(
        KeyBuffer key, BsonType type, ReadOnlySpan<byte> value, bool isDescending = false, Collation? collation = null)
    {
        int start = key.Length;
        if (isDescending && type == BsonType.Decimal128)
        {
            key.Add(NumberRankDown);
            WriteDecimal(key, DecimalKey.Of(Decimal128.FromBytes(value), isDescending: true), isDescending: true);
            return;
        }

        WriteAscending(key, type, value, collation);
        if (isDescending)
            key.Invert(start);
    }

    /// <summary>Makes the key of one value, in either direction, the least that is above all keys that begin with that value.</summary>
    public static void MoveBehind(KeyBuffer key)
    {
        bool isPlainNumber = key.Length <= LongestPlainNumber
            && key.Written[0] is BsonOrder.NumberRank or NumberRankDown;
        if (isPlainNumber)
            key.Add(BehindNumber);
        else
            key.IncrementPrefix();
    }

    private static void WriteAscending(KeyBuffer key, BsonType type, ReadOnlySpan<byte> value, Collation? collation = null)
    {
        key.Add(BsonOrder.Rank(type));
        switch (type)
        {
            case BsonType.Int32 or BsonType.Int64 or BsonType.Double:
                WriteNumber(key, NumberKey.Of(type, value));
                break;
            case BsonType.String or BsonType.Symbol when collation != null:
                collation.WriteKey(key, value[4..^1]);
                break;
            case BsonType.String or BsonType.Symbol or BsonType.JavaScript:
                WriteText(key, value[4..^1]);
                break;
            case BsonType.Document:
                WriteElements(key, value, withNames: true, collation);
                break;
            case BsonType.Array:
                WriteElements(key, value, withNames: false, collation);
                break;
            case BsonType.Binary:
                key.AddUInt32(BinaryPrimitives.ReadUInt32LittleEndian(value));
                key.Add(value[4..]);
                break;
            case BsonType.DateTime:
                key.AddUInt64(BinaryPrimitives.ReadUInt64LittleEndian(value) ^ (1UL << 63));
                break;
            case BsonType.Timestamp:
                key.AddUInt64(BinaryPrimitives.ReadUInt64LittleEndian(value));
                break;
            case BsonType.JavaScriptWithScope:
                WriteCodeWithScope(key, value);
                break;
            case BsonType.Decimal128:
                WriteDecimal(key, DecimalKey.Of(Decimal128.FromBytes(value), isDescending: false), isDescending: false);
                break;
            default:
                // ObjectId, boolean, regex and DBPointer stand as they are; null, MinKey and MaxKey have no bytes.
                key.Add(value);
                break;
        }
    }

    /// <summary>A missing field sorts as null.</summary>
    public static void WriteMissing(KeyBuffer key, bool isDescending) => Write(key, BsonType.Null, default, isDescending);

    private static void WriteDecimal(KeyBuffer key, DecimalKey number, bool isDescending)
    {
        int start = key.Length;
        WriteNumber(key, number.Before);
        if (isDescending)
            key.Invert(start);
        if (number.Rest == 0)
            return;
        key.Add(BehindNumber);
        key.AddUInt64((ulong)(number.Rest >> 64));
        key.AddUInt64((ulong)number.Rest);
    }

    private static void WriteNumber(KeyBuffer key, NumberKey number)
    {
        key.AddUInt64(number.SortableDouble);
        if (number.HasRemainder)
            key.AddUInt16((ushort)(number.Remainder + 0x8000));
    }

    private static void WriteText(KeyBuffer key, ReadOnlySpan<byte> text)
    {
        int zero;
        while ((zero = text.IndexOf((byte)0)) >= 0)
        {
            key.Add(text[..(zero + 1)]);
            key.Add(0xFF);
            text = text[(zero + 1)..];
        }

        key.Add(text);
        key.AddUInt16(0);
    }

    private static void WriteElements(KeyBuffer key, ReadOnlySpan<byte> document, bool withNames, Collation? collation = null)
    {
        // What expressions have made may be nested without bounds.
        RuntimeHelpers.EnsureSufficientExecutionStack();
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (withNames)
            {
                key.Add(BsonOrder.Rank(reader.Type));
                WriteText(key, reader.Name);
            }

            WriteAscending(key, reader.Type, reader.Value, collation);
        }

        key.Add(0);
    }

    private static void WriteCodeWithScope(KeyBuffer key, ReadOnlySpan<byte> value)
    {
        int code = BinaryPrimitives.ReadInt32LittleEndian(value[4..]);
        WriteText(key, value.Slice(8, code - 1));
        WriteElements(key, value[(8 + code)..], withNames: true);
    }
}

/// <summary>A document whose value cannot stand in an index, or a value that cannot be compared: nothing was written.</summary>
/// <param name="message">What it is.</param>
/// <param name="code">MongoDB's.</param>
internal sealed class IndexKeyException(string message, int code) : Exception(message)
{
    public const int ParallelArrays = 171;
    public const int AmbiguousName = 16746;
    public const int ArrayInShardKey = 61;

    public int Code { get; } = code;

    public string CodeName => Code switch
    {
        ParallelArrays => "CannotIndexParallelArrays",
        ArrayInShardKey => "ShardKeyNotFound",
        _ => $"Location{Code}",
    };
}
