using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors;

/// <summary>A client other than MongoPerf's own that can run operations.</summary>
public interface IClientEngine
{
    /// <summary>The version of the library that it is made of, such as 3.14.0.</summary>
    string Version { get; }

    /// <summary>Refuses an operation that it can't carry out. Asks no server.</summary>
    /// <exception cref="OperationLimitException">One line that names the operation.</exception>
    void Check(Operation operation);

    /// <summary>Opens what all workers of a run share. Connects to nothing yet.</summary>
    /// <exception cref="ConnectionStringException">The library does not take the connection string.</exception>
    IExecutorSource Open(ClientOptions options);
}

/// <summary>What the workers of one run share. For all threads.</summary>
public interface IExecutorSource : IDisposable
{
    /// <summary>One worker's executor, not connected yet.</summary>
    /// <param name="group">The worker's group, which may have a pool of connections; null for a worker by itself.</param>
    IOperationExecutor OpenExecutor(GroupPlan? group = null);
}

/// <summary>How a client reaches a run's deployment.</summary>
public sealed record ClientOptions
{
    /// <summary>The uri as given, with its secrets; null when the run starts its own server, which is at <see cref="Address"/>.</summary>
    public string? Uri { get; init; }

    /// <summary>Where the server is now.</summary>
    public required Func<ServerAddress> Address { get; init; }

    /// <summary>Where a worker's writes go, by its number: the primary, or one of several mongos.</summary>
    public Func<int, ServerAddress> PrimaryOf { get => field ?? (_ => Address()); init; }

    /// <summary>All members of a replica set that the run started; otherwise empty.</summary>
    public IReadOnlyList<ServerAddress> Members { get; init; } = [];

    /// <summary>What the connection string came to for MongoPerf's own client, TLS files read.</summary>
    public required ConnectionSettings Connections { get; init; }

    public required string Database { get; init; }

    /// <summary>How many workers a phase has at most, all its groups together.</summary>
    public required int Workers { get; init; }

    /// <summary>Does what is done to a sharded deployment behind its router; null for any other.</summary>
    public ClusterControl? Cluster { get; init; }

    /// <summary>Called before each attempt to connect again; a <see cref="ConnectionFailedException"/> makes that attempt fail.</summary>
    public Action BeforeReconnect { get; init; } = () => { };
}
