using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Server.Storage.Shards;

namespace MongoPerf.Server.Storage;

/// <summary>One collection: its records by number, its indexes, its counters.</summary>
/// <remarks>
/// Who reads or writes documents holds <see cref="Lock"/> for reading; who drops the collection or changes its indexes holds it
/// for writing, so column families never vanish under a reader. Writers of documents queue at <see cref="Writer"/> besides.
/// </remarks>
internal sealed class Collection : IDisposable
{
    private readonly RocksDatabase _database;
    private long _documentCount;
    private long _dataBytes;

    public Collection(RocksDatabase database, CollectionEntry entry)
    {
        _database = database;
        Entry = entry;
        Namespace = entry.Namespace;
        Records = database.Column(ColumnNames.Records(entry.Id));
        Indexes = [.. entry.Indexes
            .Select(spec => new CollectionIndex(spec, ColumnOf(spec)) { IsMultikey = entry.MultikeyIndexes.Contains(spec.Id) })];
        (_documentCount, _dataBytes) = CollectionCounters.Read(database, entry.Id);
        Writer = new CollectionWriter(database, this);
    }

    /// <summary>What the catalog holds of it; replaced under the write lock.</summary>
    public CollectionEntry Entry { get; set; }

    public string Namespace { get; }

    /// <summary>Which shard has which documents; null where it is not sharded. Replaced under the write lock.</summary>
    public ShardMap? Shards { get; set; }

    public InterruptibleReaderWriterLock Lock { get; } = new();

    public bool IsDropped { get; set; }

    /// <summary>The column family of the records: number to document.</summary>
    public nint Records { get; }

    /// <summary><c>_id_</c> first; replaced as a whole under the write lock.</summary>
    public CollectionIndex[] Indexes { get; set; }

    public CollectionWriter Writer { get; }

    /// <summary>Exact: written in the same batch as the documents, so a kill cannot part them.</summary>
    public long DocumentCount => Volatile.Read(ref _documentCount);

    /// <summary>The sum of the documents' BSON lengths.</summary>
    public long DataBytes => Volatile.Read(ref _dataBytes);

    public void SetCounters(long documents, long bytes)
    {
        Volatile.Write(ref _documentCount, documents);
        Volatile.Write(ref _dataBytes, bytes);
    }

    public PinnedValue Get(long recordId)
    {
        Span<byte> key = stackalloc byte[RecordId.Size];
        RecordId.Write(key, recordId);
        return _database.Get(Records, key);
    }

    public RocksIterator IterateRecords() => _database.Iterate(Records);

    public RocksIterator Iterate(CollectionIndex index) => _database.Iterate(index.Column);

    /// <summary>Opens an iterator over an index, or over the records when there is none, in an object that is there already.</summary>
    public void Iterate(CollectionIndex? index, RocksIterator iterator) => _database.Iterate(index?.Column ?? Records, iterator);

    /// <summary>The record number under a key of a unique index; 0 when there is none.</summary>
    public long FindUnique(CollectionIndex index, ReadOnlySpan<byte> key)
    {
        using PinnedValue value = _database.Get(index.Column, key);
        return value.Found ? RecordId.Read(value.Bytes) : 0;
    }

    /// <summary>Rewrites the files of records and indexes without what was deleted, and waits for it.</summary>
    public void Compact()
    {
        _database.Compact(Records);
        foreach (CollectionIndex index in Indexes)
            _database.Compact(index.Column);
    }

    /// <summary>Files and memory that the records take, by RocksDB's own account.</summary>
    public long StorageBytes => MeasureColumn(Records);

    /// <inheritdoc cref="StorageBytes"/>
    public long IndexBytes(CollectionIndex index) => MeasureColumn(index.Column);

    /// <summary>Memory of the records that is not in a file yet.</summary>
    public long MemtableBytes => _database.Property(Records, "rocksdb.cur-size-all-mem-tables\0"u8);

    public void Dispose() => Writer.Dispose();

    private nint ColumnOf(IndexSpec spec) => _database.Column(ColumnNames.Index(Entry.Id, spec.Id, spec.IsUnique));

    private long MeasureColumn(nint column) =>
        _database.Property(column, "rocksdb.total-sst-files-size\0"u8) + _database.Property(column, "rocksdb.cur-size-all-mem-tables\0"u8);
}

/// <summary>An index that is in use.</summary>
/// <param name="spec">Its name and fields.</param>
/// <param name="column">Its column family. Unique: key to record number; else: key and record number to nothing.</param>
internal sealed class CollectionIndex(IndexSpec spec, nint column)
{
    private volatile bool _isMultikey;
    private long _accesses;

    /// <summary>Replaced under the collection's write lock; its fields and its number stay.</summary>
    public IndexSpec Spec { get; set; } = spec;

    public nint Column { get; } = column;

    /// <summary>Whether a document may have several keys here; once true, always true.</summary>
    public bool IsMultikey
    {
        get => _isMultikey;
        set => _isMultikey = value;
    }

    /// <summary>Queries that used it since the server started, or since it was made.</summary>
    public long Accesses => Volatile.Read(ref _accesses);

    public DateTime Since { get; } = DateTime.UtcNow;

    public void CountAccess() => Interlocked.Increment(ref _accesses);

    public long RecordIdOf(RocksIterator iterator) =>
        RecordId.Read(Spec.IsUnique ? iterator.Value : iterator.Key[^RecordId.Size..]);
}
