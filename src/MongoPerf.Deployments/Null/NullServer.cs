using System.Collections.Concurrent;
using System.Net.Sockets;
using MongoPerf.Deployments.Processes;
using MongoPerf.Load.Plans;
using MongoPerf.Server;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Null;

/// <summary>
/// A server that stores nothing of the plan's collections and answers from their templates: what is measured on it is the
/// client and the loopback.
/// </summary>
/// <remarks>
/// The embedded server with its data in memory, and a <see cref="NullSession"/> in front of each of its sessions. Any thread.
/// </remarks>
public static class NullServer
{
    private const long CacheBytes = 32 << 20;

    /// <summary>Starts to listen on loopback.</summary>
    /// <param name="port">0 for any that is free.</param>
    /// <param name="collections">The collections of the plan. All others are kept in memory.</param>
    /// <exception cref="DeploymentException">The port is taken or not allowed.</exception>
    /// <exception cref="MongoPerf.Server.Storage.StorageException">The library of the embedded server is missing.</exception>
    public static EmbeddedServer Start(int port, IReadOnlyList<PlanCollection> collections)
    {
        var store = new NullStore(collections);
        try
        {
            return EmbeddedServer.Start(new EmbeddedServerOptions
            {
                Listen = new ListenOptions { Port = port }, CacheBytes = CacheBytes, KindField = "mongoperfNull",
                Around = (session, counters) => new NullSession(session, store, counters),
            });
        }
        catch (SocketException e)
        {
            throw new DeploymentException(Fault.CannotConnect, $"null server: can't listen on 127.0.0.1:{port}: {e.Message}", e);
        }
    }

    /// <summary>The hidden command <c>null-server</c>: says where it listens, then serves until its parent goes or SIGTERM comes.</summary>
    public static void Run(int port, IReadOnlyList<PlanCollection> collections, TextWriter output)
    {
        using var watch = new ParentWatch();
        using EmbeddedServer server = Start(port, collections);
        output.WriteLine($"mongoperf null-server listening on 127.0.0.1:{server.Port}");
        output.Flush();
        watch.Wait();
    }
}

/// <summary>The plan's collections and the cursors that are open on them. Thread-safe.</summary>
/// <param name="collections">The collections of the plan, in whatever database they come to lie.</param>
internal sealed class NullStore(IReadOnlyList<PlanCollection> collections)
{
    private const int MaximumCursors = 10_000;

    private readonly Dictionary<string, NumberedDocuments> _planned =
        collections.SelectMany(NumberedDocuments.Of).ToDictionary(stored => stored.Name, stored => stored.Documents);

    private readonly ConcurrentDictionary<(string Database, string Name), NumberedCollection> _collections = [];
    private readonly ConcurrentDictionary<long, NullCursor> _cursors = new();
    private long _lastCursor;

    /// <summary>A collection of the plan; null for any other.</summary>
    public NumberedCollection? Find(string database, string name) => _planned.TryGetValue(name, out NumberedDocuments? documents)
        ? _collections.GetOrAdd((database, name), key => new NumberedCollection(key.Database, key.Name, documents))
        : null;

    public void Clear(string database)
    {
        foreach (NumberedCollection collection in _collections.Values.Where(collection => collection.Database == database))
            collection.Clear();
    }

    /// <returns>Its id, negative: those of the embedded server are positive. When too many are open, the others are closed.</returns>
    public long Open(NullCursor cursor)
    {
        if (_cursors.Count >= MaximumCursors)
            _cursors.Clear();
        long id = Interlocked.Decrement(ref _lastCursor);
        _cursors[id] = cursor;
        return id;
    }

    public NullCursor? FindCursor(long id) => _cursors.GetValueOrDefault(id);

    public bool Close(long cursor) => _cursors.TryRemove(cursor, out _);
}
