using System.Collections.Concurrent;
using System.Security.Cryptography;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Storage;

namespace MongoPerf.Server.Commands;

/// <summary>A query that has more documents to give.</summary>
internal sealed class Cursor(long id, string nameSpace, Collection collection, IBatchSource source)
{
    public long Id { get; } = id;

    public string Namespace { get; } = nameSpace;

    public Collection Collection { get; } = collection;

    public IBatchSource Source { get; } = source;

    public long LastUsed { get; set; } = Environment.TickCount64;

    /// <summary>Milliseconds of the command's time limit that are left for its batches together; null when it has none.</summary>
    public long? RemainingMilliseconds { get; set; }
}

/// <summary>Open cursors by id. A cursor that is taken is nobody else's until it is put back. Any thread.</summary>
internal sealed class CursorTable : IDisposable
{
    // As mongod: a cursor that nobody asks for ends after 10 minutes.
    private const long IdleMilliseconds = 600_000;

    // Each holds a view of the store and maybe sorted documents: the one that was idle longest makes room for another.
    private const int MaximumCursors = 1024;
    private readonly ConcurrentDictionary<long, Cursor> _cursors = new();
    private long _timedOut;

    public int Count => _cursors.Count;

    public long TimedOut => Volatile.Read(ref _timedOut);

    public Cursor Add(string nameSpace, Collection collection, IBatchSource source, long? remainingMilliseconds)
    {
        EndIdle();
        MakeRoom();
        Span<byte> random = stackalloc byte[8];
        RandomNumberGenerator.Fill(random);
        // Positive and never 0, which means "no cursor".
        long id = (BitConverter.ToInt64(random) & long.MaxValue) | 1;
        var cursor = new Cursor(id, nameSpace, collection, source) { RemainingMilliseconds = remainingMilliseconds };
        _cursors[id] = cursor;
        return cursor;
    }

    public Cursor? Take(long id) => _cursors.TryRemove(id, out Cursor? cursor) ? cursor : null;

    public void PutBack(Cursor cursor)
    {
        cursor.LastUsed = Environment.TickCount64;
        _cursors[cursor.Id] = cursor;
    }

    /// <summary>Gives back what cursors hold of collections that are gone. They stay known, since their getMore has an error of its own.</summary>
    public void ReleaseDropped()
    {
        foreach (Cursor known in _cursors.Values)
        {
            if (!known.Collection.IsDropped || Take(known.Id) is not { } cursor)
                continue;
            cursor.Source.Dispose();
            _cursors[cursor.Id] = cursor;
        }
    }

    public bool Kill(long id)
    {
        if (!_cursors.TryRemove(id, out Cursor? cursor))
            return false;
        cursor.Source.Dispose();
        return true;
    }

    public void Dispose()
    {
        foreach (long id in _cursors.Keys)
            Kill(id);
    }

    private void MakeRoom()
    {
        while (_cursors.Count >= MaximumCursors && _cursors.Values.MinBy(cursor => cursor.LastUsed) is { } oldest)
        {
            if (Kill(oldest.Id))
                Interlocked.Increment(ref _timedOut);
        }
    }

    private void EndIdle()
    {
        long oldest = Environment.TickCount64 - IdleMilliseconds;
        foreach (Cursor cursor in _cursors.Values)
        {
            if (cursor.LastUsed < oldest && Kill(cursor.Id))
                Interlocked.Increment(ref _timedOut);
        }
    }
}
