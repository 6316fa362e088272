using System.Buffers.Binary;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>The keys that one document has in one index: one, or with an array one for each of its elements. Reused; one thread.</summary>
internal sealed class IndexKeys
{
    private readonly List<KeyBuffer> _keys = [];
    private readonly KeyBuffer _values = new();
    private readonly List<int> _starts = [];

    public int Count { get; private set; }

    /// <summary>Whether an array was met: the index then holds several keys for one document.</summary>
    public bool IsMultikey { get; private set; }

    public ReadOnlySpan<byte> this[int index] => _keys[index].Written;

    /// <summary>Fills this with the keys of <paramref name="document"/>, without record id.</summary>
    /// <exception cref="IndexKeyException">Arrays in two fields of one index, or a value that cannot be indexed.</exception>
    public void Build(IndexSpec spec, ReadOnlySpan<byte> document)
    {
        Count = 0;
        IsMultikey = false;
        Append();
        for (int i = 0; i < spec.Fields.Length; i++)
        {
            IndexField field = spec.Fields[i];
            PathResult found = field.Path.Find(document, out BsonType type, out ReadOnlySpan<byte> value);
            if (found == PathResult.Array)
            {
                AddArray(field, document, isLater: IsMultikey);
                continue;
            }

            for (int k = 0; k < Count; k++)
                AddValue(_keys[k], field, found == PathResult.Missing, type, value);
        }

        if (IsMultikey)
            RemoveDuplicates();
    }

    private KeyBuffer Append()
    {
        if (_keys.Count == Count)
            _keys.Add(new KeyBuffer());
        KeyBuffer key = _keys[Count++];
        key.Clear();
        return key;
    }

    private static void AddValue(KeyBuffer key, IndexField field, bool isMissing, BsonType type, ReadOnlySpan<byte> value)
    {
        int start = key.Length;
        if (isMissing)
            KeyEncoder.WriteMissing(key);
        else
            KeyEncoder.Write(key, type, value);
        if (field.IsDescending)
            key.Invert(start);
    }

    private void AddArray(IndexField field, ReadOnlySpan<byte> document, bool isLater)
    {
        if (isLater)
            throw new IndexKeyException($"cannot index parallel arrays [{field.Path.Text}]");
        IsMultikey = true;
        _values.Clear();
        _starts.Clear();
        var collector = new Collector(_values, _starts);
        field.Path.Visit(document, ref collector);
        int count = Math.Max(1, _starts.Count);
        if (_starts.Count == 0)
        {
            // An empty array stands in the index as undefined, below null.
            _starts.Add(0);
            _values.Add(BsonOrder.UndefinedRank);
        }

        byte[] head = _keys[0].Written.ToArray();
        Count = 0;
        for (int i = 0; i < count; i++)
        {
            KeyBuffer key = Append();
            key.Add(head);
            int end = i + 1 < count ? _starts[i + 1] : _values.Length;
            key.Add(_values.Written[_starts[i]..end]);
            if (field.IsDescending)
                key.Invert(head.Length);
        }
    }

    private void RemoveDuplicates()
    {
        for (int i = 0; i < Count; i++)
        {
            for (int k = Count - 1; k > i; k--)
            {
                if (!_keys[i].Written.SequenceEqual(_keys[k].Written))
                    continue;
                (_keys[k], _keys[Count - 1]) = (_keys[Count - 1], _keys[k]);
                Count--;
            }
        }
    }

    private readonly struct Collector(KeyBuffer values, List<int> starts) : IValueVisitor
    {
        // The array as a whole has no key of its own; its elements have, and an array inside an array counts as an element.
        public bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement)
        {
            if (!isElement && type == BsonType.Array)
                return false;
            starts.Add(values.Length);
            KeyEncoder.Write(values, type, value);
            return false;
        }

        public bool VisitMissing()
        {
            starts.Add(values.Length);
            KeyEncoder.WriteMissing(values);
            return false;
        }
    }
}

/// <summary>A record's number within its collection: 1 and up, in the order of insertion; 8 bytes big-endian in keys.</summary>
internal static class RecordId
{
    public const int Size = 8;

    public static void Write(Span<byte> destination, long id) => BinaryPrimitives.WriteInt64BigEndian(destination, id);

    public static long Read(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadInt64BigEndian(bytes);
}
