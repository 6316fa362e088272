using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace MongoPerf.Platforms;

/// <summary>
/// send(2) and recv(2) on a blocking socket. What the runtime's own calls do around them costs 2 µs a round trip (docs/performance.md).
/// </summary>
/// <remarks>
/// The socket's time-outs hold (SO_SNDTIMEO, SO_RCVTIMEO). One thread at a time for each direction; nothing is allocated. errno is read
/// behind a call that failed, and only there (the runtime keeps it over its own waits): to have it cleared before each call and stored
/// behind it (SetLastError) took 2 to 3 % of the client's CPU. The handle is held by hand, without try and finally, since nothing in
/// between can throw: calls into the system from within a try block go through a stub instead of being compiled in place.
/// </remarks>
[SupportedOSPlatform("linux")]
public static unsafe partial class SocketCalls
{
    /// <summary>A connection that is gone is an error, not a signal (MSG_NOSIGNAL).</summary>
    private const int NoSignal = 0x4000;

    /// <summary>MSG_DONTWAIT.</summary>
    private const int DoNotWait = 0x40;

    /// <summary>Errors of Linux, errno(3).</summary>
    private const int Interrupted = 4, Again = 11, BrokenPipe = 32, ConnectionAborted = 103, ConnectionReset = 104, TimedOut = 110;

    /// <returns>How many bytes the system has taken, at least one.</returns>
    /// <exception cref="SocketException">The connection broke, or nothing was taken in time.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed here.</exception>
    public static int Send(SafeSocketHandle socket, ReadOnlySpan<byte> bytes)
    {
        fixed (byte* first = bytes)
        {
            nint count;
            do
                count = Release(socket, Send(Hold(socket), first, bytes.Length, NoSignal));
            while (count < 0);
            return (int)count;
        }
    }

    /// <returns>How many bytes the system has taken; 0 when it has no room for any.</returns>
    /// <exception cref="SocketException">The connection broke.</exception>
    /// <exception cref="ObjectDisposedException">The socket was closed here.</exception>
    public static int SendWithoutWaiting(SafeSocketHandle socket, ReadOnlySpan<byte> bytes)
    {
        fixed (byte* first = bytes)
        {
            nint count;
            do
                count = Release(socket, Send(Hold(socket), first, bytes.Length, NoSignal | DoNotWait), mayWait: false);
            while (count < 0);
            return (int)count;
        }
    }

    /// <returns>How many bytes came, at least one; 0 when the other side has closed the connection.</returns>
    /// <inheritdoc cref="Send(SafeSocketHandle, ReadOnlySpan{byte})"/>
    public static int Receive(SafeSocketHandle socket, Span<byte> buffer)
    {
        fixed (byte* first = buffer)
        {
            nint count;
            do
                count = Release(socket, Receive(Hold(socket), first, buffer.Length, 0));
            while (count < 0);
            return (int)count;
        }
    }

    /// <summary>The socket's number cannot become another file's before it is released, whoever closes the socket meanwhile.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Hold(SafeSocketHandle socket)
    {
        bool isHeld = false;
        socket.DangerousAddRef(ref isHeld);
        return (int)socket.DangerousGetHandle();
    }

    /// <returns>
    /// What the call has returned; 0 where it would have to wait and may not; negative when it was interrupted and is to be made again.
    /// </returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static nint Release(SafeSocketHandle socket, nint count, bool mayWait = true)
    {
        int error = count < 0 ? Marshal.GetLastSystemError() : 0;
        socket.DangerousRelease();
        if (error == Again && !mayWait)
            return 0;
        if (error is not (0 or Interrupted))
            Throw(error);
        return count;
    }

    private static void Throw(int error) => throw new SocketException((int)Translate(error), Marshal.GetPInvokeErrorMessage(error));

    private static SocketError Translate(int error) => error switch
    {
        Again or TimedOut => SocketError.TimedOut,
        BrokenPipe or ConnectionReset => SocketError.ConnectionReset,
        ConnectionAborted => SocketError.ConnectionAborted,
        _ => SocketError.SocketError,
    };

    [LibraryImport("libc", EntryPoint = "send")]
    private static partial nint Send(int socket, byte* bytes, nint length, int flags);

    [LibraryImport("libc", EntryPoint = "recv")]
    private static partial nint Receive(int socket, byte* buffer, nint length, int flags);
}
