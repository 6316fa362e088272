using System.Buffers.Binary;

namespace MongoPerf.Server.Storage.Shards;

/// <summary>Documents and their bytes by shard. Written by one thread at a time, read by any.</summary>
internal sealed class ShardCounts(int shards)
{
    private const int SizeOfShard = 2 * sizeof(long);
    private readonly long[] _documents = new long[shards];
    private readonly long[] _bytes = new long[shards];

    /// <summary>What they take where they are stored.</summary>
    public int Size => SizeOfShard * _documents.Length;

    public long Documents(int shard) => Volatile.Read(ref _documents[shard]);

    public long Bytes(int shard) => Volatile.Read(ref _bytes[shard]);

    public void Add(int shard, long documents, long bytes)
    {
        Volatile.Write(ref _documents[shard], _documents[shard] + documents);
        Volatile.Write(ref _bytes[shard], _bytes[shard] + bytes);
    }

    public void Add(ShardCounts more)
    {
        for (int shard = 0; shard < _documents.Length; shard++)
            Add(shard, more._documents[shard], more._bytes[shard]);
    }

    public void Clear()
    {
        Array.Clear(_documents);
        Array.Clear(_bytes);
    }

    /// <summary>Zeros for as many shards.</summary>
    public ShardCounts Another() => new(_documents.Length);

    /// <param name="destination">At least <see cref="Size"/> bytes.</param>
    /// <param name="more">Is added there, but not here; null for nothing.</param>
    public void Write(Span<byte> destination, ShardCounts? more)
    {
        for (int shard = 0; shard < _documents.Length; shard++)
        {
            Span<byte> place = destination.Slice(SizeOfShard * shard, SizeOfShard);
            BinaryPrimitives.WriteInt64LittleEndian(place, _documents[shard] + (more?._documents[shard] ?? 0));
            BinaryPrimitives.WriteInt64LittleEndian(place[sizeof(long)..], _bytes[shard] + (more?._bytes[shard] ?? 0));
        }
    }

    /// <returns>False where something else was stored: then they have to be counted.</returns>
    public bool TryRead(ReadOnlySpan<byte> source)
    {
        if (source.Length != Size)
            return false;
        for (int shard = 0; shard < _documents.Length; shard++)
        {
            ReadOnlySpan<byte> place = source.Slice(SizeOfShard * shard, SizeOfShard);
            _documents[shard] = BinaryPrimitives.ReadInt64LittleEndian(place);
            _bytes[shard] = BinaryPrimitives.ReadInt64LittleEndian(place[sizeof(long)..]);
        }

        return true;
    }
}
