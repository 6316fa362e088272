using MongoPerf.Deployments.Processes;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments;

/// <summary>Asks a server what it is.</summary>
public static class DeploymentInspector
{
    /// <summary>Characters.</summary>
    private const int LongestName = 60;

    // Names are cut to 15 characters; "dotnet" runs the embedded and the null server.
    private static readonly string[] ServerNames = ["mongod", "mongos", "dotnet", "mongoperf"];

    /// <param name="deployment">Running.</param>
    /// <param name="settings">How to connect.</param>
    /// <param name="ns">"database.collection" of the run.</param>
    /// <returns>What it said, and its data folder when that is on this machine.</returns>
    /// <exception cref="DeploymentException">Not reachable, refused, older than 3.6, or no MongoDB.</exception>
    public static Inspection Inspect(IDeployment deployment, ConnectionSettings settings, string ns)
    {
        try
        {
            using MongoConnection connection = MongoConnection.Open(deployment.Address, settings);
            return Inspect(connection, deployment, settings, ns, ProcessTable.System);
        }
        catch (Exception e) when (e is ConnectionFailedException or ServerTooOldException)
        {
            throw new DeploymentException(Fault.CannotConnect, e.Message, e);
        }
        catch (Exception e) when (e is WireProtocolException or BsonFormatException or ServerCommandException)
        {
            throw new DeploymentException(
                Fault.CannotConnect,
                $"{deployment.Address}: not usable as a MongoDB server: {ConnectionFailedException.WhatOf(e, deployment.Address)}", e);
        }
    }

    private static Inspection Inspect(
        MongoConnection connection, IDeployment deployment, ConnectionSettings settings, string ns, ProcessTable table)
    {
        // All of these need rights that a user may not have, or are not known everywhere; the run can do without.
        BsonDocument build = connection.RunUnchecked("admin", BsonDocument.Of(("buildInfo", 1)));
        BsonDocument status = ReadStatus(connection);
        BsonDocument options = connection.RunUnchecked("admin", BsonDocument.Of(("getCmdLineOpts", 1)));
        var rights = UserRights.Read(connection);
        ShardedCluster? cluster = deployment.Cluster;
        bool isNull = connection.Server.Document.IsTrue("mongoperfNull");
        // The null server stands before an embedded one, and its figures are neither's.
        bool isEmbedded = !isNull && (deployment.Kind == DeploymentKind.Embedded || connection.Server.Document.IsTrue("mongoperfEmbedded"));
        BsonDocument data = cluster is null ? status
            : cluster is { Direct: DirectAccess.Allowed, Shards: [var shard, ..] } ? ReadStatus(shard.Primary, settings)
            : BsonDocument.Empty;
        string[] names = ns.Split('.', 2);
        string version = ForeignText.OneLine(build.FindString("version") ?? DeploymentInfo.UnknownVersion, LongestName);
        int? processId = deployment.ProcessId ?? FindLocalProcess(connection.Address, status, table);
        var info = new DeploymentInfo
        {
            Kind = deployment.Kind,
            Topology = deployment.Cluster is null ? TopologyOf(connection.Server, isNull, isEmbedded) : Topology.Sharded,
            ServerVersion = version,
            StandIn = StandInOf(build, connection.Server.Document),
            StorageEngine = isNull ? "null"
                : data.FindString("storageEngine.name") is { } engine ? ForeignText.OneLine(engine, LongestName) : null,
            CacheBytes = data.FindInt64("wiredTiger.cache.maximum bytes configured") ?? data.FindInt64("mongoperfStorage.cacheBytesMax"),
            MemoryLimitBytes = deployment.MemoryLimitBytes,
            Router = RouterOf(deployment, connection.Server),
            ShardCount = cluster is { Shards.Count: > 0 and var shards } ? shards : null,
            Members = cluster is null ? CountMembers(connection.Server) : cluster.Shards.Select(one => (int?)one.Members).Max(),
            Tls = settings.Tls is not null,
            Compressor = connection.CompressorName,
            ServerApi = settings.ServerApi?.ToString(),
            Auth = rights.Told ? rights.User is not null : null,
            UntoldMetrics = isNull || isEmbedded ? [] : [.. MetricCatalogue.OfStatus
                .Where(metric => TellerOf(metric) is { } teller && metric.Places.All(path => teller.Find(path) is null))
                .Select(metric => metric.Name)],
            Access = isNull || isEmbedded ? null
                : AccessReader.Read(rights, cluster, status, DeploymentInfo.ReleaseOf(version), names[0], names[^1]) with
                {
                    Routers = connection.Server.IsMongos ? deployment.Readable.Count : null,
                },
            IsEmbedded = isEmbedded,
            Address = deployment.Address.ToString(),
            Namespace = ns,
            ProcessId = processId,
            Remarks = [.. Remark(deployment, isNull, isEmbedded), .. Mixture(cluster, version, data)],
        };
        string? dataFolder = deployment.DataFolder ?? (processId is null ? null : options.FindString("parsed.storage.dbPath"));
        return new Inspection(info, Directory.Exists(dataFolder) ? dataFolder : null)
        {
            TakesWrites = connection.Server.IsWritablePrimary,
            HasJournal = options.Find("parsed.storage.journal.enabled")?.ToBoolean() ?? true,
            Rights = rights,
        };

        // The reply in which a metric must be; null where none of that kind could be had.
        BsonDocument? TellerOf(Metric metric) => metric.IsOfRouter
            ? cluster?.Router == RouterKind.Mongos && status.FindDocument("shardingStatistics") is not null ? status : null
            : (cluster is null && metric.IsOfSharding) || data.FindDocument("wiredTiger") is null ? null : data;
    }

