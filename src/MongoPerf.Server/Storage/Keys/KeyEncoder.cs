using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage.Keys;

/// <summary>Writes BSON values as bytes whose memory order is MongoDB's order of the values (<see cref="BsonOrder"/>).</summary>
/// <remarks>
/// No encoded value is the beginning of another one, so keys of several fields are written one after the other, and a
/// descending field is its bytes inverted. Layout: a rank byte, then
/// numbers: 8 bytes of <see cref="NumberKey.SortableDouble"/>, and from 2^53 on 2 bytes of remainder;
/// strings: their bytes with 0x00 written as 00 FF, then 00 00;
/// documents and arrays: for each element its rank, name (documents only) and value, then 00;
/// the rest: fixed lengths, big-endian.
/// </remarks>
internal static class KeyEncoder
{
    /// <exception cref="IndexKeyException">A decimal128, which has no encoding here.</exception>
    public static void Write(KeyBuffer key, BsonType type, ReadOnlySpan<byte> value)
    {
        key.Add(BsonOrder.Rank(type));
        switch (type)
        {
            case BsonType.Int32 or BsonType.Int64 or BsonType.Double:
                WriteNumber(key, NumberKey.Of(type, value));
                break;
            case BsonType.String or BsonType.Symbol or BsonType.JavaScript:
                WriteText(key, value[4..^1]);
                break;
            case BsonType.Document:
                WriteElements(key, value, withNames: true);
                break;
            case BsonType.Array:
                WriteElements(key, value, withNames: false);
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
                throw new IndexKeyException("the embedded server does not support indexing or ordering decimal128 values");
            default:
                // ObjectId, boolean, regex and DBPointer stand as they are; null, MinKey and MaxKey have no bytes.
                key.Add(value);
                break;
        }
    }

    /// <summary>A missing field sorts as null.</summary>
    public static void WriteMissing(KeyBuffer key) => key.Add(BsonOrder.NullRank);

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

    private static void WriteElements(KeyBuffer key, ReadOnlySpan<byte> document, bool withNames)
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

            Write(key, reader.Type, reader.Value);
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
/// <param name="code">MongoDB's, where MongoDB refuses it too.</param>
internal sealed class IndexKeyException(string message, int code = 238) : Exception(message)
{
    public const int ParallelArrays = 171;
    public const int AmbiguousName = 16746;

    /// <summary>238 for what only this server cannot do.</summary>
    public int Code { get; } = code;

    public string CodeName => Code switch
    {
        ParallelArrays => "CannotIndexParallelArrays",
        238 => "NotImplemented",
        _ => $"Location{Code}",
    };
}
