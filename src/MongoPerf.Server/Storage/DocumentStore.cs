using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using MongoPerf.Platforms;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>The embedded server's data: collections and their indexes in one RocksDB database, found through a catalog in it.</summary>
/// <remarks>
/// Any number of threads. What was written survives a kill of the process; after <see cref="SyncLog"/> also a power failure.
/// A change of the catalog is written before new data uses it and after old data is gone from it; column families that the
/// catalog does not know (a kill in between) are dropped on opening. RocksDB makes and drops column families on the disk at once, but
/// writes the log there later, so the log is synced before any is dropped: a power cut must not leave an entry without its columns.
/// </remarks>
internal sealed class DocumentStore : IDisposable
{
    private const int IndexBuildBatchBytes = 1 << 20;
    private static readonly byte[] NextIdKey = [(byte)'n'];

    private readonly RocksDatabase _database;
    private readonly nint _catalog;
    private readonly ConcurrentDictionary<string, Collection> _collections = new();
    private readonly ConcurrentDictionary<string, Collection>.AlternateLookup<ReadOnlySpan<char>> _byName;

    // Around the making and dropping of collections. Nobody who holds it waits for a collection's lock.
    private readonly InterruptibleLock _catalogGate = new();
    private readonly string? _path;
    private int _nextCollectionId;

    private DocumentStore(RocksDatabase database, string? path)
    {
        _database = database;
        _path = path;
        _catalog = database.Column(RocksDatabase.DefaultColumn);
        _byName = _collections.GetAlternateLookup<ReadOnlySpan<char>>();
    }

    /// <param name="path">The folder; null for a store in memory.</param>
    /// <param name="cacheBytes">Bytes for blocks and for what is not in a file yet.</param>
    /// <param name="disk">How much of the disk stays free; null for the default.</param>
    /// <param name="compile">Makes the filter of a partial index from its source; null where there are no such indexes.</param>
    /// <exception cref="StorageException">The folder is neither empty nor the store's.</exception>
    /// <exception cref="StorageException">See <see cref="RocksDatabase.Open"/>.</exception>
    public static DocumentStore Open(
        string? path, long cacheBytes, DiskReserve? disk = null, Func<BsonDocument, Collation?, IDocumentFilter>? compile = null)
    {
        if (path is not null)
            StoreFolder.Claim(path);
        var store = new DocumentStore(RocksDatabase.Open(path, cacheBytes, disk), path);
        try
        {
            store.LoadCatalog(compile);
            return store;
        }
        catch
        {
            store.Dispose();
            throw;
        }
    }

    public ICollection<Collection> Collections => _collections.Values;

    public StoreFigures Figures
    {
        get
        {
            long memtables = _database.PropertyOfAll("rocksdb.cur-size-all-mem-tables\0"u8);
            return new(
                _database.CacheUsed + memtables, _database.CacheCapacity + _database.MemtableCapacity,
                memtables, _database.MemtableCapacity,
                _database.PropertyOfAll("rocksdb.total-sst-files-size\0"u8), LogBytes(),
                _database.Property(_catalog, "rocksdb.num-running-compactions\0"u8) + _database.Property(
                    _catalog, "rocksdb.num-running-flushes\0"u8),
                _database.PropertyOfAll("rocksdb.estimate-pending-compaction-bytes\0"u8),
                _database.Property(_catalog, "rocksdb.is-write-stopped\0"u8) != 0);
        }
    }

    public bool TryFind(ReadOnlySpan<char> nameSpace, [NotNullWhen(true)] out Collection? collection) =>
        _byName.TryGetValue(nameSpace, out collection);

    /// <returns>
    /// The name of a database that differs from this one in case only, and null where there is none, or where this one is there itself.
    /// </returns>
    public string? FindOtherCase(string database)
    {
        string[] names = [.. _collections.Values.Select(collection => collection.Entry.Database)
            .Where(name => name.Equals(database, StringComparison.OrdinalIgnoreCase))];
        return names.Contains(database) ? null : names.FirstOrDefault();
    }

