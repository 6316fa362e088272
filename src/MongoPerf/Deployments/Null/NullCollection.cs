using System.Buffers.Binary;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>What the null server remembers of a collection: which numbers came, a few samples, and small documents as they are.</summary>
/// <remarks>Thread-safe: one lock, held for one command at most. Memory is bounded however many documents come.</remarks>
internal sealed class NullCollection(string database, string name)
{
    /// <summary>Markers and notes; more of them means that the server is used for what it is not made for.</summary>
    public const int MaximumSmallDocuments = 10_000;

    /// <summary>Seeds whose documents are told apart; a run has one.</summary>
    private const int MaximumFamilies = 1000;

    private readonly Lock _lock = new();
    private readonly SortedDictionary<ulong, NumberRanges> _families = [];
    private readonly Dictionary<string, byte[]> _small = [];
    private readonly List<byte[]> _indexes = [];
    private readonly byte[] _databaseBytes = Encoding.UTF8.GetBytes(database);
    private readonly byte[] _nameBytes = Encoding.UTF8.GetBytes(name);
    private NullSamples _samples = new();
    private int _resets;
    private long _bytes;

    // The sum over all families: walking them would allocate.
    private long _numbered;

    public string Database { get; } = database;

    public string Name { get; } = name;

    public string Namespace { get; } = $"{database}.{name}";

    /// <summary>Set by drop; whoever holds on to the object must look it up again.</summary>
    public bool IsDropped { get; set; }

    public ReadOnlySpan<byte> DatabaseBytes => _databaseBytes;

    public ReadOnlySpan<byte> NameBytes => _nameBytes;

    /// <summary>Changes whenever <see cref="TakeSamples"/> may answer otherwise.</summary>
    public long SampleVersion
    {
        get
        {
            lock (_lock)
                return ((long)_resets << 32) + _samples.Version + (_samples.IsComplete ? 0 : _numbered << 16);
        }
    }

    public long Count
    {
        get
        {
            lock (_lock)
                return _numbered + _small.Count;
        }
    }

    /// <summary>Length of all documents that are there, bytes.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Takes documents that lie back to back.</summary>
    /// <param name="documents">Whole BSON documents.</param>
    /// <param name="stopAtDuplicate">As ordered inserts do.</param>
    /// <param name="duplicates">Gets the index of each document whose _id was there already, counted from <paramref name="index"/>.</param>
    /// <param name="index">Of the first document in its command; afterwards of the one behind the last.</param>
    /// <returns>How many were taken.</returns>
    public int Insert(ReadOnlySpan<byte> documents, bool stopAtDuplicate, List<int> duplicates, ref int index)
    {
        lock (_lock)
        {
            if (NullDocuments.IsRun(documents, out NumberedId first, out int count) && TakeRun(documents, first, count))
            {
                index += count;
                return count;
            }

            int taken = 0;
            for (int at = 0; at < documents.Length; index++)
            {
                int length = BinaryPrimitives.ReadInt32LittleEndian(documents[at..]);
                if (InsertOne(documents.Slice(at, length)))
                    taken++;
                else
                    duplicates.Add(index);
                if (stopAtDuplicate && duplicates.Count > 0)
                    break;
                at += length;
            }

            return taken;
        }
    }

    /// <summary>Writes a small document over the one with the same _id, or anew.</summary>
    /// <returns>True when one was there.</returns>
    public bool Replace(ReadOnlySpan<byte> document)
    {
        lock (_lock)
        {
            string key = SmallKey(document);
            bool known = _small.TryGetValue(key, out byte[]? old);
            _bytes += document.Length - (old?.Length ?? 0);
            _small[key] = document.ToArray();
            return known;
        }
    }

    /// <summary>Deletes what an _id names.</summary>
    public bool Delete(BsonType type, ReadOnlySpan<byte> id)
    {
        lock (_lock)
        {
            if (_small.Remove(SmallKey(type, id), out byte[]? old))
            {
                _bytes -= old.Length;
                return true;
            }

            if (type != BsonType.ObjectId)
                return false;
            NumberedId key = NullDocuments.Split(ObjectId.FromBytes(id));
            if (!_families.TryGetValue(key.Family, out NumberRanges? ranges) || !ranges.Remove(key.Number))
                return false;
            _bytes -= _bytes / (_numbered + _small.Count);
            _numbered--;
            return true;
        }
    }

    /// <returns>How many documents there were.</returns>
    public long DeleteAll()
    {
        lock (_lock)
        {
            long count = _numbered + _small.Count;
            _families.Clear();
            _numbered = 0;
            _small.Clear();
            _samples = new NullSamples();
            _resets++;
            _bytes = 0;
            return count;
        }
    }

