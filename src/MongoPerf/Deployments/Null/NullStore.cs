using System.Collections.Concurrent;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Server.Listening;

namespace MongoPerf.Deployments.Null;

/// <summary>All that the null server remembers: collections, open cursors, counters. Thread-safe.</summary>
internal sealed class NullStore
{
    private const int MaximumCollections = 10_000;
    private const int MaximumCursors = 10_000;

    private readonly Dictionary<string, NumberedDocuments> _planned;
    private readonly Lock _lock = new();
    private readonly Dictionary<string, NullCollection> _collections = [];
    private readonly ConcurrentDictionary<long, NullCursor> _cursors = new();
    private long _lastCursor;

    /// <param name="collections">Of the plan; in whatever database they come to lie.</param>
    public NullStore(IReadOnlyList<PlanCollection> collections) =>
        _planned = collections.SelectMany(NumberedDocuments.Of).ToDictionary(stored => stored.Name, stored => stored.Documents);

    public DateTime StartedAt { get; } = DateTime.UtcNow;

    public NullCounters Counters { get; } = new();

    public NetworkCounters Network { get; set; } = new();

    /// <summary>Finds a collection; makes it when asked to.</summary>
    /// <exception cref="InvalidOperationException">There are too many.</exception>
    public NullCollection? Find(string database, string name, bool create)
    {
        lock (_lock)
        {
            if (_collections.TryGetValue($"{database}.{name}", out NullCollection? known) || !create)
                return known;
            if (_collections.Count == MaximumCollections)
                throw new InvalidOperationException($"the null server has {MaximumCollections:N0} collections at most");
            return _collections[$"{database}.{name}"] = _planned.TryGetValue(name, out NumberedDocuments? documents)
                ? new NumberedCollection(database, name, documents)
                : new KeptCollection(database, name);
        }
    }

    public void Drop(NullCollection collection)
    {
        lock (_lock)
        {
            collection.IsDropped = true;
            _collections.Remove(collection.FullName);
        }
    }

    /// <summary>In no order.</summary>
    public IReadOnlyList<string> Databases
    {
        get
        {
            lock (_lock)
                return [.. _collections.Values.Select(collection => collection.Database).Distinct()];
        }
    }

    /// <summary>In no order.</summary>
    public IReadOnlyList<NullCollection> CollectionsOf(string database)
    {
        lock (_lock)
            return [.. _collections.Values.Where(collection => collection.Database == database)];
    }

    /// <returns>Its id. When too many are open, the others are closed.</returns>
    public long Open(NullCursor cursor)
    {
        if (_cursors.Count >= MaximumCursors)
            _cursors.Clear();
        long id = Interlocked.Increment(ref _lastCursor);
        _cursors[id] = cursor;
        return id;
    }

    public NullCursor? FindCursor(long id) => _cursors.GetValueOrDefault(id);

    public bool Close(long cursor) => _cursors.TryRemove(cursor, out _);
}

/// <summary>What serverStatus counts.</summary>
internal enum Counted
{
    Insert,
    Query,
    Update,
    Delete,
    GetMore,
    Command,
    Returned,
}

/// <summary>What was done since the start. Written by all sessions, read by anybody.</summary>
internal sealed class NullCounters
{
    private readonly long[] _counts = new long[Enum.GetValues<Counted>().Length];

    public long this[Counted what] => Volatile.Read(ref _counts[(int)what]);

    public void Add(Counted what, long count) => Interlocked.Add(ref _counts[(int)what], count);
}