    /// <summary>The collection, made with its <c>_id_</c> index when it is not there, and then with that collation.</summary>
    /// <returns>Null where <see cref="FindOtherCase"/> names a database.</returns>
    public Collection? GetOrCreate(string database, string name, out bool isNew, Collation? collation = null)
    {
        isNew = false;
        if (_collections.TryGetValue($"{database}.{name}", out Collection? found))
            return found;
        using (_catalogGate.Enter())
        {
            if (_collections.TryGetValue($"{database}.{name}", out found))
                return found;
            if (FindOtherCase(database) != null)
                return null;
            isNew = true;
            return Make(new CollectionEntry(
                _nextCollectionId++, database, name, SystemRandom.GetBytes(16), [IndexSpec.IdIndexOf(collation)], [], NextIndexId: 1));
        }
    }

    /// <summary>An empty collection that is gone when the store is opened anew, unless it was renamed.</summary>
    /// <param name="database">Its database.</param>
    /// <param name="name">A name that no other collection has.</param>
    /// <param name="like">Whose indexes it gets; null: none but <c>_id_</c>.</param>
    /// <returns>Null where <see cref="FindOtherCase"/> names a database.</returns>
    public Collection? CreateTemporary(string database, string name, Collection? like)
    {
        using (_catalogGate.Enter())
        {
            if (FindOtherCase(database) != null)
                return null;
            return Make(new CollectionEntry(_nextCollectionId++, database, name, SystemRandom.GetBytes(16),
                like?.Entry.Indexes ?? [IndexSpec.IdIndex], [], like?.Entry.NextIndexId ?? 1) { IsTemporary = true });
        }
    }

    /// <returns>How many indexes it had; null when there is no such collection.</returns>
    public int? Drop(string nameSpace)
    {
        if (!_collections.TryGetValue(nameSpace, out Collection? collection))
            return null;
        using var alone = collection.Lock.EnterWrite();
        if (collection.IsDropped)
            return null;
        // Against one of the same name that is made meanwhile, whose entry in the catalog has the same key.
        using (_catalogGate.Enter())
        {
            DeleteEntry(collection.Entry);
            collection.IsDropped = true;
            _collections.TryRemove(nameSpace, out _);
        }

        DropColumns(collection);
        return collection.Indexes.Length;
    }

    /// <summary>
    /// Gives a collection, with its documents and indexes, another name, in the same database or in another one. It is another object
    /// afterwards: for those who hold the former one it is dropped.
    /// </summary>
    /// <param name="nameSpace">The present name.</param>
    /// <param name="database">The database of the new name.</param>
    /// <param name="name">The new name without its database.</param>
    /// <param name="mayReplace">
    /// Says of the collection that has the new name, or of null where there is none, whether it may be dropped, in the same write. It
    /// stands still meanwhile.
    /// </param>
    public RenameOutcome Rename(string nameSpace, string database, string name, Func<Collection?, bool> mayReplace)
    {
        while (true)
        {
            if (!_collections.TryGetValue(nameSpace, out Collection? source))
                return RenameOutcome.NoSource;
            _collections.TryGetValue($"{database}.{name}", out Collection? target);
            if (TryRename(source, target, database, name, mayReplace) is { } outcome)
                return outcome;
        }
    }

    /// <returns>Null where another client was faster with one of the two: they have to be looked up again.</returns>
    private RenameOutcome? TryRename(
        Collection source, Collection? target, string database, string name, Func<Collection?, bool> mayReplace)
    {
        // Always in the same order, or two that change places would wait for each other.
        bool isSourceFirst = target == null || string.CompareOrdinal(source.Namespace, target.Namespace) < 0;
        using var first = (isSourceFirst ? source : target!).Lock.EnterWrite();
        if (target == null)
            return RenameAlone(source, null, database, name, mayReplace);
        using var second = (isSourceFirst ? target : source).Lock.EnterWrite();
        return RenameAlone(source, target, database, name, mayReplace);
    }