    /// <summary>The small documents whose fields equal all of the filter's.</summary>
    public List<byte[]> FindSmall(ReadOnlySpan<byte> filter)
    {
        lock (_lock)
        {
            var found = new List<byte[]>();
            foreach (byte[] document in _small.Values)
            {
                if (NullFilter.Matches(document, filter))
                    found.Add(document);
            }

            return found;
        }
    }

    /// <summary>Documents to answer a query with.</summary>
    /// <param name="withCondition">Whether the query has a filter.</param>
    /// <param name="limit">As many as the query wants; less come when the collection holds less.</param>
    public List<byte[]> TakeSamples(bool withCondition, int limit)
    {
        lock (_lock)
        {
            List<byte[]> pool = [.. withCondition ? _samples.Great : _samples.Any];
            long count = pool.Count == 0 ? 0 : Math.Min(Math.Min(limit, MaximumSmallDocuments), _numbered);
            var taken = new List<byte[]>((int)count);
            while (taken.Count < count)
                taken.Add(pool[taken.Count % pool.Count]);
            return taken;
        }
    }

    public bool HasNumbered
    {
        get
        {
            lock (_lock)
                return _numbered > 0;
        }
    }

    /// <summary>Goes to the least _id that is there and not below <paramref name="id"/>.</summary>
    public bool TryFindNext(ObjectId id, out ObjectId next)
    {
        NumberedId from = NullDocuments.Split(id);
        lock (_lock)
        {
            foreach ((ulong family, NumberRanges ranges) in _families)
            {
                if (family >= from.Family && ranges.TryFindNext(family == from.Family ? from.Number : 0, out long number))
                {
                    next = NullDocuments.Join(family, number);
                    return true;
                }
            }
        }

        next = default;
        return false;
    }

    /// <summary>How many documents have an _id in [from, to).</summary>
    public long CountIn(ObjectId from, ObjectId to)
    {
        (NumberedId low, NumberedId high) = (NullDocuments.Split(from), NullDocuments.Split(to));
        long count = 0;
        lock (_lock)
        {
            foreach ((ulong family, NumberRanges ranges) in _families)
            {
                if (family >= low.Family && family <= high.Family)
                    count += ranges.CountIn(family == low.Family ? low.Number : 0, family == high.Family ? high.Number : long.MaxValue);
            }
        }

        return count;
    }

    /// <summary>Adds an index's specification; nothing is built.</summary>
    /// <returns>False when one of that name is there.</returns>
    public bool AddIndex(byte[] specification, ReadOnlySpan<byte> name)
    {
        lock (_lock)
        {
            foreach (byte[] known in _indexes)
            {
                var reader = new BsonReader(known);
                if (reader.Find("name"u8) && reader.StringBytes.SequenceEqual(name))
                    return false;
            }

            _indexes.Add(specification);
            return true;
        }
    }

    /// <summary>Specifications, without _id_.</summary>
    public byte[][] Indexes
    {
        get
        {
            lock (_lock)
                return [.. _indexes];
        }
    }

    private bool TakeRun(ReadOnlySpan<byte> documents, NumberedId first, int count)
    {
        if (FamilyOf(first.Family) is not { } ranges || ranges.CountIn(first.Number, first.Number + count) != 0)
            return false;
        _numbered += ranges.Add(first.Number, first.Number + count);
        _bytes += documents.Length;
        int length = documents.Length / count;
        for (int i = 0; i < count && !_samples.IsComplete; i++)
            _samples.Offer(documents.Slice(i * length, length));
        return true;
    }

    private bool InsertOne(ReadOnlySpan<byte> document)
    {
        if (NullDocuments.IsNumbered(document))
        {
            NumberedId id = NullDocuments.IdOf(document);
            if (FamilyOf(id.Family)?.Add(id.Number, id.Number + 1) == 0)
                return false;
            _numbered++;
            _samples.Offer(document);
        }
        else if (_small.Count >= MaximumSmallDocuments)
        {
            throw new InvalidOperationException($"the null server keeps {MaximumSmallDocuments} small documents in a collection at most");
        }
        else if (!_small.TryAdd(SmallKey(document), document.ToArray()))
        {
            return false;
        }

        _bytes += document.Length;
        return true;
    }

    // Null for documents of other clients, whose _ids are not numbered: they are counted, and nothing else is remembered of them.
    private NumberRanges? FamilyOf(ulong family)
    {
        if (_families.TryGetValue(family, out NumberRanges? ranges))
            return ranges;
        return _families.Count == MaximumFamilies ? null : _families[family] = new NumberRanges();
    }

    private static string SmallKey(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        return reader.Find("_id"u8) ? SmallKey(reader.Type, reader.Value) : Guid.NewGuid().ToString();
    }

    private static string SmallKey(BsonType type, ReadOnlySpan<byte> id) => $"{(byte)type:x2}{Convert.ToHexString(id)}";
}
