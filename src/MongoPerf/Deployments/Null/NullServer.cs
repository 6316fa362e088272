using System.Net.Sockets;
using MongoPerf.Deployments.Processes;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Server.Listening;

namespace MongoPerf.Deployments.Null;

/// <summary>A server that stores nothing and answers from the plan's own templates: what is measured on it is the client and the loopback.</summary>
/// <remarks>Listens on loopback, a thread for each connection. Any thread.</remarks>
internal sealed class NullServer : IDisposable
{
    private readonly TcpServer _listener;

    private NullServer(TcpServer listener) => _listener = listener;

    public int Port => _listener.Port;

    /// <summary>Starts to listen.</summary>
    /// <param name="port">0 for any that is free.</param>
    /// <param name="collections">Of the plan. What is inserted into others is counted, and kept only while it is little.</param>
    /// <exception cref="DeploymentException">The port is taken or not allowed.</exception>
    public static NullServer Start(int port = 0, IReadOnlyList<PlanCollection>? collections = null)
    {
        var store = new NullStore(collections ?? []);
        try
        {
            TcpServer listener = TcpServer.Start(port, new Handler(store));
            store.Network = listener.Counters;
            return new NullServer(listener);
        }
        catch (SocketException e)
        {
            throw new DeploymentException(DeploymentFault.CannotConnect, $"null server: can't listen on 127.0.0.1:{port}: {e.Message}", e);
        }
    }

    /// <summary>The hidden command <c>null-server</c>: says where it listens, then serves until its parent goes or SIGTERM comes.</summary>
    /// <returns>The exit code.</returns>
    public static int Run(int port, IReadOnlyList<PlanCollection> collections, TextWriter output)
    {
        using NullServer server = Start(port, collections);
        output.WriteLine($"mongoperf null-server listening on 127.0.0.1:{server.Port}");
        output.Flush();
        ParentWatch.WaitForEnd();
        return 0;
    }

    public void Dispose() => _listener.Dispose();

    private sealed class Handler(NullStore store) : ICommandHandler
    {
        public ICommandSession Open(int connectionId) => new NullSession(store, connectionId);
    }
}
