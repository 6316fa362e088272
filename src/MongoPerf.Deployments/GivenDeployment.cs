using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments;

/// <summary>Servers that exist (<c>--uri</c>): never started nor stopped.</summary>
/// <remarks>
/// Where the members of a replica set are known, the primary takes writes, and reads go where their preference says; several
/// mongos share the workers; with directConnection=true it is the host that was named, whatever it is.
/// </remarks>
public sealed class GivenDeployment(
    IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings, bool mustBeMongos = false) : IDeployment
{
    private readonly ServerDirectory _servers = new(hosts, settings);
    private volatile ShardedCluster? _cluster;

    /// <summary>Null for anything but a replica set of which there are several members.</summary>
    private volatile WatchedSet? _set;
    private bool _wasUsed;

    public DeploymentKind Kind => DeploymentKind.Given;

    public ServerAddress Address { get; private set; } = hosts[0];

    public ShardedCluster? Cluster
    {
        get => _cluster;
        private set => _cluster = value;
    }

    public IReadOnlyList<string> Remarks { get; private set; } = [];

    public IReadOnlyList<ServerAddress> Readable => _servers.Readable;

    public ServerAddress Select(ReadPreference preference, int worker) => _servers.Select(preference, worker);

    /// <summary>
    /// Looks at the servers, and logs in where writes go; a run does so again before it reconnects, and so follows an election.
    /// </summary>
    /// <returns>Always false: nothing was started.</returns>
    /// <exception cref="DeploymentException">No host answers, or what answers can't be used.</exception>
    public bool EnsureRunning()
    {
        try
        {
            _servers.Look();
            Use(_servers.Select(ReadPreference.Primary, 0));
            _wasUsed = true;
        }
        catch (NoServerException) when (_wasUsed && _servers.HasSeveral)
        {
            // Readers may go on without a primary: who finds no server for what it does says so.
        }
        catch (NoServerException e)
        {
            throw new DeploymentException(Fault.CannotConnect, e.Message + (e.Hint is { } hint ? $"\nhint:  {hint}" : ""), e);
        }
        catch (Exception e) when (e is IOException or BsonFormatException or ServerCommandException or ServerTooOldException)
        {
            string hint = e is AuthenticationFailedException refused ? $"\nhint:  {refused.Hint}" : "";
            throw new DeploymentException(Fault.CannotConnect, e.Message + hint, e);
        }

        return false;
    }

    public IReadOnlyList<WatchedSet> WatchedSets => _set is { } set ? [set] : WatchedSet.Of(Cluster);

    public void Refresh()
    {
        try
        {
            if (Cluster is { } known)
            {
                using MongoConnection mongos = MongoConnection.Open(known.RouterAddress, settings);
                Cluster = MongosParts.Read(mongos, settings, known);
            }
            else if (_set is { } set)
            {
                _servers.Look();
                _set = set with { Primary = _servers.Select(ReadPreference.Primary, 0) };
            }
        }
        catch (Exception e)
            when (e is IOException or BsonFormatException or ServerCommandException or ServerTooOldException or DeploymentException)
        {
            // What is known stays until somebody answers again.
        }
    }

    private void Use(ServerAddress server)
    {
        using MongoConnection connection = MongoConnection.Open(server, settings);
        if (mustBeMongos && !connection.Server.IsMongos)
            throw DeploymentException.WrongUsage($"{server} is not a mongos, which --topology sharded needs",
                "name the cluster's mongos, or omit --topology sharded");
        if (connection.Server.IsMongos)
        {
            Cluster = MongosParts.Read(connection, settings, Cluster);
            if (!_wasUsed)
                MongosParts.RequireShards(connection);
        }
        else if (connection.Server.ReplicaSetName is { } name && _servers.HasSeveral)
        {
            _set = new WatchedSet($"replica set {name}", server);
        }

        Address = server;
        Remarks = settings.CompressorNames.Count > 0 && connection.CompressorName is null
            ? [$"the server supports none of the requested compressors ({string.Join(", ", settings.CompressorNames)}): "
                + "messages are not compressed"]
            : [];
    }
}