    private RenameOutcome? RenameAlone(
        Collection source, Collection? target, string database, string name, Func<Collection?, bool> mayReplace)
    {
        if (source.IsDropped || target is { IsDropped: true })
            return null;
        // Its chunks go by its name.
        if (source.Shards != null || target?.Shards != null)
            return RenameOutcome.Sharded;
        if (!mayReplace(target))
            return RenameOutcome.TargetRefused;
        CollectionEntry entry = source.Entry with { Database = database, Name = name, IsTemporary = false };
        // As on mongod, where a collection in another database is a copy.
        if (database != source.Entry.Database)
            entry = entry with { Uuid = SystemRandom.GetBytes(16) };
        using (_catalogGate.Enter())
        {
            if (target == null && _collections.ContainsKey(entry.Namespace))
                return null;
            if (FindOtherCase(database) != null)
                return RenameOutcome.OtherCase;
            using var batch = new RocksBatch();
            batch.Delete(_catalog, source.Entry.StoreKey);
            if (target != null)
                DeleteEntry(batch, target.Entry);
            batch.Put(_catalog, entry.StoreKey, entry.ToBson());
            _database.Write(batch, makesRoom: target != null);
            source.IsDropped = true;
            _collections.TryRemove(source.Namespace, out _);
            source.Dispose();
            _collections[entry.Namespace] = new Collection(_database, entry);
        }

        if (target != null)
        {
            target.IsDropped = true;
            DropColumns(target);
        }

        return RenameOutcome.Done;
    }

    /// <summary>
    /// Makes an index and fills it from the documents that are there; the collection stands still meanwhile, others do not.
    /// </summary>
    /// <param name="collection">The one that gets it.</param>
    /// <param name="wanted">The index; its number is replaced.</param>
    /// <returns>Null, or the values of the least key that occurs twice in the unique index; then there is no index.</returns>
    public BsonDocument? CreateIndex(Collection collection, IndexSpec wanted)
    {
        using var alone = collection.Lock.EnterWrite();
        RequireThere(collection);
        // Two clients asked for it at once.
        if (collection.Indexes.Any(index => index.Spec.Name == wanted.Name))
            return null;
        IndexSpec spec = wanted with { Id = collection.Entry.NextIndexId };
        string columnName = ColumnOf(collection.Entry, spec);
        var index = new CollectionIndex(spec, _database.CreateColumn(columnName));
        bool isMade = false;
        try
        {
            if (Fill(collection, index) is { } twice)
                return twice;
            WriteEntry(collection, collection.Entry with
            {
                Indexes = [.. collection.Entry.Indexes, spec],
                MultikeyIndexes = index.IsMultikey ? [.. collection.Entry.MultikeyIndexes, spec.Id] : collection.Entry.MultikeyIndexes,
                NextIndexId = spec.Id + 1,
            });
            isMade = true;
        }
        finally
        {
            if (!isMade)
                _database.DropColumn(columnName);
        }

        collection.Indexes = [.. collection.Indexes, index];
        return null;
    }

    /// <summary>Changes what an index says about itself, but not what is in it.</summary>
    public void ReplaceIndex(Collection collection, CollectionIndex index, IndexSpec spec)
    {
        using var alone = collection.Lock.EnterWrite();
        RequireThere(collection);
        if (!collection.Indexes.Contains(index))
            throw new StorageException($"the index {spec.Name} of {collection.Namespace} was dropped meanwhile");
        WriteEntry(collection, collection.Entry with
        {
            Indexes = [.. collection.Entry.Indexes.Select(other => other.Id == spec.Id ? spec : other)],
        });
        index.Spec = spec;
    }

    public void DropIndex(Collection collection, IndexSpec spec)
    {
        using var alone = collection.Lock.EnterWrite();
        RequireThere(collection);
        WriteEntry(collection, collection.Entry with { Indexes = [.. collection.Entry.Indexes.Where(other => other.Id != spec.Id)] },
            makesRoom: true);
        collection.Indexes = [.. collection.Indexes.Where(index => index.Spec.Id != spec.Id)];
        _database.SyncLog();
        _database.DropColumn(ColumnOf(collection.Entry, spec));
    }

    /// <summary>Gives a collection another division into shards, and counts what each of them then has.</summary>
    /// <param name="collection">Present.</param>
    /// <param name="map">Not in use anywhere yet.</param>
    /// <param name="mayTrust">Whether counts that are stored are this map's.</param>
    /// <exception cref="IndexKeyException">A document has an array in the shard key; nothing was changed.</exception>
    public void SetShards(Collection collection, ShardMap map, bool mayTrust)
    {
        using var alone = collection.Lock.EnterWrite();
        RequireThere(collection);
        if (!mayTrust || !CollectionCounters.TryRead(_database, collection.Entry.Id, map.Counts))
        {
            map.Counts.Clear();
            using (RocksIterator records = collection.IterateRecords())
            {
                for (records.SeekToFirst(); records.Valid; records.Next())
                {
                    ActiveOperation.Check();
                    map.Counts.Add(map.OwnerOf(records.Value), 1, records.Value.Length);
                }

                records.ThrowOnError();
            }

            PutCounters(collection, map.Counts);
        }

        if (collection.Shards is { } former)
            map.TakeWork(former);
        collection.Shards = map;
    }

