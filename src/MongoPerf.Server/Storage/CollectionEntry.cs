using System.Buffers.Binary;
using System.Text;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>A collection as the catalog stores it.</summary>
/// <param name="Id">Never used twice; part of the column families' names.</param>
/// <param name="Database">The database without dots.</param>
/// <param name="Name">May hold dots.</param>
/// <param name="Uuid">16 random bytes, shown by listCollections.</param>
/// <param name="Indexes"><c>_id_</c> first.</param>
/// <param name="MultikeyIndexes">Ids of the indexes that have met an array.</param>
/// <param name="NextIndexId">Given to the next index.</param>
internal sealed record CollectionEntry(
    int Id, string Database, string Name, byte[] Uuid, IndexSpec[] Indexes, int[] MultikeyIndexes, int NextIndexId)
{
    /// <summary>What commands and indexes have that ask for none; null for the simple collation. That of <c>_id_</c>, for ever.</summary>
    public Collation? Collation => Indexes[0].Collation;

    private const byte EntryLetter = (byte)'m';

    /// <summary>Made by a command that has not ended: who opens the store after a kill drops it.</summary>
    public bool IsTemporary { get; init; }

    public string Namespace => $"{Database}.{Name}";

    public byte[] StoreKey => [EntryLetter, .. Encoding.UTF8.GetBytes(Namespace)];

    public static ReadOnlySpan<byte> FirstStoreKey => [EntryLetter];

    public static bool IsStoreKey(ReadOnlySpan<byte> key) => key.Length > 0 && key[0] == EntryLetter;

    public byte[] ToBson()
    {
        object?[] indexes = [.. Indexes.Select(IndexToBson)];
        return BsonDocument.Of(
            ("id", Id), ("database", Database), ("name", Name), ("uuid", Uuid), ("nextIndex", NextIndexId),
            ("temporary", IsTemporary), ("indexes", indexes)).Bytes.ToArray();
    }

    private BsonDocument IndexToBson(IndexSpec spec)
    {
        List<(string, object?)> fields =
        [
            ("id", spec.Id), ("name", spec.Name), ("key", spec.KeyPattern()), ("unique", spec.IsUnique),
            ("multikey", MultikeyIndexes.Contains(spec.Id)),
        ];
        if (spec.IsSparse)
            fields.Add(("sparse", true));
        if (spec.IsHidden)
            fields.Add(("hidden", true));
        if (spec.Partial is { } partial)
            fields.Add(("partial", partial.Source));
        if (spec.ExpireAfterSeconds is { } seconds)
            fields.Add(("expireAfterSeconds", seconds));
        if (spec.Collation is { } collation)
            fields.Add(("collation", collation.Description));
        return BsonDocument.Of([.. fields]);
    }

    public static CollectionEntry FromBson(byte[] bytes, Func<BsonDocument, Collation?, IDocumentFilter>? compile)
    {
        var document = new BsonDocument(bytes);
        var specs = new List<IndexSpec>();
        var multikey = new List<int>();
        foreach (BsonDocument index in document.FindDocument("indexes")!.Select(pair => pair.Value.ToDocument()))
        {
            int id = (int)index.FindInt64("id")!;
            Collation? collation = Collation.FromDescription(index.FindDocument("collation"));
            IndexField[] fields = [.. index.FindDocument("key")!
                .Select(pair => new IndexField(new FieldPath(pair.Key), pair.Value.ToDouble() < 0, collation))];
            specs.Add(new IndexSpec(id, index.FindString("name")!, fields, index.IsTrue("unique"))
            {
                IsSparse = index.IsTrue("sparse"),
                IsHidden = index.IsTrue("hidden"),
                ExpireAfterSeconds = (int?)index.FindInt64("expireAfterSeconds"),
                Partial = index.FindDocument("partial") is not { } filter ? null
                    : compile?.Invoke(filter, collation)
                        ?? throw new StorageException("nothing here can read the filter of a partial index"),
            });
            if (index.IsTrue("multikey"))
                multikey.Add(id);
        }

        return new CollectionEntry(
            (int)document.FindInt64("id")!, document.FindString("database")!, document.FindString("name")!,
            document.Find("uuid")!.Value.Bytes.Span[5..].ToArray(), [.. specs], [.. multikey], (int)document.FindInt64("nextIndex")!)
        {
            IsTemporary = document.IsTrue("temporary"),
        };
    }
}

/// <summary>
/// The two counters of a collection, in the catalog's column family: 8 bytes documents, 8 bytes data, little-endian; of a sharded one then
/// the same for each shard.
/// </summary>
internal static class CollectionCounters
{
    public const int KeySize = 5;
    public const int ValueSize = 16;
    private const byte CounterLetter = (byte)'c';

    public static void WriteKey(Span<byte> destination, int collectionId)
    {
        destination[0] = CounterLetter;
        BinaryPrimitives.WriteInt32BigEndian(destination[1..], collectionId);
    }

    public static void WriteValue(Span<byte> destination, long documents, long bytes)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, documents);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], bytes);
    }

    /// <param name="batch">Takes them.</param>
    /// <param name="catalog">The catalog's column family.</param>
    /// <param name="collectionId">The collection's.</param>
    /// <param name="documents">As they will be.</param>
    /// <param name="bytes">As they will be.</param>
    /// <param name="shards">As they are; null for a collection that is not sharded.</param>
    /// <param name="more">What comes to them.</param>
    public static void Put(
        RocksBatch batch, nint catalog, int collectionId, long documents, long bytes, ShardCounts? shards, ShardCounts? more)
    {
        Span<byte> key = stackalloc byte[KeySize];
        WriteKey(key, collectionId);
        if (shards == null)
        {
            Span<byte> value = stackalloc byte[ValueSize];
            WriteValue(value, documents, bytes);
            batch.Put(catalog, key, value);
            return;
        }

        byte[] all = new byte[ValueSize + shards.Size];
        WriteValue(all, documents, bytes);
        shards.Write(all.AsSpan(ValueSize), more);
        batch.Put(catalog, key, all);
    }

    /// <returns>False where the shards' counts are not there, or are those of another number of shards.</returns>
    public static bool TryRead(RocksDatabase database, int collectionId, ShardCounts shards)
    {
        Span<byte> key = stackalloc byte[KeySize];
        WriteKey(key, collectionId);
        using PinnedValue value = database.Get(database.Column(RocksDatabase.DefaultColumn), key);
        return value.Found && shards.TryRead(value.Bytes[ValueSize..]);
    }

    public static (long Documents, long Bytes) Read(RocksDatabase database, int collectionId)
    {
        Span<byte> key = stackalloc byte[KeySize];
        WriteKey(key, collectionId);
        using PinnedValue value = database.Get(database.Column(RocksDatabase.DefaultColumn), key);
        return value.Found
            ? (BinaryPrimitives.ReadInt64LittleEndian(value.Bytes), BinaryPrimitives.ReadInt64LittleEndian(value.Bytes[8..]))
            : (0, 0);
    }
}
