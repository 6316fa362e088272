using MongoPerf.Server.Storage.Keys;

namespace MongoPerf.Server.Storage.Shards;

/// <summary>A range of shard keys and the shard that has it.</summary>
/// <param name="From">The least key in it.</param>
/// <param name="Shard">The shard's number, from 0.</param>
internal readonly record struct Chunk(byte[] From, int Shard);

/// <summary>
/// Which shard has which documents of a collection, and how many each has. The documents themselves lie in one place, whoever has them.
/// </summary>
/// <remarks>
/// The chunks never change: a collection whose chunks are cut or moved gets another map, under its write lock. Counts change under the
/// gate of the collection's writer; they and the work may be read at any time. Any thread.
/// </remarks>
internal sealed class ShardMap
{
    private readonly Chunk[] _chunks;
    private readonly long[] _reads;
    private readonly long[] _writes;

    [ThreadStatic]
    private static KeyBuffer? _scratch;

    /// <param name="key">The fields that decide.</param>
    /// <param name="chunks">In the order of their bounds; the first begins with the least key that there is.</param>
    /// <param name="shards">How many shards there are, whether they have any or not.</param>
    public ShardMap(ShardKey key, Chunk[] chunks, int shards)
    {
        Key = key;
        _chunks = chunks;
        Counts = new ShardCounts(shards);
        (_reads, _writes) = (new long[shards], new long[shards]);
        Owners = new bool[shards];
        foreach (Chunk chunk in chunks)
            Owners[chunk.Shard] = true;
    }

    public ShardKey Key { get; }

    /// <summary>The documents that are stored, by shard.</summary>
    public ShardCounts Counts { get; }

    /// <summary>Which shards have a chunk; not to be changed.</summary>
    public bool[] Owners { get; }

    /// <returns>The number of the shard that has the document, or would have it.</returns>
    /// <exception cref="IndexKeyException">Its key has an array in it.</exception>
    public int OwnerOf(ReadOnlySpan<byte> document)
    {
        KeyBuffer key = _scratch ??= new KeyBuffer();
        key.Clear();
        Key.Write(key, document);
        return OwnerOfKey(key.Written);
    }

    public int OwnerOfKey(ReadOnlySpan<byte> key) => _chunks[IndexOf(key)].Shard;

    /// <summary>Marks the shards that have keys from the first to the second, both included.</summary>
    public void Mark(bool[] shards, ReadOnlySpan<byte> from, ReadOnlySpan<byte> to)
    {
        int last = IndexOf(to);
        for (int i = IndexOf(from); i <= last; i++)
            shards[_chunks[i].Shard] = true;
    }

    /// <summary>Its counts are stored no more: what chunks there are is about to change.</summary>
    public bool IsRetired { get; private set; }

    /// <summary>Under the collection's write lock.</summary>
    public void Retire() => IsRetired = true;

    /// <summary>Whether two documents have the same key.</summary>
    public bool HaveSameKey(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other)
    {
        var key = new KeyBuffer();
        Key.Write(key, one);
        int length = key.Length;
        Key.Write(key, other);
        return key.Written[..length].SequenceEqual(key.Written[length..]);
    }

    /// <summary>Counts an operation that asks a shard.</summary>
    public void CountWork(int shard, bool isWrite) => Interlocked.Increment(ref (isWrite ? _writes : _reads)[shard]);

    /// <summary>Operations that have asked a shard since the map was made.</summary>
    public (long Reads, long Writes) WorkOf(int shard) => (Volatile.Read(ref _reads[shard]), Volatile.Read(ref _writes[shard]));

    /// <summary>Goes on with what another map has counted of the work.</summary>
    public void TakeWork(ShardMap former)
    {
        former._reads.CopyTo(_reads, 0);
        former._writes.CopyTo(_writes, 0);
    }

    private int IndexOf(ReadOnlySpan<byte> key)
    {
        int from = 0;
        int to = _chunks.Length - 1;
        while (from < to)
        {
            int middle = (from + to + 1) / 2;
            if (key.SequenceCompareTo(_chunks[middle].From) < 0)
                to = middle - 1;
            else
                from = middle;
        }

        return from;
    }
}
