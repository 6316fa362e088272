using System.Collections.Concurrent;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>All that the null server remembers: collections, open cursors, counters. Thread-safe.</summary>
internal sealed class NullStore
{
    private const int MaximumCollections = 10_000;
    private const int MaximumCursors = 10_000;

    private readonly Lock _lock = new();
    private readonly Dictionary<string, NullCollection> _collections = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<long, NullCursor> _cursors = new();
    private readonly List<NullCounters> _sessions = [];
    private readonly NullCounters _closed = new();
    private long _lastCursor;
    private int _lastConnection;

    public DateTime StartedAt { get; } = DateTime.UtcNow;

    public int ConnectionsCreated => Volatile.Read(ref _lastConnection);

    public int ConnectionsOpen
    {
        get
        {
            lock (_lock)
                return _sessions.Count;
        }
    }

    /// <summary>Finds a collection; makes it when asked to.</summary>
    public NullCollection? Find(ReadOnlySpan<byte> database, ReadOnlySpan<byte> name, bool create)
    {
        string db = Encoding.UTF8.GetString(database);
        string collection = Encoding.UTF8.GetString(name);
        string key = $"{db}.{collection}";
        lock (_lock)
        {
            if (_collections.TryGetValue(key, out NullCollection? known) || !create)
                return known;
            if (_collections.Count == MaximumCollections)
                throw new InvalidOperationException($"the null server keeps {MaximumCollections} collections at most");
            return _collections[key] = new NullCollection(db, collection);
        }
    }

    public bool Drop(NullCollection collection)
    {
        lock (_lock)
        {
            collection.IsDropped = true;
            return _collections.Remove(collection.Namespace);
        }
    }

    public List<NullCollection> CollectionsOf(string database)
    {
        lock (_lock)
            return [.. _collections.Values.Where(collection => collection.Database == database)];
    }

    public List<string> Databases()
    {
        lock (_lock)
            return [.. _collections.Values.Select(collection => collection.Database).Distinct()];
    }

    public NullCursor OpenCursor(NullCollection collection, ObjectId next, ObjectId to, long left)
    {
        if (_cursors.Count >= MaximumCursors)
            _cursors.Clear();
        var cursor = new NullCursor(Interlocked.Increment(ref _lastCursor), collection, to) { Next = next, Left = left };
        _cursors[cursor.Id] = cursor;
        return cursor;
    }

    public NullCursor? FindCursor(long id) => _cursors.GetValueOrDefault(id);

    public bool CloseCursor(long id) => _cursors.TryRemove(id, out _);

    /// <summary>Counters of a new connection, which alone writes them.</summary>
    public NullCounters OpenSession(out int connectionId)
    {
        var counters = new NullCounters();
        connectionId = Interlocked.Increment(ref _lastConnection);
        lock (_lock)
            _sessions.Add(counters);
        return counters;
    }

    public void CloseSession(NullCounters counters)
    {
        lock (_lock)
        {
            if (_sessions.Remove(counters))
                _closed.Add(counters);
        }
    }

    /// <summary>Counters of all connections since the start.</summary>
    public NullCounters Sum()
    {
        var sum = new NullCounters();
        lock (_lock)
        {
            sum.Add(_closed);
            foreach (NullCounters counters in _sessions)
                sum.Add(counters);
        }

        return sum;
    }
}

/// <summary>A scan of _ids that has not come to its end.</summary>
internal sealed class NullCursor(long id, NullCollection collection, ObjectId to)
{
    public long Id { get; } = id;

    public NullCollection Collection { get; } = collection;

    /// <summary>The first ObjectId that is not wanted.</summary>
    public ObjectId To { get; } = to;

    /// <summary>Where it goes on.</summary>
    public ObjectId Next { get; set; }

    /// <summary>Documents that it may still give.</summary>
    public long Left { get; set; }
}

/// <summary>What one connection has done. Its thread alone writes; others may read figures a moment old.</summary>
internal sealed class NullCounters
{
    public long Inserted { get; set; }

    public long Queries { get; set; }

    public long Updates { get; set; }

    public long Deletes { get; set; }

    public long GetMores { get; set; }

    public long Commands { get; set; }

    public long Returned { get; set; }

    public long BytesIn { get; set; }

    public long BytesOut { get; set; }

    public long Requests { get; set; }

    public void Add(NullCounters other)
    {
        Inserted += other.Inserted;
        Queries += other.Queries;
        Updates += other.Updates;
        Deletes += other.Deletes;
        GetMores += other.GetMores;
        Commands += other.Commands;
        Returned += other.Returned;
        BytesIn += other.BytesIn;
        BytesOut += other.BytesOut;
        Requests += other.Requests;
    }
}
