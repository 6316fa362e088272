using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Server.Storage.Shards;

namespace MongoPerf.Server.Storage;

/// <summary>Builds and writes the batches of one collection: documents, index keys and counters together, all or nothing.</summary>
/// <remarks>
/// One thread at a time: enter <see cref="Gate"/> from <see cref="Begin"/> to <see cref="Commit"/>, inside the collection's read
/// lock. After a commit the operating system has the batch, so it survives a kill of the process; see
/// <see cref="DocumentStore.SyncLog"/> for power failure.
/// </remarks>
internal sealed class CollectionWriter : IDisposable
{
    private readonly RocksDatabase _database;
    private readonly Collection _collection;
    private readonly nint _catalog;
    private readonly RocksBatch _batch = new();
    private readonly PendingKeys _pending = new();
    private readonly KeyBuffer _key = new();
    private readonly byte[] _record = new byte[RecordId.Size];
    private IndexKeys[] _newKeys = [];
    private IndexKeys[] _oldKeys = [];
    private byte[] _greatestId = [];
    private int _greatestIdLength;
    private long _lastRecord;
    private long _documentsDelta;
    private long _bytesDelta;

    // What the open batch changes of them; null for a collection that is not sharded.
    private ShardMap? _shards;
    private ShardCounts? _shardsDelta;

    // Stays when a batch is given up: the index is marked in memory then, and the catalog has yet to hear of it.
    private bool _isMultikeyNew;

    public CollectionWriter(RocksDatabase database, Collection collection)
    {
        _database = database;
        _collection = collection;
        _catalog = database.Column(RocksDatabase.DefaultColumn);
        using RocksIterator records = database.Iterate(collection.Records);
        records.SeekToLast();
        _lastRecord = records.Valid ? RecordId.Read(records.Key) : 0;
        using RocksIterator ids = database.Iterate(collection.Indexes[0].Column);
        ids.SeekToLast();
        if (ids.Valid)
            RememberGreatestId(ids.Key);
    }

    public InterruptibleLock Gate { get; } = new();

    /// <summary>The key that was there already, when <see cref="Insert"/> or <see cref="Replace"/> has named an index.</summary>
    public byte[] TakenKey { get; private set; } = [];

    /// <summary>Bytes that the open batch holds.</summary>
    public long BatchBytes => _batch.Bytes;

    public void Begin()
    {
        _batch.Clear();
        _pending.Clear();
        _documentsDelta = 0;
        _bytesDelta = 0;
        if (_shards != _collection.Shards)
        {
            _shards = _collection.Shards;
            _shardsDelta = _shards?.Counts.Another();
        }

        _shardsDelta?.Clear();
        if (_newKeys.Length != _collection.Indexes.Length)
        {
            _newKeys = [.. _collection.Indexes.Select(_ => new IndexKeys())];
            _oldKeys = [.. _collection.Indexes.Select(_ => new IndexKeys())];
        }

        for (int i = 0; i < _newKeys.Length; i++)
        {
            _newKeys[i].Trim();
            _oldKeys[i].Trim();
        }
    }

    /// <summary>Adds a document that has an <c>_id</c>.</summary>
    /// <returns>Null, or the index in which one of its keys is there already; then nothing was added.</returns>
    /// <exception cref="IndexKeyException">A value that cannot be indexed; nothing was added.</exception>
    public CollectionIndex? Insert(ReadOnlySpan<byte> document)
    {
        CollectionIndex[] indexes = _collection.Indexes;
        int shard = _shards?.OwnerOf(document) ?? 0;
        for (int i = 0; i < indexes.Length; i++)
        {
            // As on mongod: an _id that is there already is told before what another index has against the document.
            _newKeys[i].Build(indexes[i].Spec, document);
            if (indexes[i].Spec.IsUnique && IsTaken(i, indexes[i], _newKeys[i], old: null))
                return indexes[i];
        }

        RecordId.Write(_record, ++_lastRecord);
        _batch.Put(_collection.Records, _record, document);
        for (int i = 0; i < indexes.Length; i++)
        {
            for (int k = 0; k < _newKeys[i].Count; k++)
                PutKey(i, indexes[i], _newKeys[i][k]);
            NoteMultikey(indexes[i], _newKeys[i]);
        }

        _documentsDelta++;
        _bytesDelta += document.Length;
        _shardsDelta?.Add(shard, 1, document.Length);
        return null;
    }

    /// <summary>Puts <paramref name="replacement"/> in the place of a record. One per batch.</summary>
    /// <returns>Null, or the index in which the new key is taken; then nothing was changed.</returns>
    public CollectionIndex? Replace(long record, ReadOnlySpan<byte> present, ReadOnlySpan<byte> replacement)
    {
        CollectionIndex[] indexes = _collection.Indexes;
        for (int i = 0; i < indexes.Length; i++)
        {
            _oldKeys[i].Build(indexes[i].Spec, present);
            _newKeys[i].Build(indexes[i].Spec, replacement);
        }

        for (int i = 0; i < indexes.Length; i++)
        {
            if (indexes[i].Spec.IsUnique && IsTaken(i, indexes[i], _newKeys[i], _oldKeys[i]))
                return indexes[i];
        }

        RecordId.Write(_record, record);
        _batch.Put(_collection.Records, _record, replacement);
        for (int i = 0; i < indexes.Length; i++)
        {
            for (int k = 0; k < _oldKeys[i].Count; k++)
            {
                if (!Holds(_newKeys[i], _oldKeys[i][k]))
                    DeleteKey(indexes[i], _oldKeys[i][k]);
            }

            for (int k = 0; k < _newKeys[i].Count; k++)
            {
                if (!Holds(_oldKeys[i], _newKeys[i][k]))
                    PutKey(i, indexes[i], _newKeys[i][k]);
            }

            NoteMultikey(indexes[i], _newKeys[i]);
        }

        _bytesDelta += replacement.Length - present.Length;
        if (_shards != null)
        {
            _shardsDelta!.Add(_shards.OwnerOf(present), -1, -present.Length);
            _shardsDelta.Add(_shards.OwnerOf(replacement), 1, replacement.Length);
        }

        return null;
    }

