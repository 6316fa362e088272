using MongoPerf.Load.Collections;
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
    public MongoConnection OpenShard(string name) => OpenShard(name, settings.ForShard());

    /// <summary>As <see cref="OpenShard(string)"/>; null for a shard behind a given mongos that can't be asked: it need not.</summary>
    public MongoConnection? TryOpenShard(string name) =>
        Cluster.Direct == DirectAccess.Allowed ? TryOpenShard(name, settings.ForShard()) : null;

    /// <summary>What no other process of a server has, of a shard's primary; null where it does not tell, or can't be reached.</summary>
    public string? TryReadProcess(string shard)
    {
        // It takes no login.
        using MongoConnection? open =
            Cluster.Direct == DirectAccess.Unreachable ? null : TryOpenShard(shard, settings.ForHello());
        return open is null ? null : CollectionCommands.ProcessOf(open);
    }

    private MongoConnection? TryOpenShard(string name, ConnectionSettings how)
    {
        try
        {
            return OpenShard(name, how);
        }
        catch (ConnectionFailedException) when (Cluster.Router == RouterKind.Mongos)
        {
            return null;
        }
    }

    private MongoConnection OpenShard(string name, ConnectionSettings how)
    {
        ShardAddress shard = Cluster.Shards.FirstOrDefault(s => s.Name == name)
            ?? throw new ConnectionFailedException(Cluster.ConfigAddress, $"the address of shard {name} is unknown");
        MongoConnection connection = MongoConnection.Open(shard.Primary, how);
        if (connection.Server.IsWritablePrimary)
            return connection;
        connection.Dispose();
        throw new ConnectionFailedException(shard.Primary, $"this is not the primary of shard {name}");
    }
}
