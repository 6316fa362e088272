using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Deletes, again and again, the documents whose date in a TTL index is older than the index allows.</summary>
/// <remarks>
/// On a thread of its own, from <see cref="Start"/> to <see cref="Dispose"/>. Everything else may be called from any thread. It is an
/// operation as any client's is: currentOp shows it, and killOp ends what it does for one index until the next pass.
/// </remarks>
internal sealed class TtlMonitor(DocumentStore store, OperationTable operations, ServerCounters counters) : IDisposable
{
    // Source: mongod 6.0.5, ttlMonitorSleepSecs.
    private const int DefaultSleepSeconds = 60;

    // Deleted at a time, so that writers get their turn.
    private const int PartDocuments = 10_000;

    private const int InterruptMilliseconds = 20;

    private readonly object _gate = new();
    private readonly ActiveOperation _operation = new();
    private Thread? _thread;
    private bool _isStopping;
    private bool _isEnabled = true;
    private int _sleepSeconds = DefaultSleepSeconds;
    private long _passes;
    private long _deleted;

    /// <summary>Seconds between two passes, above 0. A change counts from now on.</summary>
    public int SleepSeconds
    {
        get => Volatile.Read(ref _sleepSeconds);
        set
        {
            lock (_gate)
            {
                _sleepSeconds = value;
                Monitor.PulseAll(_gate);
            }
        }
    }

    /// <summary>Whether it deletes anything.</summary>
    public bool IsEnabled
    {
        get => Volatile.Read(ref _isEnabled);
        set => Volatile.Write(ref _isEnabled, value);
    }

    /// <summary>Passes over all indexes since the start.</summary>
    public long Passes => Volatile.Read(ref _passes);

    /// <summary>Documents that it has deleted since the start.</summary>
    public long Deleted => Volatile.Read(ref _deleted);

    public void Start()
    {
        operations.Add(_operation);
        _thread = new Thread(Run) { Name = "ttl", IsBackground = true };
        _thread.Start();
    }

    /// <summary>Ends the pass at hand and waits for that; the store can be closed afterwards.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isStopping = true;
            Monitor.PulseAll(_gate);
        }

        // Again and again: the first may have come just before a pass began.
        while (_thread is { } thread && !thread.Join(InterruptMilliseconds))
            _operation.Interrupt(_operation.Id, Interruption.Shutdown);
    }

    private void Run()
    {
        while (WaitForNextPass())
        {
            if (!IsEnabled)
                continue;
            foreach (Collection collection in store.Collections)
            {
                foreach (CollectionIndex index in collection.Indexes)
                {
                    if (index.Spec.ExpireAfterSeconds is { } seconds && !Volatile.Read(ref _isStopping))
                        DeleteExpired(collection, index, seconds);
                }
            }

            Interlocked.Increment(ref _passes);
        }
    }

    private bool WaitForNextPass()
    {
        long from = Environment.TickCount64;
        lock (_gate)
        {
            while (!_isStopping)
            {
                long rest = (_sleepSeconds * 1000L) - (Environment.TickCount64 - from);
                if (rest <= 0)
                    return true;
                Monitor.Wait(_gate, (int)Math.Min(rest, int.MaxValue));
            }
        }

        return false;
    }

    private void DeleteExpired(Collection collection, CollectionIndex index, int seconds)
    {
        _operation.Begin(operations.NextId());
        using var query = new FindQuery(new PathCache());
        try
        {
            _operation.Describe("delete", collection.Entry.Database, collection.Namespace);
            DateTime oldest = DateTime.UtcNow.AddSeconds(-seconds);
            BsonDocument expired = BsonDocument.Of((index.Spec.Fields[0].Path.Text, BsonDocument.Of(("$lte", oldest))));
            int deleted;
            do
            {
                query.Parse(expired.Bytes, skip: 0, limit: PartDocuments, IndexHint.On(index));
                deleted = DeletePart(collection, index, query);
                Interlocked.Add(ref _deleted, deleted);
                counters.CountDeletes(statements: 0, deleted);
            }
            while (deleted == PartDocuments && !Volatile.Read(ref _isStopping));
        }
        catch (Exception error) when (error is InterruptedException or StorageException || CommandException.Of(error) != null)
        {
            // The index or the collection is gone, the disk is full, or somebody ended it: the next pass goes on.
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            counters.CountDefect();
        }
        finally
        {
            _operation.End();
        }
    }

    private int DeletePart(Collection collection, CollectionIndex index, FindQuery query)
    {
        collection.Lock.EnterReadLock();
        try
        {
            if (collection.IsDropped || !collection.Indexes.Contains(index))
                return 0;
            using (collection.Writer.Gate.Enter())
                return DocumentDeletion.DeleteAll(collection, query);
        }
        finally
        {
            query.Dispose();
            collection.Lock.ExitReadLock();
        }
    }
}
