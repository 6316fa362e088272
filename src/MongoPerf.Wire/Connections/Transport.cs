namespace MongoPerf.Wire.Connections;

/// <summary>Bytes to and from one server, by blocking calls: plain (<see cref="SocketTransport"/>) or over TLS (<see cref="TlsTransport"/>).</summary>
/// <remarks>One thread at a time, but <see cref="Abort"/> may come from any. Calls fail with a SocketException, an IOException or an ObjectDisposedException.</remarks>
internal abstract class Transport : IDisposable
{
    /// <summary>Bytes that went through the socket, TLS' own included; may be read from any thread.</summary>
    public abstract long BytesSent { get; }

    /// <inheritdoc cref="BytesSent"/>
    public abstract long BytesReceived { get; }

    /// <summary>Bounds each later send and receive; zero waits for ever.</summary>
    public abstract void SetTimeout(TimeSpan timeout);

    public abstract void Send(ReadOnlySpan<byte> bytes);

    /// <returns>Bytes received; 0 when the other side has closed.</returns>
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