    /// <summary>Before chunks change: a kill until <see cref="SetShards"/> leaves no counts that are wrong.</summary>
    public void ForgetShardCounts(Collection collection)
    {
        using var alone = collection.Lock.EnterWrite();
        RequireThere(collection);
        collection.Shards?.Retire();
        PutCounters(collection, shards: null);
    }

    private void PutCounters(Collection collection, ShardCounts? shards)
    {
        using var batch = new RocksBatch();
        CollectionCounters.Put(
            batch, _catalog, collection.Entry.Id, collection.DocumentCount, collection.DataBytes, shards, more: null);
        _database.Write(batch);
    }

    /// <summary>Makes compactions that clients asked for end early; for good.</summary>
    public void StopCompactions() => _database.StopCompactions();

    /// <summary>Returns when everything acknowledged so far would survive a power failure.</summary>
    public void SyncLog() => _database.SyncLog();

    public void Dispose()
    {
        foreach (Collection collection in _collections.Values)
            collection.Dispose();
        _collections.Clear();
        _database.Dispose();
    }

    private void LoadCatalog(Func<BsonDocument, Collation?, IDocumentFilter>? compile)
    {
        using (PinnedValue next = _database.Get(_catalog, NextIdKey))
            _nextCollectionId = next.Found ? BinaryPrimitives.ReadInt32LittleEndian(next.Bytes) : 1;
        // Stores of earlier versions may have entries whose columns were dropped, _id's first, before a power cut brought the entry back.
        HashSet<string> there = [.. _database.Columns];
        var known = new HashSet<string> { RocksDatabase.DefaultColumn };
        var gone = new List<CollectionEntry>();
        using (RocksIterator entries = _database.Iterate(_catalog))
        {
            for (entries.Seek(CollectionEntry.FirstStoreKey); entries.Valid && CollectionEntry.IsStoreKey(entries.Key); entries.Next())
            {
                CollectionEntry entry = CollectionEntry.FromBson(entries.Value.ToArray(), compile);
                if (entry.IsTemporary || !there.IsSupersetOf([ColumnNames.Records(entry.Id), ColumnOf(entry, entry.Indexes[0])]))
                {
                    gone.Add(entry);
                    continue;
                }

                entry = entry with { Indexes = [.. entry.Indexes.Where(spec => there.Contains(ColumnOf(entry, spec)))] };
                _collections[entry.Namespace] = new Collection(_database, entry);
                known.Add(ColumnNames.Records(entry.Id));
                known.UnionWith(entry.Indexes.Select(spec => ColumnOf(entry, spec)));
            }

            entries.ThrowOnError();
        }

        gone.ForEach(DeleteEntry);
        if (gone.Count > 0)
            _database.SyncLog();
        foreach (string orphan in there.Except(known))
            _database.DropColumn(orphan);
    }

    private static string ColumnOf(CollectionEntry entry, IndexSpec spec) => ColumnNames.Index(entry.Id, spec.Id, spec.IsUnique);

    private Collection Make(CollectionEntry entry)
    {
        _database.CreateColumn(ColumnNames.Records(entry.Id));
        foreach (IndexSpec spec in entry.Indexes)
            _database.CreateColumn(ColumnOf(entry, spec));
        WriteNew(entry);
        var collection = new Collection(_database, entry);
        _collections[entry.Namespace] = collection;
        return collection;
    }

    private static void RequireThere(Collection collection)
    {
        if (collection.IsDropped)
            throw new StorageException($"the collection {collection.Namespace} was dropped meanwhile");
    }

    private void WriteNew(CollectionEntry entry)
    {
        using var batch = new RocksBatch();
        batch.Put(_catalog, entry.StoreKey, entry.ToBson());
        Span<byte> next = stackalloc byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(next, _nextCollectionId);
        batch.Put(_catalog, NextIdKey, next);
        _database.Write(batch);
    }

    /// <summary>Replaces the entry of a collection that its caller has alone.</summary>
    private void WriteEntry(Collection collection, CollectionEntry entry, bool makesRoom = false)
    {
        using var batch = new RocksBatch();
        batch.Put(_catalog, entry.StoreKey, entry.ToBson());
        _database.Write(batch, makesRoom);
        collection.Entry = entry;
    }

