using System.Buffers.Binary;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>The keys that one document has in one index: one, or with an array one for each of its elements. Reused; one thread.</summary>
internal sealed class IndexKeys
{
    /// <summary>
    /// Bytes that the keys of one document may take in one index; an array beside a long text could make any number of them.
    /// </summary>
    private const long MaximumBytes = 100L << 20;
    private const int BytesOfBuffer = 128;
    private const int KeptKeys = 1000;
    private const int KeptBytesOfKey = 64 << 10;

    private readonly List<KeyBuffer> _keys = [];
    private KeyBuffer _key = new();
    private ArrayKeys? _arrays;
    private long _bytes;

    public int Count { get; private set; }

    /// <summary>Whether an array was met: the index then holds several keys for one document.</summary>
    public bool IsMultikey { get; private set; }

    public ReadOnlySpan<byte> this[int index] => _keys[index].Written;

    /// <summary>Fills this with the keys that a document has in an index: none where the index leaves it out.</summary>
    /// <inheritdoc cref="Build(IndexField[], ReadOnlySpan{byte}, bool)" path="/exception"/>
    public void Build(IndexSpec spec, ReadOnlySpan<byte> document)
    {
        if (spec.Partial?.Matches(document) != false)
        {
            Build(spec.Fields, document, spec.IsSparse);
            return;
        }

        Count = 0;
        IsMultikey = false;
    }

    /// <summary>Fills this with the keys of <paramref name="document"/>, without record id.</summary>
    /// <remarks>If sparse, no key of missing fields alone.</remarks>
    /// <exception cref="IndexKeyException">
    /// Arrays side by side in two fields of one index, or a number that names both a place and a field.
    /// </exception>
    /// <exception cref="MemoryLimitException">More than 100 MB of keys.</exception>
    public void Build(IndexField[] fields, ReadOnlySpan<byte> document, bool isSparse = false)
    {
        Count = 0;
        IsMultikey = false;
        KeyBuffer key = Append();
        foreach (IndexField field in fields)
        {
            if (!field.TryAddKey(key, document))
            {
                BuildFromArray(fields, document, isSparse);
                return;
            }
        }

        if (isSparse && HasNone(fields, document))
            Count = 0;
    }

    /// <summary>Gives back what an unusual document has made large. The keys are gone.</summary>
    public void Trim()
    {
        if (_keys.Count <= KeptKeys && (_keys.Count == 0 || _keys[0].Capacity <= KeptBytesOfKey) && _key.Capacity <= KeptBytesOfKey)
            return;
        Count = 0;
        _keys.Clear();
        _key = new KeyBuffer();
    }

    /// <summary>The values that make up one key of a document: for the reply that says it is there already.</summary>
    /// <param name="fields">The index's.</param>
    /// <param name="document">Has that key.</param>
    /// <param name="key">The key that <see cref="Build(IndexSpec, ReadOnlySpan{byte})"/> makes.</param>
    public static BsonDocument ValuesOf(IndexField[] fields, byte[] document, byte[] key)
    {
        var arrays = new ArrayKeys();
        var buffer = new KeyBuffer();
        BsonDocument? values = null;
        arrays.Build(fields, document, buffer, () =>
        {
            ActiveOperation.Check();
            if (values == null && buffer.Written.SequenceEqual(key))
                values = arrays.Values(document);
        });
        return values ?? throw new InvalidOperationException("the document has no such key");
    }

    private static bool HasNone(IndexField[] fields, ReadOnlySpan<byte> document)
    {
        foreach (IndexField field in fields)
        {
            if (field.Path.Find(document, out _, out _) != PathResult.Missing)
                return false;
        }

        return true;
    }

    private void BuildFromArray(IndexField[] fields, ReadOnlySpan<byte> document, bool isSparse)
    {
        Count = 0;
        IsMultikey = true;
        _bytes = 0;
        (_arrays ??= new ArrayKeys()).Build(fields, document, _key, AppendKey, isSparse);
        RemoveDuplicates();
    }

    private void AppendKey()
    {
        ActiveOperation.Check();
        _bytes += _key.Length + BytesOfBuffer;
        if (_bytes > MaximumBytes)
            throw new MemoryLimitException();
        Append().Add(_key.Written);
    }

    private KeyBuffer Append()
    {
        if (_keys.Count == Count)
            _keys.Add(new KeyBuffer());
        KeyBuffer key = _keys[Count++];
        key.Clear();
        return key;
    }

    private void RemoveDuplicates()
    {
        if (Count < 2)
            return;
        _keys.Sort(0, Count, Comparer<KeyBuffer>.Create((a, b) => a.Written.SequenceCompareTo(b.Written)));
        int kept = 1;
        for (int i = 1; i < Count; i++)
        {
            if (_keys[i].Written.SequenceEqual(_keys[kept - 1].Written))
                continue;
            (_keys[kept], _keys[i]) = (_keys[i], _keys[kept]);
            kept++;
        }

        Count = kept;
    }
}

/// <summary>A record's number within its collection: 1 and up, in the order of insertion; 8 bytes big-endian in keys.</summary>
internal static class RecordId
{
    public const int Size = 8;

    public static void Write(Span<byte> destination, long id) => BinaryPrimitives.WriteInt64BigEndian(destination, id);

    public static long Read(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadInt64BigEndian(bytes);
}
