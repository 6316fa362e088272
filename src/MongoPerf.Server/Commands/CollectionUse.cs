using MongoPerf.Server.Storage;

namespace MongoPerf.Server.Commands;

/// <summary>
/// A command's use of a collection, and of others that its pipeline reads: their locks are held for reading and serverStatus counts the
/// command, from its making to <see cref="Dispose"/>.
/// </summary>
/// <remarks>
/// Waiting for a lock may be interrupted (an <see cref="Operations.InterruptedException"/>): nothing is held or counted then.
/// </remarks>
internal readonly ref struct CollectionUse
{
    private readonly Collection? _collection;
    private readonly ForeignCollections? _foreign;
    private readonly ServerCounters _counters;
    private readonly bool _isWrite;

    private CollectionUse(CommandSession session, Collection? collection, ForeignCollections? foreign, bool isWrite)
    {
        (_collection, _foreign, _counters, _isWrite) = (collection, foreign, session.Server.Counters, isWrite);
        if (foreign != null)
            foreign.Enter(session.Server.Store, collection);
        else
            collection!.Lock.EnterReadLock();
        _counters.CountActive(isWrite, 1);
    }

    public static CollectionUse ToRead(CommandSession session, Collection collection) => new(session, collection, null, isWrite: false);

    /// <param name="session">The client's.</param>
    /// <param name="collection">The one that a pipeline begins with; null when it is not there.</param>
    /// <param name="foreign">The others; null for a query without a pipeline.</param>
    public static CollectionUse ToRead(CommandSession session, Collection? collection, ForeignCollections? foreign) =>
        new(session, collection, foreign, isWrite: false);

    /// <summary>Writers of documents enter the collection's <see cref="CollectionWriter.Gate"/> besides.</summary>
    public static CollectionUse ToWrite(CommandSession session, Collection collection) => new(session, collection, null, isWrite: true);

    public void Dispose()
    {
        _counters.CountActive(_isWrite, -1);
        if (_foreign != null)
            _foreign.Exit();
        else
            _collection!.Lock.ExitReadLock();
    }
}
