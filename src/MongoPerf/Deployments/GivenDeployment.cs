using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>A server that exists (<c>--uri</c>): never started nor stopped.</summary>
/// <remarks>Of a replica set's members the primary is used, as its members name it; with directConnection=true the host that was named, whatever it is.</remarks>
internal sealed class GivenDeployment(IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings, bool mustBeMongos = false) : IDeployment
{
    /// <summary>What to look at when a login fails.</summary>
    public const string AuthenticationHint = "check user name and password (@ : / % as %40 %3A %2F %25), authSource and authMechanism in --uri";

    public DeploymentKind Kind => DeploymentKind.Given;

    public ServerAddress Address { get; private set; } = hosts[0];

    public string? DataFolder => null;

    public int? ProcessId => null;

    public bool IsRunning => true;

    public ShardedCluster? Cluster { get; private set; }

    public IReadOnlyList<string> Remarks { get; private set; } = [];

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
                if (server.IsWritablePrimary || settings.IsDirect)
                {
                    CheckReadPreference(host, server);
                    Address = host;
                    Remarks = settings.CompressorNames.Count > 0 && connection.CompressorName is null
                        ? [$"the server has none of the compressors asked for ({string.Join(", ", settings.CompressorNames)}): messages go as they are"]
                        : [];
                    return false;
                }

                last = new DeploymentException(DeploymentFault.CannotConnect, $"{host}: no primary; this member does not accept writes");
                if (server.Primary is { } primary && MongosParts.ParseAddress(primary) is { } address)
                    candidates.Enqueue(address);
            }
            catch (Exception e) when (e is IOException or BsonFormatException or ServerCommandException or ServerTooOldException)
            {
                last = e;
            }
        }

        string hint = last is AuthenticationFailedException ? $"\nhint:  {AuthenticationHint}" : "";
        throw last as DeploymentException ?? new DeploymentException(DeploymentFault.CannotConnect, last!.Message + hint, last);
    }

    public void Stop()
    {
    }

    public void Dispose()
    {
    }

    /// <summary>A run's reads and writes go to one server: where that is a primary, reads from others can't be had.</summary>
    private void CheckReadPreference(ServerAddress host, HelloReply server)
    {
        string? mode = settings.ReadPreference?.FindString("mode");
        if (mode is null or "primaryPreferred" || server.IsMongos || server.ReplicaSetName is null || settings.IsDirect)
            return;
        throw new DeploymentException(
            DeploymentFault.WrongUsage,
            $"readPreference={mode}: MongoPerf reads from and writes to one member, here the primary {host}\n"
            + "hint:  leave readPreference out; to read from a secondary, name it alone with directConnection=true");
    }

    private static DeploymentException NoMongos(ServerAddress host) => new(
        DeploymentFault.WrongUsage,
        $"{host} is not a mongos, which --topology sharded needs\n"
        + "hint:  name the cluster's mongos, or omit --topology sharded");
}
