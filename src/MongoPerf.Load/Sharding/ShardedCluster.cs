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

/// <summary>Where the parts of a sharded deployment are, as they are now.</summary>
/// <param name="Router">Which router it is.</param>
/// <param name="RouterAddress">Where clients connect.</param>
/// <param name="ConfigAddress">
/// Where <c>config.*</c> is read and the balancer is told: the mongos itself, or the primary of the config server.
/// </param>
/// <param name="Shards">In the order of their names.</param>
public sealed record ShardedCluster(
    RouterKind Router, ServerAddress RouterAddress, ServerAddress ConfigAddress, IReadOnlyList<ShardAddress> Shards)
{
    /// <summary>How the router's commands are named; shards and config server take every command by its own name.</summary>
    public CommandDialect Dialect => Router == RouterKind.RoutingMongod ? CommandDialect.RoutingMongod : CommandDialect.Plain;
}

/// <summary>One shard.</summary>
/// <param name="Name">As in config.shards.</param>
/// <param name="Primary">The member that takes writes.</param>
public sealed record ShardAddress(string Name, ServerAddress Primary);
