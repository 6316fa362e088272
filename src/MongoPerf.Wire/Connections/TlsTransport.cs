using System.Net.Security;

namespace MongoPerf.Wire.Connections;

/// <summary>TLS over a socket, by the blocking calls of <see cref="SslStream"/>, which allocate nothing once a connection stands.</summary>
internal sealed class TlsTransport : Transport
{
    private readonly SocketTransport _socket;
    private readonly SslStream _stream;

    private TlsTransport(SocketTransport socket, SslStream stream) => (_socket, _stream) = (socket, stream);

    public override long BytesSent => _socket.BytesSent;

    public override long BytesReceived => _socket.BytesReceived;

    /// <param name="server">Its name goes into the handshake (SNI) and is compared with the certificate's.</param>
    /// <param name="socket">Connected; belongs to the transport, also when this fails.</param>
    /// <param name="settings">Whom to trust.</param>
    /// <exception cref="TlsFailedException">The certificate is not to be trusted, or the server refused the handshake.</exception>
    /// <exception cref="IOException">
    /// The connection broke, as it does when a plain server is asked for TLS; a SocketException may come too.
    /// </exception>
    public static TlsTransport Open(ServerAddress server, SocketTransport socket, TlsSettings settings)
    {
        try
        {
            return new TlsTransport(socket, settings.Secure(new SocketStream(socket), server));
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    public override void SetTimeouts(TimeSpan first, TimeSpan rest) => _socket.SetTimeouts(first, rest);

    public override void ExpectMessage() => _socket.ExpectMessage();

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        _socket.BeginMessage();
        _stream.Write(bytes);
    }

    public override int Receive(Span<byte> buffer) => _stream.Read(buffer);

    public override void Abort() => _socket.Abort();

    /// <summary>What the TLS library says, without its numbers.</summary>
    internal static string Explain(Exception e)
    {
        Exception innermost = e.GetBaseException();
        string text = string.Join(' ', innermost.Message.Split('\n', StringSplitOptions.TrimEntries));
        return text switch
        {
            _ when text.Contains("certificate required", StringComparison.OrdinalIgnoreCase) =>
                "the server requires a client certificate: add tlsCertificateKeyFile=FILE",
            _ when text.Contains("unknown ca", StringComparison.OrdinalIgnoreCase) =>
                "the server does not trust this client's certificate (tlsCertificateKeyFile): its authority is not the server's",
            _ when text.Contains("certificate expired", StringComparison.OrdinalIgnoreCase) =>
                "the server says that this client's certificate (tlsCertificateKeyFile) has expired: renew it",
            _ when text.Contains("bad certificate", StringComparison.OrdinalIgnoreCase)
                || text.Contains("certificate unknown", StringComparison.OrdinalIgnoreCase) =>
                "the server refused this client's certificate (tlsCertificateKeyFile)",
            _ when text.Contains("protocol version", StringComparison.OrdinalIgnoreCase)
                || text.Contains("unsupported protocol", StringComparison.OrdinalIgnoreCase) =>
                "client and server have no version of TLS in common; TLS 1.2 or later is needed",
            _ => $"TLS failed: {text}",
        };
    }

    protected override void Dispose(bool disposing)
    {
        if (!disposing)
            return;
        _stream.Dispose();
        _socket.Dispose();
    }

    /// <summary>What <see cref="SslStream"/> reads and writes through: the same blocking calls, counted.</summary>
    private sealed class SocketStream(SocketTransport socket) : Stream
    {
        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override int Read(Span<byte> buffer) => socket.Receive(buffer);

        public override void Write(ReadOnlySpan<byte> buffer) => socket.SendPart(buffer);

        public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

        public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();
    }
}
