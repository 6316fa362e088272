using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// Connections to the parts of a cluster behind its router. Opened for each use: these are not measured, and parts come and go.
/// </summary>
/// <remarks>One thread.</remarks>
internal sealed class ClusterConnections(Func<ShardedCluster> cluster, ConnectionSettings settings)
{
    private readonly ConnectionSettings _settings = settings with { Dialect = CommandDialect.Plain };

    public ShardedCluster Cluster => cluster();

    public MongoConnection OpenConfig() => MongoConnection.Open(Cluster.ConfigAddress, _settings);

    /// <exception cref="ConnectionFailedException">Not reachable, not known, or not the primary just now.</exception>
    public MongoConnection OpenShard(string name)
    {
        ShardAddress shard = Cluster.Shards.FirstOrDefault(s => s.Name == name)
            ?? throw new ConnectionFailedException(Cluster.ConfigAddress, $"the address of shard {name} is unknown");
        MongoConnection connection = MongoConnection.Open(shard.Primary, _settings);
        if (connection.Server.IsWritablePrimary)
            return connection;
        connection.Dispose();
        throw new ConnectionFailedException(shard.Primary, $"this is not the primary of shard {name}");
    }

    /// <summary>As <see cref="OpenShard"/>; null for a shard behind a given mongos that this client can't reach: it need not.</summary>
    public MongoConnection? TryOpenShard(string name)
    {
        try
        {
            return OpenShard(name);
        }
        catch (ConnectionFailedException) when (Cluster.Router == RouterKind.Mongos)
        {
            return null;
        }
    }
}
