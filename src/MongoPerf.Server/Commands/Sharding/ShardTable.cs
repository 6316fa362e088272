using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>A chunk as clients see it.</summary>
/// <param name="From">Its least key.</param>
/// <param name="To">The first key behind it.</param>
/// <param name="Shard">Its owner's number.</param>
internal sealed record ShardRange(BsonDocument From, BsonDocument To, int Shard)
{
    public ObjectId Id { get; init; } = ObjectIds.Next();

    /// <summary>The least key, as keys are compared.</summary>
    public byte[] Start { get; } = ShardKey.BoundOf(From);

    /// <summary>Whether it is the least key; numbers of all types are compared by value.</summary>
    public bool BeginsAt(BsonDocument key) => Start.AsSpan().SequenceEqual(ShardKey.BoundOf(key));

    /// <summary>Whether it is the first key behind.</summary>
    public bool EndsAt(BsonDocument key) => ShardKey.BoundOf(To).AsSpan().SequenceEqual(ShardKey.BoundOf(key));
}

/// <summary>How a collection is sharded, as config.collections and config.chunks tell it. Immutable.</summary>
/// <param name="Namespace">"database.collection".</param>
/// <param name="Key">The fields that decide.</param>
/// <param name="IsUnique">Whether the key's index is.</param>
/// <param name="Uuid">The collection's, 16 bytes.</param>
/// <param name="Ranges">In the order of their bounds, without gaps.</param>
internal sealed record ShardTable(string Namespace, ShardKey Key, bool IsUnique, byte[] Uuid, ShardRange[] Ranges)
{
    /// <exception cref="StorageException">A client has changed them into something else.</exception>
    public static ShardTable Read(BsonDocument collection, IEnumerable<BsonDocument> chunks, Func<string?, int> shardOf)
    {
        byte[] uuid = collection.Find("uuid")!.Value.ToBinary().ToArray();
        string nameSpace = collection.FindString("_id")!;
        ShardRange[] ranges = [.. chunks.Where(chunk => Owns(chunk, uuid)).Select(chunk => ReadRange(chunk))
            .OrderBy(range => range.Start, Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other)))];
        return ranges.Length > 0 && collection.FindDocument("key") is { } key && key.Any()
            ? new ShardTable(nameSpace, new ShardKey(key), collection.IsTrue("unique"), uuid, ranges)
            : throw Damaged(nameSpace);

        ShardRange ReadRange(BsonDocument chunk) =>
            chunk.FindDocument("min") is { } from && chunk.FindDocument("max") is { } to
            && chunk.Find("_id") is { Type: BsonType.ObjectId } id
                ? new ShardRange(from, to, shardOf(chunk.FindString("shard"))) { Id = id.ToObjectId() }
                : throw Damaged(nameSpace);
    }

    private static StorageException Damaged(string nameSpace) => new(
        $"config.collections and config.chunks no longer tell how {nameSpace} is sharded",
        $"start it without --shards and delete {nameSpace} from config.collections; then it is not sharded");

    public bool Owns(BsonDocument chunk) => Owns(chunk, Uuid);

    public ShardMap ToMap(int shards) =>
        new(Key, [.. Ranges.Select(range => new Chunk(range.Start, range.Shard))], shards);

    public BsonDocument Describe() => BsonDocument.Of(
        ("_id", Namespace), ("lastmodEpoch", Ranges[0].Id), ("lastmod", DateTime.UtcNow), ("timestamp", ShardRouter.Time(1)),
        ("uuid", ShardRouter.Uuid(Uuid)), ("key", Key.Pattern), ("unique", IsUnique), ("noBalance", false));

    public IEnumerable<BsonDocument> DescribeChunks(IEnumerable<ShardRange> ranges, IReadOnlyList<string> shards, int version) =>
        ranges.Select(range => BsonDocument.Of(
            ("_id", range.Id), ("uuid", ShardRouter.Uuid(Uuid)), ("min", range.From), ("max", range.To), ("shard", shards[range.Shard]),
            ("lastmod", ShardRouter.Time(version)), ("jumbo", false)));

    /// <exception cref="CommandException">Not all fields of the key, or a bound that is there.</exception>
    public ShardTable Split(BsonDocument at)
    {
        int index = Find(at);
        ShardRange range = Ranges[index];
        if (range.BeginsAt(at) || range.EndsAt(at))
        {
            throw new CommandException(0, "", $"new split key {Text(at)} is a boundary key of existing chunk "
                + $"[{Text(range.From)},{Text(range.To)})");
        }

        return this with
        {
            Ranges = [.. Ranges[..index], range with { To = at }, new(at, range.To, range.Shard), .. Ranges[(index + 1)..]],
        };
    }

    /// <returns>The new table, and the range with its shard of before.</returns>
    /// <exception cref="CommandException">The range is not within one chunk.</exception>
    public (ShardTable Table, ShardRange Moved) Move(BsonDocument from, BsonDocument? to, int shard)
    {
        ShardTable table = Ranges[Find(from)].BeginsAt(from) ? this : Split(from);
        int index = table.Find(from);
        if (to != null && !table.Ranges[index].EndsAt(to))
        {
            if (table.Find(to) != index)
                throw new CommandException(72, "InvalidOptions", $"the range from {Text(from)} to {Text(to)} is not within one chunk");
            table = table.Split(to);
        }

        ShardRange moved = table.Ranges[index];
        ShardRange[] ranges = [.. table.Ranges];
        ranges[index] = moved with { Shard = shard };
        return (table with { Ranges = ranges }, moved);
    }

    /// <summary>The number of the chunk that holds a key; MaxKey is in the last.</summary>
    public int Find(BsonDocument key)
    {
        if (!key.Select(field => field.Key).SequenceEqual(Key.Pattern.Select(field => field.Key)))
        {
            throw new CommandException(
                61, "ShardKeyNotFound", $"{Text(key)} does not have the fields of the shard key {Text(Key.Pattern)}");
        }

        return Find(ShardKey.BoundOf(key));
    }

    /// <inheritdoc cref="Find(BsonDocument)"/>
    public int Find(byte[] key) => Array.FindLastIndex(Ranges, range => range.Start.AsSpan().SequenceCompareTo(key) <= 0);

    private static bool Owns(BsonDocument chunk, byte[] uuid) =>
        chunk.Find("uuid") is { Type: BsonType.Binary } given && given.ToBinary().Span.SequenceEqual(uuid);

    private static string Text(BsonDocument document) => ValueText.Of(BsonType.Document, document.Bytes);
}
