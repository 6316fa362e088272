using System.Net.Sockets;
using MongoPerf.Platforms;

namespace MongoPerf.Wire.Connections;

/// <summary>Plain TCP, or a unix socket, with blocking calls: the cheapest way to wait for one reply on a thread of one's own.</summary>
internal sealed class SocketTransport : Transport
{
    public const string ClosedByServer = "connection closed by the server";

    /// <summary>The most bytes of one call, which returns when the system has taken all of it.</summary>
    private const int LargestPiece = 256 * 1024;

    /// <summary>Milliseconds in which a message's pieces are taken as they come, without a look whether the next one is there.</summary>
    private const int Unwatched = 1000;

    private readonly Socket _socket;
    private readonly SafeSocketHandle _handle;
    private int _rest;
    private bool _waitsForFirst;
    private Progress _arriving;
    private Progress _leaving;
    private long _sent;
    private long _received;

    private SocketTransport(Socket socket)
    {
        _socket = socket;
        _handle = socket.SafeHandle;
    }

    public override long BytesSent => Volatile.Read(ref _sent);

    public override long BytesReceived => Volatile.Read(ref _received);

    /// <param name="server">Where to.</param>
    /// <param name="timeout">The time for one attempt; a name may have several addresses. Zero waits for ever.</param>
    /// <param name="stop">Ends the wait, also for DNS.</param>
    /// <exception cref="ConnectionFailedException">Refused, unknown host or no answer in time.</exception>
    /// <exception cref="OperationCanceledException">It was stopped.</exception>
    public static SocketTransport Connect(ServerAddress server, TimeSpan timeout, CancellationToken stop = default) =>
        Abandonable.Run(() => Connect(server, timeout), stop, late => late.Dispose());

    public override void SetTimeouts(TimeSpan first, TimeSpan rest)
    {
        _socket.SendTimeout = Milliseconds(first);
        _socket.ReceiveTimeout = Milliseconds(first);
        _rest = Milliseconds(rest);
        _waitsForFirst = first == TimeSpan.Zero;
    }

    public override void ExpectMessage() => _arriving = default;

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        BeginMessage();
        SendPart(bytes);
    }

    /// <summary>What <see cref="SendPart"/> sends next begins a message.</summary>
    public void BeginMessage() => _leaving = default;

    public void SendPart(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            RequireTimeLeft(ref _leaving, SelectMode.SelectWrite);
            ReadOnlySpan<byte> piece = bytes[..Math.Min(bytes.Length, LargestPiece)];
            int count = Platform.IsLinux ? SocketCalls.Send(_handle, piece) : _socket.Send(piece);
            _sent += count;
            bytes = bytes[count..];
        }
    }

    public override int Receive(Span<byte> buffer)
    {
        RequireTimeLeft(ref _arriving, SelectMode.SelectRead);
        int count = Platform.IsLinux ? SocketCalls.Receive(_handle, buffer) : _socket.Receive(buffer);
        _received += count;
        return count;
    }

    public override void Abort()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Both);
            // Windows leaves a call that waits on the socket waiting.
            if (!Platform.IsLinux)
                _socket.Dispose();
        }
        catch (SocketException)
        {
            // Not connected any more: nothing waits then.
        }
        catch (ObjectDisposedException)
        {
        }
    }

    internal static string NoAnswer(TimeSpan timeout) => $"no answer within {timeout.TotalSeconds:0.###} s";

    internal static string Explain(SocketException e, TimeSpan timeout) => e.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => "connection refused (nothing listens there)",
        SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain => "unknown host name",
        SocketError.TimedOut or SocketError.WouldBlock or SocketError.InProgress => NoAnswer(timeout),
        SocketError.ConnectionReset or SocketError.Shutdown or SocketError.ConnectionAborted => ClosedByServer,
        _ => e.Message,
    };

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _socket.Dispose();
    }

    private static SocketTransport Connect(ServerAddress server, TimeSpan timeout)
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

            if (!Platform.IsLinux)
                ConnectWithin(socket, server, timeout);
            else if (server.IsUnixSocket)
                socket.Connect(new UnixDomainSocketEndPoint(server.Host));
            else
                socket.Connect(server.Host, server.Port);
            return new SocketTransport(socket);
        }
        catch (SocketException e)
        {
            socket.Dispose();
            throw new ConnectionFailedException(server,
                server.IsUnixSocket && !File.Exists(server.Host) ? "connection failed (there is no such socket)" : Explain(e, timeout), e);
        }
        catch (ArgumentException e)
        {
            // A path or a name that is too long.
            socket.Dispose();
            throw new ConnectionFailedException(
                server, server.IsUnixSocket ? "the path of a unix socket may have at most 107 bytes" : "not a host name", e);
        }
    }

    /// <summary>Connects on a system whose blocking connect knows no time-out.</summary>
    private static void ConnectWithin(Socket socket, ServerAddress server, TimeSpan timeout)
    {
        using var limit = new CancellationTokenSource(timeout > TimeSpan.Zero ? timeout : Timeout.InfiniteTimeSpan);
        try
        {
            ValueTask connected = server.IsUnixSocket
                ? socket.ConnectAsync(new UnixDomainSocketEndPoint(server.Host), limit.Token)
                : socket.ConnectAsync(server.Host, server.Port, limit.Token);
            connected.AsTask().GetAwaiter().GetResult();
        }
        catch (OperationCanceledException)
        {
            throw new SocketException((int)SocketError.TimedOut);
        }
    }

    /// <summary>
    /// The socket's own time-out bounds a message's first piece; the others share as long once more, whatever each of them takes.
    /// </summary>
    /// <exception cref="SocketException">It is over.</exception>
    private void RequireTimeLeft(ref Progress progress, SelectMode awaited)
    {
        if (progress.Pieces++ == 0 || _rest == 0)
            return;
        long now = Environment.TickCount64;
        if (progress.Pieces == 2)
            progress.Since = now;
        long passed = now - progress.Since;
        // The socket's time-out is as long for a further piece as for the first one, which may be for ever.
        if (passed >= _rest
            || ((passed > Unwatched || _waitsForFirst) && !_socket.Poll(TimeSpan.FromMilliseconds(_rest - passed), awaited)))
            throw new SocketException((int)SocketError.TimedOut);
    }

    /// <summary>How far one message has come through the socket.</summary>
    private struct Progress
    {
        public int Pieces;

        /// <summary>When the second piece was waited for; Environment.TickCount64.</summary>
        public long Since;
    }

    private static int Milliseconds(TimeSpan time) => (int)Math.Min(int.MaxValue, time.TotalMilliseconds);
}
