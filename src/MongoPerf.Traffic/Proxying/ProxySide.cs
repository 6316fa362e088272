using System.Buffers;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using MongoPerf.Platforms;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Traffic.Proxying;

/// <summary>One side of a connection that a proxy passes on: plain, or with TLS. One thread reads, another one writes.</summary>
internal sealed class ProxySide : IDisposable
{
    /// <summary>Whoever connects may take so long for each step of a TLS handshake.</summary>
    private const int HandshakeMilliseconds = 30_000;

    /// <summary>
    /// Seconds without a word until a machine is asked whether it is still there, then between questions, and how many of them. What
    /// clients and servers ask of their systems ends at the proxy, so one that is gone would keep its connections to both for ever.
    /// Drivers have the same figures.
    /// </summary>
    private const int SilentSeconds = 120, AgainSeconds = 10, Questions = 9;

    /// <summary>What TLS adds to a block, at most.</summary>
    private const int SealBytes = 1024;

    private readonly Socket _socket;
    private SafeSocketHandle? _handle;
    private SslStream? _tls;
    private KeepingStream? _sealed;

    /// <param name="socket">Belongs to it.</param>
    public ProxySide(Socket socket) => _socket = socket;

    /// <param name="tls">The client must speak TLS; null: plainly.</param>
    public void Accept(SslServerAuthenticationOptions? tls)
    {
        Prepare();
        if (tls is null)
            return;
        _socket.ReceiveTimeout = HandshakeMilliseconds;
        _tls = new SslStream(_sealed = new KeepingStream(_socket));
        _tls.AuthenticateAsServer(tls);
        _socket.ReceiveTimeout = 0;
    }

    public void Connect(ProxiedServer server)
    {
        Connect(Dns.GetHostAddresses(server.Address.Host), server.Address.Port);
        if (server.Tls is null)
            return;
        _socket.ReceiveTimeout = HandshakeMilliseconds;
        _tls = server.Tls.Secure(new NetworkStream(_socket), server.Address);
        _socket.ReceiveTimeout = 0;
    }

    /// <summary>Tries one after the other, such as both addresses of localhost.</summary>
    public void Connect(IPAddress[] addresses, int port)
    {
        _socket.Connect(addresses, port);
        Prepare();
    }

    /// <returns>0 when the other end sends no more.</returns>
    public int Receive(Span<byte> buffer) => _tls is not null ? _tls.Read(buffer)
        : Platform.IsLinux ? SocketCalls.Receive(_handle!, buffer) : _socket.Receive(buffer);

    /// <summary>Sends them, and what <see cref="SendWithoutWaiting"/> has kept before.</summary>
    public void Send(ReadOnlySpan<byte> bytes)
    {
        if (_tls is not null)
        {
            _sealed?.SendKept();
            // Not nothing: some systems would seal that, too.
            if (bytes.Length > 0)
                _tls.Write(bytes);
            return;
        }

        while (bytes.Length > 0)
            bytes = bytes[(Platform.IsLinux ? SocketCalls.Send(_handle!, bytes) : _socket.Send(bytes))..];
    }

    /// <summary>Sends to a client as much as the system takes at once: nothing where there is no such call.</summary>
    /// <returns>
    /// How many bytes are not to be sent again. With TLS that is all: what the system had no room for is kept, encrypted, until
    /// <see cref="Send"/>, which must follow.
    /// </returns>
    public int SendWithoutWaiting(ReadOnlySpan<byte> bytes)
    {
        if (!Platform.IsLinux)
            return 0;
        if (_tls is null)
            return SocketCalls.SendWithoutWaiting(_handle!, bytes);
        if (_sealed is null)
            return 0;
        _sealed.KeepRest();
        _tls.Write(bytes);
        return bytes.Length;
    }

    /// <summary>Tells the other end that no more comes; it may still send.</summary>
    public void EndSending()
    {
        _tls?.ShutdownAsync().GetAwaiter().GetResult();
        _socket.Shutdown(SocketShutdown.Send);
    }

    /// <summary>Ends it, whatever threads do with it. Any thread.</summary>
    public void Abort()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Not connected any more: nothing waits then.
        }

        // Windows leaves a call that waits on the socket waiting; on Linux its number stays until the threads have left it.
        if (!Platform.IsLinux)
            _socket.Dispose();
    }

    /// <summary>When no thread uses it any longer.</summary>
    public void Dispose()
    {
        _socket.Dispose();
        _tls?.Dispose();
    }

    /// <summary>
    /// Not before it is connected: behind the back of a socket whose handle was asked for, or such options set, the runtime makes no
    /// other one, and so tries one address only.
    /// </summary>
    private void Prepare()
    {
        _socket.NoDelay = true;
        _socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        _socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, SilentSeconds);
        _socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, AgainSeconds);
        _socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, Questions);
        _handle = _socket.SafeHandle;
    }

    /// <summary>
    /// What TLS says to a client, which a write may keep instead of waiting. The thread that receives may write, too: answers of the
    /// protocol's own.
    /// </summary>
    private sealed class KeepingStream(Socket socket) : NetworkStream(socket)
    {
        private readonly Lock _lock = new();

        /// <summary>Stays, once it was needed: clients that are slower than the server need it for each piece.</summary>
        private ArrayBufferWriter<byte>? _kept;
        private bool _keepsRest;

        /// <summary>Writes no longer wait.</summary>
        public void KeepRest()
        {
            lock (_lock)
                _keepsRest = true;
        }

        /// <summary>Sends what was kept; writes wait again.</summary>
        public void SendKept()
        {
            lock (_lock)
            {
                _keepsRest = false;
                if (_kept is not { WrittenCount: > 0 })
                    return;
                base.Write(_kept.WrittenSpan);
                _kept.ResetWrittenCount();
            }
        }

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            lock (_lock)
            {
                if (!_keepsRest || !Platform.IsLinux)
                {
                    base.Write(buffer);
                    return;
                }

                if (_kept is not { WrittenCount: > 0 })
                    buffer = buffer[SocketCalls.SendWithoutWaiting(Socket.SafeHandle, buffer)..];
                if (buffer.Length > 0)
                    (_kept ??= new ArrayBufferWriter<byte>(RecordedRequests.BlockBytes + SealBytes)).Write(buffer);
            }
        }
    }
}

/// <summary>The server that a proxy stands before.</summary>
/// <param name="Address">By TCP.</param>
/// <param name="Tls">Whom to trust; null: it is spoken to plainly.</param>
public sealed record ProxiedServer(ServerAddress Address, TlsSettings? Tls);
