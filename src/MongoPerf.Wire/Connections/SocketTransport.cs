using System.Net.Sockets;

namespace MongoPerf.Wire.Connections;

/// <summary>Plain TCP, or a unix socket, with blocking calls: the cheapest way to wait for one reply on a thread of one's own.</summary>
internal sealed class SocketTransport : Transport
{
    public const string ClosedByServer = "connection closed by the server";

    private readonly Socket _socket;
    private long _sent;
    private long _received;

    private SocketTransport(Socket socket) => _socket = socket;

    public override long BytesSent => Volatile.Read(ref _sent);

    public override long BytesReceived => Volatile.Read(ref _received);

    /// <exception cref="ConnectionFailedException">Refused, unknown host or no answer in time.</exception>
    public static SocketTransport Connect(ServerAddress server, TimeSpan timeout)
    {
        Socket socket = server.IsUnixSocket
            ? new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified)
            : new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            if (timeout > TimeSpan.Zero)
            {
                // SO_SNDTIMEO bounds a blocking connect too (Linux, socket(7)); an asynchronous connect would turn the socket
                // non-blocking for good, and every later wait would then go through epoll and a second thread.
                socket.SendTimeout = Milliseconds(timeout);
            }

            if (server.IsUnixSocket)
                socket.Connect(new UnixDomainSocketEndPoint(server.Host));
            else
                socket.Connect(server.Host, server.Port);
            return new SocketTransport(socket);
        }
        catch (SocketException e)
        {
            socket.Dispose();
            throw new ConnectionFailedException(server, Explain(e, timeout), e);
        }
        catch (ArgumentException e)
        {
            // A path or a name that is too long.
            socket.Dispose();
            throw new ConnectionFailedException(server, server.IsUnixSocket ? "the path of a unix socket has at most 107 bytes" : "no host name", e);
        }
    }

    public override void SetTimeout(TimeSpan timeout)
    {
        _socket.SendTimeout = Milliseconds(timeout);
        _socket.ReceiveTimeout = Milliseconds(timeout);
    }

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            int count = _socket.Send(bytes);
            _sent += count;
            bytes = bytes[count..];
        }
    }

    public override int Receive(Span<byte> buffer)
    {
        int count = _socket.Receive(buffer);
        _received += count;
        return count;
    }

    public override void Abort()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Both);
        }
        catch (SocketException)
        {
            // Not connected any more: nothing waits then.
        }
        catch (ObjectDisposedException)
        {
        }
    }

    internal static string Explain(SocketException e, TimeSpan timeout) => e.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => "connection refused (nothing listens there)",
        SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain => "unknown host name",
        SocketError.TimedOut or SocketError.WouldBlock or SocketError.InProgress => $"no answer within {timeout.TotalSeconds:0.###} s",
        SocketError.ConnectionReset or SocketError.Shutdown or SocketError.ConnectionAborted => ClosedByServer,
        _ => e.Message,
    };

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _socket.Dispose();
    }

    private static int Milliseconds(TimeSpan time) => (int)Math.Min(int.MaxValue, time.TotalMilliseconds);
}