    public void Delete(long record, ReadOnlySpan<byte> present)
    {
        CollectionIndex[] indexes = _collection.Indexes;
        RecordId.Write(_record, record);
        _batch.Delete(_collection.Records, _record);
        for (int i = 0; i < indexes.Length; i++)
        {
            _oldKeys[i].Build(indexes[i].Spec, present);
            for (int k = 0; k < _oldKeys[i].Count; k++)
                DeleteKey(indexes[i], _oldKeys[i][k]);
        }

        _documentsDelta--;
        _bytesDelta -= present.Length;
        if (_shards != null)
            _shardsDelta!.Add(_shards.OwnerOf(present), -1, -present.Length);
    }

    /// <summary>Writes what was added since <see cref="Begin"/>, with the counters that then hold, and begins anew.</summary>
    public void Commit()
    {
        if (_batch.Count > 0)
        {
            long documents = _collection.DocumentCount + _documentsDelta;
            long bytes = _collection.DataBytes + _bytesDelta;
            CollectionCounters.Put(_batch, _catalog, _collection.Entry.Id, documents, bytes,
                _shards is { IsRetired: false } ? _shards.Counts : null, _shardsDelta);
            if (_isMultikeyNew)
                PutEntry();
            _database.Write(_batch, makesRoom: _documentsDelta < 0);
            _isMultikeyNew = false;
            _collection.SetCounters(documents, bytes);
            if (_shards != null)
                _shards.Counts.Add(_shardsDelta!);
        }

        Begin();
    }

    public void Dispose() => _batch.Dispose();

    private bool IsTaken(int number, CollectionIndex index, IndexKeys keys, IndexKeys? old)
    {
        for (int k = 0; k < keys.Count; k++)
        {
            ReadOnlySpan<byte> key = keys[k];
            if (old != null && Holds(old, key))
                continue;
            // An _id above all that were ever here needs no look into the database: the series' _ids always are.
            if (number == 0 && key.SequenceCompareTo(_greatestId.AsSpan(0, _greatestIdLength)) > 0)
                continue;
            if (_pending.Contains(number, key) || _database.Contains(index.Column, key))
            {
                TakenKey = key.ToArray();
                return true;
            }
        }

        return false;
    }

    private void PutKey(int number, CollectionIndex index, ReadOnlySpan<byte> key)
    {
        if (index.Spec.IsUnique)
        {
            _batch.Put(index.Column, key, _record);
            _pending.Add(number, key);
            if (number == 0 && key.SequenceCompareTo(_greatestId.AsSpan(0, _greatestIdLength)) > 0)
                RememberGreatestId(key);
            return;
        }

        _batch.Put(index.Column, WithRecord(key), default);
    }

    private void DeleteKey(CollectionIndex index, ReadOnlySpan<byte> key) =>
        _batch.Delete(index.Column, index.Spec.IsUnique ? key : WithRecord(key));

    private ReadOnlySpan<byte> WithRecord(ReadOnlySpan<byte> key)
    {
        _key.Clear();
        _key.Add(key);
        _key.Add(_record);
        return _key.Written;
    }

    /// <summary>Looks for a key by halving: several keys are in order, and an array may have a million.</summary>
    private static bool Holds(IndexKeys keys, ReadOnlySpan<byte> key)
    {
        int from = 0;
        int to = keys.Count;
        while (from < to)
        {
            int middle = (from + to) / 2;
            int order = keys[middle].SequenceCompareTo(key);
            if (order == 0)
                return true;
            if (order < 0)
                from = middle + 1;
            else
                to = middle;
        }

        return false;
    }

    private void NoteMultikey(CollectionIndex index, IndexKeys keys)
    {
        if (!keys.IsMultikey || index.IsMultikey)
            return;
        // Before the write: a reader that believes too early in several keys per document is only slower.
        index.IsMultikey = true;
        _isMultikeyNew = true;
    }

    private void PutEntry()
    {
        int[] multikey = [.. _collection.Indexes.Where(index => index.IsMultikey).Select(index => index.Spec.Id)];
        _collection.Entry = _collection.Entry with { MultikeyIndexes = multikey };
        _batch.Put(_catalog, _collection.Entry.StoreKey, _collection.Entry.ToBson());
    }

    private void RememberGreatestId(ReadOnlySpan<byte> key)
    {
        if (_greatestId.Length < key.Length)
            _greatestId = new byte[2 * key.Length];
        key.CopyTo(_greatestId);
        _greatestIdLength = key.Length;
    }
}
