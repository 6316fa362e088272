namespace MongoPerf.Wire.Connections;

/// <summary>How a connection is opened and how long it waits.</summary>
public sealed record ConnectionSettings
{
    /// <summary>For TCP connect and handshake together.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// For one reply. Drivers wait for ever by default; a load tester that does would mistake a dead peer for a slow one.
    /// Zero waits for ever.
    /// </summary>
    public TimeSpan ReplyTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Shows in the server's log and in currentOp.</summary>
    public string ApplicationName { get; init; } = "mongoperf";

    /// <summary>First size of the receive buffer, bytes; it grows with the replies and stays grown.</summary>
    public int ReceiveBufferBytes { get; init; } = 64 * 1024;

    /// <summary>How commands are named there. Messages that are prepared once are translated by who prepares them.</summary>
    public CommandDialect Dialect { get; init; } = CommandDialect.Plain;

    public static ConnectionSettings Default { get; } = new();

    // Authentication, TLS and compression come here: credentials are used in MongoConnection.Open after hello, TLS wraps the
    // transport (SocketTransport), and a compressor would stand between MongoConnection and its transport.
}
