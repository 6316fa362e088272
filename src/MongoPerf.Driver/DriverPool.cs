using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using MongoDB.Driver;
using MongoDB.Driver.Core.Events;
using MongoDB.Driver.Core.Servers;
using MongoPerf.Load.Phases;
using MongoPerf.Measurement;

namespace MongoPerf.Driver;

/// <summary>The client of a group whose threads share a number of connections, as applications limit them by maxPoolSize.</summary>
internal sealed class DriverPool : IDisposable
{
    /// <summary>Where the waits of the thread's operations go; the driver tells of them on the thread that waits.</summary>
    [ThreadStatic]
    private static ConnectionLog? _log;

    [ThreadStatic]
    private static long _waitsSince;

    private readonly int _size;
    private readonly ConcurrentDictionary<ServerId, StrongBox<int>> _inUse = new();

    /// <param name="usual">Settings of the run's client.</param>
    /// <param name="group">The group that has the pool.</param>
    public DriverPool(MongoClientSettings usual, GroupPlan group)
    {
        Group = group;
        _size = group.Connections!.Count;
        MongoClientSettings settings = usual.Clone();
        settings.MinConnectionPoolSize = _size;
        settings.MaxConnectionPoolSize = _size;
        // Clients of equal settings share their connections; no two of these are equal, as each asks for its own events.
        settings.ClusterConfigurator = builder => builder
            .Subscribe<ConnectionPoolCheckingOutConnectionEvent>(asked => Ask(InUse(asked.ServerId)))
            .Subscribe<ConnectionPoolCheckedOutConnectionEvent>(taken => Take(InUse(taken.ServerId)))
            .Subscribe<ConnectionPoolCheckedInConnectionEvent>(back => Interlocked.Decrement(ref InUse(back.ServerId).Value));
        Client = new MongoClient(settings);
    }

    public GroupPlan Group { get; }

    public MongoClient Client { get; }

    /// <summary>Executors that use it.</summary>
    public int Users { get; set; }

    /// <summary>The calling thread's waits go there from now on.</summary>
    public static void Note(ConnectionLog log) => _log = log;

    public void Dispose() => Client.Dispose();

    /// <summary>Each server has a pool of its own.</summary>
    private StrongBox<int> InUse(ServerId server) => _inUse.GetOrAdd(server, static _ => new StrongBox<int>());

    /// <summary>Whoever asks while all are in use has to wait.</summary>
    private void Ask(StrongBox<int> inUse) => _waitsSince = Volatile.Read(ref inUse.Value) >= _size ? SystemClock.Instance.Now : 0;

    private static void Take(StrongBox<int> inUse)
    {
        Interlocked.Increment(ref inUse.Value);
        if (_waitsSince > 0)
            _log?.Add(_waitsSince, SystemClock.Instance.Now);
        _waitsSince = 0;
    }
}
