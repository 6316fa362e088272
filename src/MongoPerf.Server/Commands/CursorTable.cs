using System.Collections.Concurrent;
using MongoPerf.Platforms;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;

namespace MongoPerf.Server.Commands;

/// <summary>A query that has more documents to give.</summary>
internal sealed class Cursor(long id, string nameSpace, Collection collection, IBatchSource source)
{
    public long Id { get; } = id;

    public string Namespace { get; } = nameSpace;

    public Collection Collection { get; } = collection;

    public IBatchSource Source { get; } = source;

    public long LastUsed { get; set; }

    /// <summary>Bytes of sorted or grouped documents and of constants that it keeps, at most.</summary>
    public long HeldBytes { get; set; }

    /// <summary>Milliseconds of the command's time limit that are left for its batches together; null when it has none.</summary>
    public long? RemainingMilliseconds { get; set; }
}

/// <summary>Open cursors by id. A cursor that is taken is nobody else's until it is put back. Any thread.</summary>
/// <param name="maximumBytes">What cursors keep together; beyond it the one that was idle longest ends.</param>
internal sealed class CursorTable(long maximumBytes) : IDisposable
{
    // As mongod: a cursor that nobody asks for ends after 10 minutes.
    private const long IdleMilliseconds = 600_000;
    private const long SweepMilliseconds = 1000;

    // Each holds a view of the store: the one that was idle longest makes room for another.
    private const int MaximumCursors = 1024;
    private readonly ConcurrentDictionary<long, Cursor> _cursors = new();
    private long _timedOut;
    private long _heldBytes;
    private long _sweptAt = Environment.TickCount64;

    /// <summary>Makes a table for as many bytes as the machine has to spare: an eighth of its memory, at least 512 MB.</summary>
    public CursorTable()
        : this(Math.Max(512L << 20, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 8))
    {
    }

    public int Count => _cursors.Count;

    public long TimedOut => Volatile.Read(ref _timedOut);

    /// <summary>What open cursors keep together.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    /// <param name="nameSpace">The collection's, as the client is told it.</param>
    /// <param name="collection">The one that is read.</param>
    /// <param name="source">Disposed with the cursor.</param>
    /// <param name="operation">The command that has read the first batch.</param>
    public Cursor Add(string nameSpace, Collection collection, IBatchSource source, ActiveOperation operation)
    {
        EndIdle();
        Span<byte> random = stackalloc byte[8];
        SystemRandom.Fill(random);
        // Positive and never 0, which means "no cursor".
        long id = (BitConverter.ToInt64(random) & long.MaxValue) | 1;
        var cursor = new Cursor(id, nameSpace, collection, source) { RemainingMilliseconds = operation.RemainingMilliseconds };
        PutBack(cursor, operation.KeptBytes);
        return cursor;
    }

    public Cursor? Take(long id) => _cursors.TryRemove(id, out Cursor? cursor) ? cursor : null;

    /// <param name="cursor">Taken before, or new.</param>
    /// <param name="moreBytes">What it keeps besides what it kept before.</param>
    public void PutBack(Cursor cursor, long moreBytes)
    {
        cursor.HeldBytes += moreBytes;
        Interlocked.Add(ref _heldBytes, moreBytes);
        cursor.LastUsed = Environment.TickCount64;
        MakeRoom();
        _cursors[cursor.Id] = cursor;
    }

    /// <summary>Ends a cursor that is taken.</summary>
    public void End(Cursor cursor)
    {
        cursor.Source.Dispose();
        Interlocked.Add(ref _heldBytes, -cursor.HeldBytes);
        cursor.HeldBytes = 0;
    }

    /// <summary>
    /// Gives back what cursors hold of collections that are gone. They stay known, since their getMore has an error of its own.
    /// </summary>
    public void ReleaseDropped()
    {
        foreach ((long id, Cursor known) in _cursors)
        {
            if (!known.Collection.IsDropped || Take(id) is not { } cursor)
                continue;
            End(cursor);
            _cursors[id] = cursor;
        }
    }

    public bool Kill(long id)
    {
        if (Take(id) is not { } cursor)
            return false;
        End(cursor);
        return true;
    }

    public void Dispose()
    {
        foreach ((long id, _) in _cursors)
            Kill(id);
    }

    private void MakeRoom()
    {
        while ((_cursors.Count >= MaximumCursors || HeldBytes > maximumBytes)
            && Oldest(holdsBytes: _cursors.Count < MaximumCursors) is { } oldest)
        {
            if (Kill(oldest.Id))
                Interlocked.Increment(ref _timedOut);
        }
    }

    /// <returns>Null when there is none (any more).</returns>
    private Cursor? Oldest(bool holdsBytes) =>
        _cursors.Select(pair => pair.Value).Where(cursor => !holdsBytes || cursor.HeldBytes > 0).MinBy(cursor => cursor.LastUsed);

    private void EndIdle()
    {
        long now = Environment.TickCount64;
        long last = Volatile.Read(ref _sweptAt);
        if (now - last < SweepMilliseconds || Interlocked.CompareExchange(ref _sweptAt, now, last) != last)
            return;
        foreach ((long id, Cursor cursor) in _cursors)
        {
            if (cursor.LastUsed < now - IdleMilliseconds && Kill(id))
                Interlocked.Increment(ref _timedOut);
        }
    }
}
