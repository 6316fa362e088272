using System.Buffers.Binary;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage.Shards;

/// <summary>The fields by which a collection is sharded, each as it is or hashed. Immutable; any thread.</summary>
internal sealed class ShardKey
{
    private readonly ShardKeyField[] _fields;

    /// <param name="pattern">Such as {a: 1} or {_id: "hashed"}; checked by who takes it from a client.</param>
    public ShardKey(BsonDocument pattern)
    {
        Pattern = pattern;
        _fields = [.. pattern.Select(field => new ShardKeyField(new FieldPath(field.Key), field.Value.Type == BsonType.String))];
    }

    public BsonDocument Pattern { get; }

    public IReadOnlyList<ShardKeyField> Fields => _fields;

    /// <summary>Writes a document's key; a missing field counts as null.</summary>
    /// <exception cref="IndexKeyException">There is an array in it; as on mongod.</exception>
    public void Write(KeyBuffer key, ReadOnlySpan<byte> document)
    {
        foreach (ShardKeyField field in _fields)
        {
            if (field.Path.Find(document, out BsonType type, out ReadOnlySpan<byte> value) == PathResult.Array)
            {
                throw new IndexKeyException(
                    "Shard key cannot contain array values or array descendants.", IndexKeyException.ArrayInShardKey);
            }

            field.Write(key, type, value);
        }
    }

    /// <summary>Writes a bound of a chunk, whose values are hashes where the field is hashed.</summary>
    public static byte[] BoundOf(BsonDocument bound)
    {
        var key = new KeyBuffer();
        foreach ((_, BsonValue value) in bound)
            KeyEncoder.Write(key, value.Type, value.Bytes.Span);
        return key.Written.ToArray();
    }

    /// <summary>The bound that has the same value in all fields: MinKey or MaxKey.</summary>
    public BsonDocument Everywhere(BsonType type) =>
        BsonDocument.Of([.. Pattern.Select(field => (field.Key, (object?)new BsonValue(type, default)))]);
}

/// <param name="Path">Where its value is.</param>
/// <param name="IsHashed">Whether its hash stands in the key.</param>
internal sealed record ShardKeyField(FieldPath Path, bool IsHashed)
{
    public void Write(KeyBuffer key, BsonType type, ReadOnlySpan<byte> value)
    {
        if (!IsHashed)
        {
            KeyEncoder.Write(key, type, value);
            return;
        }

        Span<byte> hash = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(hash, ShardHash.Of(type, value));
        KeyEncoder.Write(key, BsonType.Int64, hash);
    }
}
