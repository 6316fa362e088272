using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>A server that exists (<c>--uri</c>): never started nor stopped.</summary>
/// <remarks>Of a replica set's members the primary is used, as its members name it.</remarks>
internal sealed class GivenDeployment(IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings, bool mustBeMongos = false) : IDeployment
{
    public string Kind => "uri";

    public ServerAddress Address { get; private set; } = hosts[0];

    public string? DataFolder => null;

    public int? ProcessId => null;

    public bool IsRunning => true;

    public ShardedCluster? Cluster { get; private set; }

    public IReadOnlyList<string> Remarks => [];

    /// <summary>Looks for the member that takes writes; a run does so again before it reconnects, and so follows an election.</summary>
    /// <returns>Always false: nothing was started.</returns>
    /// <exception cref="DeploymentException">No host answers, or what answers can't be used.</exception>
    public bool EnsureRunning()
    {
        Exception? last = null;
        var tried = new HashSet<ServerAddress>();
        var candidates = new Queue<ServerAddress>(hosts);
        while (candidates.TryDequeue(out ServerAddress? host))
        {
            if (!tried.Add(host))
                continue;
            try
            {
                using MongoConnection connection = MongoConnection.Open(host, settings);
                HelloReply server = connection.Server;
                if (mustBeMongos && !server.IsMongos)
                    throw NoMongos(host);
                if (server.IsMongos)
                    Cluster = MongosParts.Read(connection, settings);
                if (server.IsWritablePrimary)
                {
                    Address = host;
                    return false;
                }

                last = new DeploymentException(DeploymentFault.CannotConnect, $"{host}: no primary: this member takes no writes");
                if (server.Primary is { } primary && MongosParts.ParseAddress(primary) is { } address)
                    candidates.Enqueue(address);
            }
            catch (Exception e) when (e is IOException or BsonFormatException or ServerCommandException or ServerTooOldException)
            {
                last = e;
            }
        }

        throw last as DeploymentException ?? new DeploymentException(DeploymentFault.CannotConnect, last!.Message, last);
    }

    public void Stop()
    {
    }

    public void Dispose()
    {
    }

    private static DeploymentException NoMongos(ServerAddress host) => new(
        DeploymentFault.WrongUsage,
        $"{host} is no mongos, and --topology sharded needs one: through a mongod only its own part would be seen\n"
        + "hint:  name the cluster's mongos, or leave --topology sharded out");
}