    private static Topology TopologyOf(HelloReply server, bool isNull, bool isEmbedded) => server switch
    {
        _ when isNull => Topology.Null,
        _ when isEmbedded => Topology.Embedded,
        { IsMongos: true } => Topology.Sharded,
        { ReplicaSetName: not null } => Topology.ReplicaSet,
        _ => Topology.Standalone,
    };

    private static string? RouterOf(IDeployment deployment, HelloReply server) => deployment.Cluster?.Router switch
    {
        RouterKind.RoutingMongod => "mongod",
        RouterKind.Mongos => "mongos",
        _ => server.IsMongos ? "mongos" : null,
    };

    /// <summary>MongoDB supports that while a cluster is upgraded, and not for long.</summary>
    private static IEnumerable<string> Mixture(ShardedCluster? cluster, string version, BsonDocument shard)
    {
        if (cluster is { Router: RouterKind.Mongos, Shards: [var first, ..] } && shard.FindString("version") is { } other
            && DeploymentInfo.ReleaseOf(other) is { } ofShard && DeploymentInfo.ReleaseOf(version) is { } ofMongos && ofShard != ofMongos)
            yield return $"the mongos is MongoDB {version}, and shard {first.Name} {ForeignText.OneLine(other, LongestName)}: "
                + "figures are of that mixture, which MongoDB supports during an upgrade only";
    }

    // A --uri may name an embedded or a null server as well.
    private static IReadOnlyList<string> Remark(IDeployment deployment, bool isNull, bool isEmbedded)
    {
        if (deployment.Kind != DeploymentKind.Given && deployment.Remarks.Count > 0)
            return deployment.Remarks;
        if (isNull)
            return [.. deployment.Remarks, "nothing is stored: results show the limits of the client and the network"];
        return isEmbedded ? [.. deployment.Remarks, "results are for the embedded server, not MongoDB"] : deployment.Remarks;
    }

    // Another machine's process number may be in use here too: host and name must fit as well.
    private static int? FindLocalProcess(ServerAddress address, BsonDocument status, ProcessTable table)
    {
        if (status.FindInt64("pid") is not { } pid || !IsLoopback(address.Host) || table.Find((int)pid) is null)
            return null;
        string name = table.NameOf((int)pid);
        return ServerNames.Any(known => name.StartsWith(known, StringComparison.Ordinal)) ? (int)pid : null;
    }

    public static bool IsLoopback(string host) =>
        host == "localhost" || host.StartsWith('/')
        || (System.Net.IPAddress.TryParse(host, out System.Net.IPAddress? ip) && System.Net.IPAddress.IsLoopback(ip));

    /// <summary>A shard behind a mongos need not be reachable from here; the run can do without.</summary>
    private static BsonDocument ReadStatus(ServerAddress address, ConnectionSettings settings)
    {
        try
        {
            using MongoConnection connection =
                MongoConnection.Open(address, settings.ForShard().ConnectingWithin(TimeSpan.FromSeconds(2)));
            return ReadStatus(connection);
        }
        catch (ConnectionFailedException)
        {
            return BsonDocument.Empty;
        }
    }

    /// <summary>
    /// FerretDB names itself beside the version of the MongoDB that it follows, in a key of its own or (2.0) a document; DocumentDB, the
    /// open one and Azure's, names its versions in hello.
    /// </summary>
    private static string? StandInOf(BsonDocument build, BsonDocument hello) =>
        NameOf("FerretDB", build.FindString("ferretdbVersion") ?? build.FindString("ferretdb.version"))
        ?? NameOf("DocumentDB", hello.FindString("internal.documentdb_versions.0") ?? hello.FindString("internal.cosmos_versions.0"));

    private static string? NameOf(string product, string? version) =>
        version is null ? null : $"{product} {ForeignText.OneLine(version, LongestName)}";

    private static BsonDocument ReadStatus(MongoConnection connection) =>
        connection.RunUnchecked("admin", BsonDocument.Of(("serverStatus", 1), ("locks", 0), ("tcmalloc", 0)));

    /// <returns>Null for no set, and where a proxy hides the members.</returns>
    private static int? CountMembers(HelloReply server) => server.ReplicaSetName is not null
        && ((string[])["hosts", "passives", "arbiters"]).Sum(list => server.Document.FindDocument(list)?.Count() ?? 0) is > 0 and var count
            ? count : null;
}

/// <param name="Info">What is stored with the run.</param>
/// <param name="DataFolder">Where the server's data lie on this machine; null when elsewhere or unknown.</param>
public sealed record Inspection(DeploymentInfo Info, string? DataFolder)
{
    /// <summary>False for a server (before 6.1) that was started without one, and says so.</summary>
    public bool HasJournal { get; init; } = true;

    /// <summary>Client and server then share CPU, memory and disk.</summary>
    public bool IsOnThisMachine => Info.ProcessId is not null;

    /// <summary>Of the run's user.</summary>
    public UserRights Rights { get; init; } = UserRights.Unknown;

    /// <summary>False for a secondary, which can only be had by directConnection=true.</summary>
    public bool TakesWrites { get; init; } = true;
}
