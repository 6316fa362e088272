using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Traffic.Proxying;

/// <summary>Stands before a server and passes every byte on as it came, in both directions, and shows it to a recorder.</summary>
/// <remarks>
/// Two threads for each client, which wait in blocking calls: the shortest way from one socket to the other. With TLS, what one side
/// sent is encrypted anew for the other one.
/// </remarks>
public sealed class TrafficProxy : IDisposable
{
    private const int StackBytes = 128 * 1024;

    private readonly Socket _listener;
    private readonly ProxiedServer _server;
    private readonly SslServerAuthenticationOptions? _clientTls;
    private readonly TrafficRecorder _recorder;
    private readonly HashSet<ProxySide> _open = [];
    private Action<string>? _unreachable;
    private Action<string>? _untrusted;
    private long _connections;
    private volatile bool _isClosed;

    /// <param name="listener">Where clients connect, from <see cref="Listen"/>; this disposes of it.</param>
    /// <param name="server">Where they are led to.</param>
    /// <param name="certificate">Clients must speak TLS with this one; null: plainly.</param>
    /// <param name="recorder">Reads along.</param>
    /// <param name="warn">Called at most once with why the server could not be reached, and once with why a client could not.</param>
    public TrafficProxy(
        Socket listener, ProxiedServer server, SslStreamCertificateContext? certificate, TrafficRecorder recorder, Action<string> warn)
    {
        (_listener, _server, _recorder) = (listener, server, recorder);
        _unreachable = why => warn($"a client was turned away, as {server.Address} can't be reached: {why}");
        _untrusted = why => warn($"a client could not connect with TLS: {why}");
        if (certificate is not null)
            _clientTls = new SslServerAuthenticationOptions { ServerCertificateContext = certificate };
        Start(Accept, "accept");
    }

    public IPEndPoint Address => (IPEndPoint)_listener.LocalEndPoint!;

    /// <summary>Clients that have connected.</summary>
    public long Connections => Volatile.Read(ref _connections);

    /// <summary>Takes the address; whoever connects waits until there is a proxy.</summary>
    /// <exception cref="SocketException">It can't listen there.</exception>
    public static Socket Listen(IPEndPoint address)
    {
        var listener = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            listener.Bind(address);
            listener.Listen(512);
            return listener;
        }
        catch
        {
            listener.Dispose();
            throw;
        }
    }

    /// <summary>Ends all connections.</summary>
    public void Dispose()
    {
        _isClosed = true;
        _listener.Dispose();
        ProxySide[] open;
        lock (_open)
            open = [.. _open];
        foreach (ProxySide side in open)
            side.Abort();
    }

    private static Thread Start(Action action, string name)
    {
        var thread = new Thread(() => action(), StackBytes) { IsBackground = true, Name = name };
        thread.Start();
        return thread;
    }

    /// <summary>
    /// A connection that does not work, or one file or thread too many: it ends one connection, never the others. SslStream tells of a
    /// socket that was closed meanwhile in several ways.
    /// </summary>
    private static bool IsShortage(Exception e) => e is SocketException or IOException or ObjectDisposedException or OutOfMemoryException
        or AuthenticationException or InvalidOperationException or NotSupportedException;

    private static string Explain(Exception e) => e switch
    {
        SocketException { SocketErrorCode: SocketError.ConnectionRefused } => "connection refused (nothing listens there)",
        SocketException { SocketErrorCode: SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain } => "unknown host name",
        _ => e.Message,
    };

    private void Accept()
    {
        while (!_isClosed)
        {
            Socket? client = null;
            try
            {
                Socket accepted = client = _listener.Accept();
                long number = Interlocked.Increment(ref _connections);
                Start(() => Serve(accepted, number), $"client {number}");
            }
            catch (Exception e) when (IsShortage(e))
            {
                // A client that has gone again, or too many open files or threads: the next one may be luckier.
                client?.Dispose();
                if (!_isClosed)
                    Thread.Sleep(10);
            }
        }
    }

    private void Serve(Socket accepted, long number)
    {
        ProxySide client = Keep(accepted);
        ProxySide? server = null;
        try
        {
            Thread? replies = null;
            if (!Tries(() => client.Accept(_clientTls), ref _untrusted) || !Tries(Connect, ref _unreachable))
                return;
            Pass(client, server!, number, isRequest: true);
            replies!.Join();
            _recorder.End(number);

            void Connect()
            {
                server = Keep(new Socket(SocketType.Stream, ProtocolType.Tcp));
                server.Connect(_server);
                replies = Start(() => Pass(server, client, number, isRequest: false), $"server {number}");
            }
        }
        finally
        {
            Close(client);
            if (server is not null)
                Close(server);
        }
    }

    private bool Tries(Action open, ref Action<string>? failed)
    {
        try
        {
            open();
            return true;
        }
        catch (Exception e) when (IsShortage(e))
        {
            if (!_isClosed)
                Interlocked.Exchange(ref failed, null)?.Invoke(Explain(e));
            return false;
        }
    }

    private void Pass(ProxySide from, ProxySide to, long number, bool isRequest)
    {
        try
        {
            // Recorded first, so that what one side says comes before what the other one answers to it.
            if (isRequest)
                PassRequests(from, to, number);
            else
                PassReplies(from, to, number);
            to.EndSending();
        }
        catch (Exception e) when (IsShortage(e))
        {
            // One side has gone; so must the other.
            from.Abort();
            to.Abort();
        }
    }

    private void PassRequests(ProxySide from, ProxySide to, long number)
    {
        using var requests = new RecordedRequests(_recorder, number);
        for (int count; (count = from.Receive(requests.Room)) > 0;)
            to.Send(requests.Add(count));
    }

    /// <remarks>They are read while the client is at work, but never while this thread may wait for it.</remarks>
    private void PassReplies(ProxySide from, ProxySide to, long number)
    {
        using var replies = new RecordedReplies(_recorder, number);
        for (int count; (count = from.Receive(replies.Room)) > 0;)
        {
            ReadOnlySpan<byte> bytes = replies.Add(count);
            bytes = bytes[to.SendWithoutWaiting(bytes)..];
            replies.Read();
            to.Send(bytes);
        }
    }

    private ProxySide Keep(Socket socket)
    {
        var side = new ProxySide(socket);
        lock (_open)
            _open.Add(side);
        if (_isClosed)
            side.Abort();
        return side;
    }

    private void Close(ProxySide side)
    {
        lock (_open)
            _open.Remove(side);
        side.Dispose();
    }
}
