namespace MongoPerf.Wire.Connections;

/// <summary>
/// Bytes to and from one server, by blocking calls: plain (<see cref="SocketTransport"/>) or over TLS (<see cref="TlsTransport"/>).
/// </summary>
/// <remarks>
/// One thread at a time, but <see cref="Abort"/> may come from any. Calls fail with a SocketException, an IOException or an
/// ObjectDisposedException.
/// </remarks>
internal abstract class Transport : IDisposable
{
    /// <summary>Bytes that went through the socket, TLS' own included; may be read from any thread.</summary>
    public abstract long BytesSent { get; }

    /// <inheritdoc cref="BytesSent"/>
    public abstract long BytesReceived { get; }

    /// <summary>Bounds each later message, in or out.</summary>
    /// <param name="first">The time for its first byte to come, or to go; zero waits for ever.</param>
    /// <param name="rest">The time for all that follows it, in however many pieces it comes or goes; zero waits for ever.</param>
    public abstract void SetTimeouts(TimeSpan first, TimeSpan rest);

    /// <summary>What is received next begins a message.</summary>
    public abstract void ExpectMessage();

    /// <summary>Sends a whole message.</summary>
    public abstract void Send(ReadOnlySpan<byte> bytes);

    /// <returns>Bytes received, of one message; 0 when the other side has closed.</returns>
    public abstract int Receive(Span<byte> buffer);

    /// <summary>Wakes a thread that waits in <see cref="Send"/> or <see cref="Receive"/>.</summary>
    public abstract void Abort();

    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool disposing);
}
