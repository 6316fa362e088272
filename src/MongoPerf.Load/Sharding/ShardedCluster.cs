using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>What routes.</summary>
public enum RouterKind
{
    /// <summary>MongoDB's own router.</summary>
    Mongos,

    /// <summary>A mongod 6.0 or later whose routing code is spoken to directly; see <see cref="CommandDialect.RoutingMongod"/>.</summary>
    RoutingMongod,
}

/// <summary>What comes of asking shards directly, past their router.</summary>
public enum DirectAccess
{
    /// <summary>They tell their state; from 8.0 on most users get no more there.</summary>
    Allowed,

    /// <summary>They know the user, who may not see their state.</summary>
    NotAllowed,

    /// <summary>They don't know the user: a cluster's users do not exist on its shards.</summary>
    NoUser,

    /// <summary>They can't be reached from here.</summary>
    Unreachable,
}

/// <summary>
/// The one picture of a sharded deployment: where its parts are now, and whether they can be asked. Whoever watches, samples, sizes or
/// checks a cluster asks its deployment for it before each use.
/// </summary>
/// <param name="Router">Which router it is.</param>
/// <param name="RouterAddress">Where clients connect.</param>
/// <param name="ConfigAddress">
/// Where <c>config.*</c> is read and the balancer is told: the mongos itself, or the primary of the config server.
/// </param>
/// <param name="Shards">In the order of their names; empty where the user may not read config.shards.</param>
public sealed record ShardedCluster(
    RouterKind Router, ServerAddress RouterAddress, ServerAddress ConfigAddress, IReadOnlyList<ShardAddress> Shards)
{
    /// <summary>How the router's commands are named; shards and config server take every command by its own name.</summary>
    public CommandDialect Dialect => Router == RouterKind.RoutingMongod ? CommandDialect.RoutingMongod : CommandDialect.Plain;

    /// <summary>The members of the config server; empty where the router does not tell them.</summary>
    public IReadOnlyList<ServerAddress> ConfigMembers { get; init; } = [];

    /// <summary>As it was when the cluster was first looked at.</summary>
    public DirectAccess Direct { get; init; } = DirectAccess.Allowed;
}

/// <summary>One shard.</summary>
/// <param name="Name">The name as in config.shards.</param>
/// <param name="Primary">The member that takes writes.</param>
/// <param name="Members">Of its replica set, without arbiters; 1 for a shard that is none.</param>
public sealed record ShardAddress(string Name, ServerAddress Primary, int Members = 1);
