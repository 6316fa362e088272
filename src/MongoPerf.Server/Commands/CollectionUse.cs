using MongoPerf.Server.Storage;

namespace MongoPerf.Server.Commands;

/// <summary>
/// A command's use of a collection: the collection's lock is held for reading and serverStatus counts the command, from its making to
/// <see cref="Dispose"/>.
/// </summary>
/// <remarks>
/// Waiting for the lock may be interrupted (an <see cref="Operations.InterruptedException"/>): nothing is held or counted then.
/// </remarks>
internal readonly ref struct CollectionUse
{
    private readonly Collection _collection;
    private readonly ServerCounters _counters;
    private readonly bool _isWrite;

    private CollectionUse(CommandSession session, Collection collection, bool isWrite)
    {
        (_collection, _counters, _isWrite) = (collection, session.Server.Counters, isWrite);
        collection.Lock.EnterReadLock();
        _counters.CountActive(isWrite, 1);
    }

    public static CollectionUse ToRead(CommandSession session, Collection collection) => new(session, collection, isWrite: false);

    /// <summary>Writers of documents enter the collection's <see cref="CollectionWriter.Gate"/> besides.</summary>
    public static CollectionUse ToWrite(CommandSession session, Collection collection) => new(session, collection, isWrite: true);

    public void Dispose()
    {
        _counters.CountActive(_isWrite, -1);
        _collection.Lock.ExitReadLock();
    }
}
