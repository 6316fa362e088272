using MongoPerf.Engine.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>A collection that the plan does not know, such as that of the markers: its documents are kept while they are few, and counted from then on.</summary>
/// <remarks>Filters on equal fields are understood; for any other, any of the documents come.</remarks>
internal sealed class KeptCollection(string database, string name) : NullCollection(database, name)
{
    public const int MaximumDocuments = 1000;

    private const long MaximumBytes = 4 << 20;

    private readonly List<byte[]> _documents = [];
    private DocumentPool? _pool;
    private long _keptBytes;
    private long _count;
    private long _bytes;

    public override long Count => Volatile.Read(ref _count);

    public override long Bytes => Volatile.Read(ref _bytes);

    public override int Insert(ReadOnlySpan<byte> documents)
    {
        int count = CountDocuments(documents);
        lock (Gate)
        {
            bool isWhole = _documents.Count == _count;
            for (ReadOnlySpan<byte> rest = documents; isWhole && rest.Length > 0 && _documents.Count < MaximumDocuments && _keptBytes < MaximumBytes;)
                Keep(TakeDocument(ref rest).ToArray());
            _count += count;
            _bytes += documents.Length;
        }

        return count;
    }

    public override int Update(ReadOnlySpan<byte> filter, ReadOnlySpan<byte> change, bool upsert)
    {
        lock (Gate)
        {
            int at = IndexOf(filter);
            if (at < 0)
            {
                if (upsert)
                    Insert(Merge(filter.ToArray(), change.ToArray()));
                return 0;
            }

            byte[] merged = Merge(_documents[at], change.ToArray());
            int grown = merged.Length - _documents[at].Length;
            (_documents[at], _pool) = (merged, null);
            _keptBytes += grown;
            _bytes += grown;
            return 1;
        }
    }

    public override long Delete(ReadOnlySpan<byte> filter, bool many)
    {
        lock (Gate)
        {
            long before = _count;
            if (many && IsEmpty(filter))
            {
                _documents.Clear();
                (_pool, _count, _bytes, _keptBytes) = (null, 0, 0, 0);
            }

            for (int at = IndexOf(filter); at >= 0; at = many ? IndexOf(filter) : -1)
            {
                _count--;
                _bytes -= _documents[at].Length;
                _keptBytes -= _documents[at].Length;
                _documents.RemoveAt(at);
                _pool = null;
            }

            return before - _count;
        }
    }

    public override FindOutcome Find(BsonWriter array, scoped in FindRequest find)
    {
        lock (Gate)
        {
            if (_documents.Count == _count && IsEquality(find.Filter))
                return new FindOutcome(WriteEqual(array, find));
            _pool ??= DocumentPool.Make(_documents.Count, (writer, number) => writer.WriteRaw(_documents[(int)number]));
            return new FindOutcome(_pool.Project(find.Projection));
        }
    }

    private int WriteEqual(BsonWriter array, scoped in FindRequest find)
    {
        bool isInclusion = Projection.IsInclusion(find.Projection);
        int written = 0;
        foreach (byte[] document in _documents)
        {
            if (find.Limit > 0 && written == find.Limit)
                break;
            if (!Equals(document, find.Filter))
                continue;
            DocumentPool.WriteKey(array, written++);
            if (isInclusion)
                Projection.Write(array, document, find.Projection);
            else
                array.WriteRaw(document);
        }

        return written;
    }

    private void Keep(byte[] document)
    {
        _documents.Add(document);
        _keptBytes += document.Length;
        _pool = null;
    }

    private int IndexOf(ReadOnlySpan<byte> filter)
    {
        for (int i = 0; i < _documents.Count; i++)
        {
            if (Equals(_documents[i], filter))
                return i;
        }

        return -1;
    }

    /// <summary>No operators in it.</summary>
    private static bool IsEquality(ReadOnlySpan<byte> filter)
    {
        var field = new BsonReader(filter);
        while (field.Read())
        {
            if (field.Name.StartsWith("$"u8) || (field.Type == BsonType.Document && HasOperator(field.DocumentBytes)))
                return false;
        }

        return true;
    }

    private static bool HasOperator(ReadOnlySpan<byte> value)
    {
        var first = new BsonReader(value);
        return first.Read() && first.Name.StartsWith("$"u8);
    }

    /// <summary>Each field of the filter is in the document with the same type and value.</summary>
    private static bool Equals(ReadOnlySpan<byte> document, ReadOnlySpan<byte> filter)
    {
        var wanted = new BsonReader(filter);
        while (wanted.Read())
        {
            var field = new BsonReader(document);
            if (!field.Find(wanted.Name) || field.Type != wanted.Type || !field.Value.SequenceEqual(wanted.Value))
                return false;
        }

        return true;
    }

    /// <summary>A replacement keeps the _id of what it replaces; $set puts fields over it; other operators are left out.</summary>
    private static byte[] Merge(byte[] old, byte[] change)
    {
        var fields = new OrderedDictionary<string, object?>();
        bool isReplacement = !new BsonDocument(change).Any(field => field.Key.StartsWith('$'));
        foreach ((string name, BsonValue value) in new BsonDocument(old))
        {
            if (name == "_id" || !isReplacement)
                fields[name] = value;
        }

        foreach ((string name, BsonValue value) in new BsonDocument(change))
        {
            if (isReplacement)
                fields[name] = value;
            else if (name == "$set")
                foreach ((string field, BsonValue set) in value.ToDocument())
                    fields[field] = set;
        }

        return BsonDocument.Of([.. fields.Select(field => (field.Key, field.Value))]).Bytes.ToArray();
    }
}
