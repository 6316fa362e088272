using System.Net;
using System.Net.Sockets;
using MongoPerf.Deployments.Processes;

namespace MongoPerf.Deployments.Null;

/// <summary>A server that reads every message and answers with documents it has seen: what client and loopback can do at most.</summary>
/// <remarks>Listens on loopback; one thread per connection, blocking sockets. Thread-safe.</remarks>
internal sealed class NullServer : IDisposable
{
    private readonly Socket _listener;
    private readonly NullStore _store = new();
    private readonly Lock _lock = new();
    private readonly HashSet<Socket> _open = [];
    private bool _stopped;

    private NullServer(int port)
    {
        _listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            _listener.Bind(new IPEndPoint(IPAddress.Loopback, port));
            _listener.Listen(1024);
        }
        catch (SocketException e)
        {
            _listener.Dispose();
            throw new DeploymentException(DeploymentFault.CannotConnect, $"null server: can't listen on 127.0.0.1:{port}: {e.Message}", e);
        }
    }

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    /// <summary>Starts to listen.</summary>
    /// <param name="port">0 for any that is free.</param>
    /// <exception cref="DeploymentException">The port is in use.</exception>
    public static NullServer Start(int port = 0)
    {
        var server = new NullServer(port);
        new Thread(server.Accept) { IsBackground = true, Name = "null server accept" }.Start();
        return server;
    }

    /// <summary>The hidden command <c>null-server</c>: prints where it listens, then serves until its parent goes or SIGTERM comes.</summary>
    /// <returns>The exit code.</returns>
    public static int Run(int port, TextWriter output)
    {
        using NullServer server = Start(port);
        output.WriteLine($"mongoperf null-server listening on 127.0.0.1:{server.Port}");
        output.Flush();
        ParentWatch.WaitForEnd();
        return 0;
    }

    public void Dispose()
    {
        lock (_lock)
        {
            _stopped = true;
            _listener.Dispose();
            foreach (Socket socket in _open)
                socket.Dispose();
        }
    }

    private void Accept()
    {
        while (true)
        {
            Socket socket;
            try
            {
                socket = _listener.Accept();
                socket.NoDelay = true;
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                if (_stopped)
                    return;
                // Out of descriptors, or the peer was gone at once: not a reason to stop listening.
                Thread.Sleep(10);
                continue;
            }

            lock (_lock)
            {
                if (_stopped)
                {
                    socket.Dispose();
                    return;
                }

                _open.Add(socket);
            }

            new Thread(() => Serve(socket), maxStackSize: 512 * 1024) { IsBackground = true, Name = "null server connection" }.Start();
        }
    }

    private void Serve(Socket socket)
    {
        using (socket)
        {
            NullConnection.Serve(socket, _store);
            lock (_lock)
                _open.Remove(socket);
        }
    }
}
