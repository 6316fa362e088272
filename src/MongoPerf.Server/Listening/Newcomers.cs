using System.Collections.Concurrent;

namespace MongoPerf.Server.Listening;

/// <summary>
/// Connections whose clients have not shown yet that they may be here: TLS is not agreed on, or nobody has logged in. They must not keep
/// others out. Any thread.
/// </summary>
/// <param name="most">How many there may be, at least 1; the connections beyond are for clients that have logged in.</param>
/// <param name="clock">Milliseconds, as Environment.TickCount64 has them.</param>
internal sealed class Newcomers(int most, Func<long> clock)
{
    /// <summary>Milliseconds for TLS and a first whole message.</summary>
    internal const int FirstWordLimit = 30_000;

    /// <summary>
    /// Milliseconds between messages. Drivers watch servers over connections that never log in, with a hello every ten seconds.
    /// </summary>
    internal const int SilenceLimit = 600_000;

    // Who is silent for less may be waiting for this server; one that has spoken may be a driver's, which says hello every ten seconds.
    internal const int LeastSilence = 1000;
    internal const int LeastSilenceAfterWords = 15_000;

    private readonly ConcurrentDictionary<Connection, byte> _connections = new();

    public Newcomers(int most)
        : this(most, () => Environment.TickCount64)
    {
    }

    /// <summary>
    /// Where there are too many, the one that has been silent for longest makes room, of those that have never spoken if there is any.
    /// </summary>
    /// <returns>False when each was heard from too recently: there is no room.</returns>
    public bool TryAdd(Connection connection)
    {
        if (_connections.Count >= most && !TryEndQuietest())
            return false;
        _connections[connection] = 0;
        return true;
    }

    public void Remove(Connection connection) => _connections.TryRemove(connection, out _);

    /// <summary>Ends those that have been silent for too long.</summary>
    public void EndSilent()
    {
        foreach ((Connection connection, _) in _connections)
        {
            if (clock() - connection.HeardAt > (connection.HasSpoken ? SilenceLimit : FirstWordLimit))
                End(connection);
        }
    }

    private bool TryEndQuietest()
    {
        long now = clock();
        Connection? quietest = _connections.Select(pair => pair.Key)
            .Where(connection => now - connection.HeardAt >= (connection.HasSpoken ? LeastSilenceAfterWords : LeastSilence))
            .MinBy(connection => (connection.HasSpoken, connection.HeardAt));
        if (quietest is null)
            return false;
        End(quietest);
        return true;
    }

    // Its own thread sees the socket closed, and ends.
    private void End(Connection connection)
    {
        Remove(connection);
        connection.Abort();
    }
}
