using System.Net.Sockets;

namespace MongoPerf.Wire.Connections;

/// <summary>Plain TCP with blocking calls: the cheapest way to wait for one reply on a thread of one's own.</summary>
/// <remarks>One thread at a time, but <see cref="Abort"/> may come from any. TLS will be a second transport with these same four calls.</remarks>
internal sealed class SocketTransport : IDisposable
{
    private readonly Socket _socket;

    private SocketTransport(Socket socket) => _socket = socket;

    /// <exception cref="ConnectionFailedException">Refused, unknown host or no answer in time.</exception>
    public static SocketTransport Connect(ServerAddress server, TimeSpan timeout)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            if (timeout > TimeSpan.Zero)
            {
                // SO_SNDTIMEO bounds a blocking connect too (Linux, socket(7)); an asynchronous connect would turn the socket
                // non-blocking for good, and every later wait would then go through epoll and a second thread.
                socket.SendTimeout = Milliseconds(timeout);
            }

            socket.Connect(server.Host, server.Port);
            return new SocketTransport(socket);
        }
        catch (SocketException e)
        {
            socket.Dispose();
            throw new ConnectionFailedException(server, Explain(e, timeout), e);
        }
    }

    /// <summary>Bounds each later send and receive; zero waits for ever.</summary>
    public void SetTimeout(TimeSpan timeout)
    {
        _socket.SendTimeout = Milliseconds(timeout);
        _socket.ReceiveTimeout = Milliseconds(timeout);
    }

    public void Send(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
            bytes = bytes[_socket.Send(bytes)..];
    }

    /// <returns>Bytes received; 0 when the other side has closed.</returns>
    public int Receive(Span<byte> buffer) => _socket.Receive(buffer);

    /// <summary>Wakes a thread that waits in <see cref="Send"/> or <see cref="Receive"/>.</summary>
    public void Abort()
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

    public void Dispose() => _socket.Dispose();

    internal static string Explain(SocketException e, TimeSpan timeout) => e.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => "connection refused (nothing listens there)",
        SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain => "unknown host name",
        SocketError.TimedOut or SocketError.WouldBlock or SocketError.InProgress => $"no answer within {timeout.TotalSeconds:0.###} s",
        SocketError.ConnectionReset or SocketError.Shutdown or SocketError.ConnectionAborted => "connection closed by the server",
        _ => e.Message,
    };

    private static int Milliseconds(TimeSpan time) => (int)Math.Min(int.MaxValue, time.TotalMilliseconds);
}
