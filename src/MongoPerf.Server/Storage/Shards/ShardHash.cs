using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage.Shards;

/// <summary>The hash by which MongoDB spreads the values of a hashed shard key: the first half of an MD5, with nothing to hide.</summary>
/// <remarks>Any thread. Source: the hashed indexes of a mongod 6.0. Numbers that are equal as whole numbers have the same hash.</remarks>
internal static class ShardHash
{
    private const int Seed = 0;
    private const double FirstWithoutFraction = 1L << 52;

    [ThreadStatic]
    private static KeyBuffer? _scratch;

    public static long Of(BsonType type, ReadOnlySpan<byte> value)
    {
        KeyBuffer bytes = _scratch ??= new KeyBuffer();
        bytes.Clear();
        AddInt32(bytes, Seed);
        Add(bytes, type, name: default, value);
        Span<byte> hash = stackalloc byte[MD5.HashSizeInBytes];
        MD5.HashData(bytes.Written, hash);
        return BinaryPrimitives.ReadInt64LittleEndian(hash);
    }

    private static void Add(KeyBuffer bytes, BsonType type, ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        AddInt32(bytes, CanonicalType(type));
        bytes.Add(name);
        switch (type)
        {
            case BsonType.Document or BsonType.Array:
                AddElements(bytes, value);
                break;
            case BsonType.JavaScriptWithScope:
                int length = BinaryPrimitives.ReadInt32LittleEndian(value[4..]);
                bytes.Add(value.Slice(8, length));
                AddElements(bytes, value[(8 + length)..]);
                break;
            case BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128:
                AddInt64(bytes, WholeNumber(new BsonValue(type, value.ToArray())));
                break;
            default:
                bytes.Add(value);
                break;
        }
    }

    private static void AddElements(KeyBuffer bytes, ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        while (reader.Read())
            Add(bytes, reader.Type, Encoding.UTF8.GetBytes(reader.NameText + '\0'), reader.Value);
        // The end of a document counts as an element without name and value.
        AddInt32(bytes, 0);
    }

    private static long WholeNumber(BsonValue number)
    {
        if (number.Type is BsonType.Int32 or BsonType.Int64)
            return number.ToInt64();
        double value = number.ToDouble();
        if (double.IsNaN(value) || Math.Abs(value) >= long.MaxValue)
            return double.IsNaN(value) ? 0 : value > 0 ? long.MaxValue : long.MinValue;
        // As on mongod: a decimal is rounded, a double is cut off.
        return number.Type == BsonType.Decimal128 && Math.Abs(value) < FirstWithoutFraction ? (long)Math.Round(value) : number.ToInt64();
    }

    /// <summary>The type's place in the order, but for two that have other numbers here.</summary>
    private static int CanonicalType(BsonType type) => type switch
    {
        BsonType.MinKey => -1,
        BsonType.Undefined => 0,
        _ => BsonOrder.Rank(type),
    };

    private static void AddInt32(KeyBuffer bytes, int value)
    {
        Span<byte> written = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(written, value);
        bytes.Add(written);
    }

    private static void AddInt64(KeyBuffer bytes, long value)
    {
        Span<byte> written = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(written, value);
        bytes.Add(written);
    }
}
