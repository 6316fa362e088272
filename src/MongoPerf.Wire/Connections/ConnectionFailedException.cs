namespace MongoPerf.Wire.Connections;

/// <summary>No connection, or one that broke: names the server and what happened. What was sent last may have arrived.</summary>
public sealed class ConnectionFailedException : IOException
{
    public ConnectionFailedException(ServerAddress server, string what, Exception? inner = null)
        : base($"{server}: {what}", inner) => (Server, What) = (server, what);

    public ServerAddress Server { get; }

    /// <summary>The message without the server's address: the same for all connections, so that failures can be counted by it.</summary>
    public string What { get; }
}
