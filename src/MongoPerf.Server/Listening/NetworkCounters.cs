namespace MongoPerf.Server.Listening;

/// <summary>What went over a server's sockets since it started. Written by all connections, read by anybody.</summary>
public sealed class NetworkCounters
{
    private long _bytesIn;
    private long _bytesOut;
    private long _requests;
    private int _connectionsCreated;
    private int _connections;

    public long BytesIn => Volatile.Read(ref _bytesIn);

    public long BytesOut => Volatile.Read(ref _bytesOut);

    public long Requests => Volatile.Read(ref _requests);

    public int ConnectionsCreated => Volatile.Read(ref _connectionsCreated);

    public int Connections => Volatile.Read(ref _connections);

    internal int Opened()
    {
        Interlocked.Increment(ref _connections);
        return Interlocked.Increment(ref _connectionsCreated);
    }

    internal void Closed() => Interlocked.Decrement(ref _connections);

    internal void Count(int bytesIn, int bytesOut)
    {
        Interlocked.Add(ref _bytesIn, bytesIn);
        Interlocked.Add(ref _bytesOut, bytesOut);
        Interlocked.Increment(ref _requests);
    }
}