    private void DeleteEntry(CollectionEntry entry)
    {
        using var batch = new RocksBatch();
        DeleteEntry(batch, entry);
        _database.Write(batch, makesRoom: true);
    }

    private void DropColumns(Collection collection)
    {
        _database.SyncLog();
        foreach (IndexSpec spec in collection.Entry.Indexes)
            _database.DropColumn(ColumnOf(collection.Entry, spec));
        _database.DropColumn(ColumnNames.Records(collection.Entry.Id));
        collection.Dispose();
    }

    private void DeleteEntry(RocksBatch batch, CollectionEntry entry)
    {
        batch.Delete(_catalog, entry.StoreKey);
        Span<byte> counters = stackalloc byte[CollectionCounters.KeySize];
        CollectionCounters.WriteKey(counters, entry.Id);
        batch.Delete(_catalog, counters);
    }

    private BsonDocument? Fill(Collection collection, CollectionIndex index)
    {
        using RocksIterator records = collection.IterateRecords();
        using var batch = new RocksBatch();
        var keys = new IndexKeys();
        var pending = new PendingKeys();
        byte[]? twice = null;
        byte[] twiceIn = [];
        for (records.SeekToFirst(); records.Valid; records.Next())
        {
            ActiveOperation.Check();
            keys.Build(index.Spec, records.Value);
            index.IsMultikey |= keys.IsMultikey;
            for (int i = 0; i < keys.Count; i++)
            {
                if (!index.Spec.IsUnique)
                {
                    batch.Put(index.Column, [.. keys[i], .. records.Key], default);
                    continue;
                }

                if (pending.Contains(0, keys[i]) || _database.Contains(index.Column, keys[i]))
                {
                    // MongoDB sorts all keys first, and so meets the least one that is there twice.
                    if (twice == null || keys[i].SequenceCompareTo(twice) < 0)
                        (twice, twiceIn) = (keys[i].ToArray(), records.Value.ToArray());
                    continue;
                }

                pending.Add(0, keys[i]);
                batch.Put(index.Column, keys[i], records.Key);
            }

            if (batch.Bytes < IndexBuildBatchBytes)
                continue;
            _database.Write(batch);
            batch.Clear();
            pending.Clear();
        }

        records.ThrowOnError();
        _database.Write(batch);
        return twice == null ? null : IndexKeys.ValuesOf(index.Spec.Fields, twiceIn, twice);
    }

    private long LogBytes()
    {
        try
        {
            return _path is null ? 0 : new DirectoryInfo(_path).EnumerateFiles("*.log").Sum(file => file.Length);
        }
        catch (IOException)
        {
            // A log may be deleted between listing and measuring.
            return 0;
        }
    }
}

internal enum RenameOutcome
{
    Done,

    /// <summary>There is no collection to rename.</summary>
    NoSource,

    /// <summary>The caller will not have the collection replaced that has the new name.</summary>
    TargetRefused,

    /// <summary>One of the two is sharded.</summary>
    Sharded,

    /// <summary>There is a database whose name differs in case only.</summary>
    OtherCase,
}

/// <summary>What the store measures about itself, all in bytes unless said; RocksDB's own properties.</summary>
/// <param name="CacheBytesUsed">Blocks and memtables: as in WiredTiger's cache, what is not yet written is a part of it.</param>
/// <param name="CacheBytesMaximum">What both may take together, as <c>--cache</c> sets it.</param>
/// <param name="MemtableBytes">What no file has yet.</param>
/// <param name="MemtableBytesMaximum">At which the largest is written to a file.</param>
/// <param name="FileBytes">Files with data.</param>
/// <param name="LogBytes">Files of the write-ahead log.</param>
/// <param name="RunningJobs">Flushes and compactions, a number.</param>
/// <param name="PendingCompactionBytes">What compactions have yet to rewrite.</param>
/// <param name="AreWritesStopped">Writes wait for flushes or compactions.</param>
public sealed record StoreFigures(
    long CacheBytesUsed, long CacheBytesMaximum, long MemtableBytes, long MemtableBytesMaximum, long FileBytes, long LogBytes,
    long RunningJobs, long PendingCompactionBytes, bool AreWritesStopped);
