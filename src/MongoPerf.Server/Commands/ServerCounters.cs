namespace MongoPerf.Server.Commands;

/// <summary>What was done since the start, for serverStatus. Written by all sessions, read by anybody.</summary>
public sealed class ServerCounters
{
    private long _defects;
    private long _inserts;
    private long _queries;
    private long _updates;
    private long _deletes;
    private long _getMores;
    private long _commands;
    private long _documentsReturned;
    private long _documentsUpdated;
    private long _documentsDeleted;
    private long _documentsInserted;
    private long _keysExamined;
    private long _documentsExamined;
    private long _collectionScans;
    private long _blockingSorts;
    private int _activeReaders;
    private int _activeWriters;

    public long Inserts => Volatile.Read(ref _inserts);

    public long Queries => Volatile.Read(ref _queries);

    public long Updates => Volatile.Read(ref _updates);

    public long Deletes => Volatile.Read(ref _deletes);

    public long GetMores => Volatile.Read(ref _getMores);

    public long Commands => Volatile.Read(ref _commands);

    public long DocumentsReturned => Volatile.Read(ref _documentsReturned);

    public long DocumentsUpdated => Volatile.Read(ref _documentsUpdated);

    public long DocumentsDeleted => Volatile.Read(ref _documentsDeleted);

    public long DocumentsInserted => Volatile.Read(ref _documentsInserted);

    public long KeysExamined => Volatile.Read(ref _keysExamined);

    public long DocumentsExamined => Volatile.Read(ref _documentsExamined);

    public long CollectionScans => Volatile.Read(ref _collectionScans);

    public long BlockingSorts => Volatile.Read(ref _blockingSorts);

    public int ActiveReaders => Volatile.Read(ref _activeReaders);

    public int ActiveWriters => Volatile.Read(ref _activeWriters);

    /// <summary>Commands that failed with an exception nobody meant: each is a defect of this server.</summary>
    public long Defects => Volatile.Read(ref _defects);

    public void CountDefect() => Interlocked.Increment(ref _defects);

    public void CountCommand() => Interlocked.Increment(ref _commands);

    public void CountInserts(long attempted, long inserted)
    {
        Interlocked.Add(ref _inserts, attempted);
        Interlocked.Add(ref _documentsInserted, inserted);
    }

    public void CountUpdates(long statements, long documents)
    {
        Interlocked.Add(ref _updates, statements);
        Interlocked.Add(ref _documentsUpdated, documents);
    }

    public void CountDeletes(long statements, long documents)
    {
        Interlocked.Add(ref _deletes, statements);
        Interlocked.Add(ref _documentsDeleted, documents);
    }

    public void CountQuery(bool isGetMore) => Interlocked.Increment(ref isGetMore ? ref _getMores : ref _queries);

    public void CountScan(long keys, long documents, long returned)
    {
        Interlocked.Add(ref _keysExamined, keys);
        Interlocked.Add(ref _documentsExamined, documents);
        Interlocked.Add(ref _documentsReturned, returned);
    }

    public void CountPlan(bool isCollectionScan, bool isBlockingSort)
    {
        if (isCollectionScan)
            Interlocked.Increment(ref _collectionScans);
        if (isBlockingSort)
            Interlocked.Increment(ref _blockingSorts);
    }

    /// <param name="isWriter">Or a reader.</param>
    /// <param name="change">1 for a command that begins, -1 for one that ends.</param>
    public void CountActive(bool isWriter, int change) => Interlocked.Add(ref isWriter ? ref _activeWriters : ref _activeReaders, change);
}
