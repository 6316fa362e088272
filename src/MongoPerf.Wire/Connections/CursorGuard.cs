using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>Notices a cursor that never ends: each of its batches comes in time, so no time-out does.</summary>
/// <param name="connection">The cursor's.</param>
/// <param name="mostDocuments">The most documents that its query can return.</param>
/// <param name="hasTime">
/// Whether all batches together must come within ten time-outs of a reply; not so where it is known how many documents there can be.
/// </param>
public struct CursorGuard(MongoConnection connection, long mostDocuments, bool hasTime = true)
{
    /// <summary>The most empty batches in a row; servers send one now and then.</summary>
    private const int MostEmptyBatches = 100;

    private const int MostTimeouts = 10;

    private readonly long _begun = Environment.TickCount64;
    private long _documents;
    private int _empty;

    /// <summary>A batch came, and the cursor says that there is more.</summary>
    /// <param name="documents">The documents in the batch.</param>
    /// <exception cref="WireProtocolException">There can't be.</exception>
    public void AskForMore(long documents)
    {
        _documents += documents;
        _empty = documents == 0 ? _empty + 1 : 0;
        long milliseconds = hasTime ? (long)connection.ReplyTimeout.TotalMilliseconds * MostTimeouts : 0;
        if (_documents > mostDocuments)
            Throw($"has returned {_documents:N0} documents and still has more; its query allows at most {mostDocuments:N0}");
        if (_empty > MostEmptyBatches)
            Throw($"has returned {_empty} empty batches in a row and claims to have more");
        if (milliseconds > 0 && Environment.TickCount64 - _begun > milliseconds)
            Throw($"has returned {_documents:N0} documents in {milliseconds / 1000.0:0.###} s and still has more; "
                + "a longer socketTimeoutMS in --uri allows more time");
    }

    private readonly void Throw(string what) =>
        throw new WireProtocolException($"{connection.Address}: a cursor {what} (connection closed)");
}
