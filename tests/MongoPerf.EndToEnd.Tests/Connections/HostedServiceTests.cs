using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>
/// Services that stand for a mongod: each answers and refuses as such services are known to, and a small series ends well on it, says what
/// it did without, and claims nothing that nobody told.
/// </summary>
/// <remarks>Sources: the services' lists of unsupported commands, and replies in public issues of drivers and tools.</remarks>
[Collection(LightTests.Name)]
public sealed class HostedServiceTests : IDisposable
{
    /// <summary>What no service here tells, and a report must not guess.</summary>
    private static readonly string[] NeverSaid =
        ["the server is elsewhere", "other programs used", "MongoDB unknown", "internal error", "requires a login", "is a firewall"];

    private static readonly BsonDocument Nobody = BsonDocument.Of(("authInfo", BsonDocument.Of(
        ("authenticatedUsers", Array.Empty<object>()), ("authenticatedUserRoles", Array.Empty<object>()))), ("ok", 1.0));

    private static readonly Dictionary<string, Service> Services = new()
    {
        ["shared tier: proxy refuses administration with its own code 8000"] = new(
            new HostedShape
            {
                Hello = address => [.. SetOf("atlas-x1-shard-0", address), ("maxWireVersion", 25)],
                Answer = (name, _) => name switch
                {
                    "buildInfo" => Version("8.0.4"),
                    "serverStatus" => BsonDocument.Of(("version", "8.0.4"), ("connections", BsonDocument.Of(("current", 12),
                        ("available", 488))), ("opcounters", BsonDocument.Of(("insert", 1L), ("query", 1L))), ("ok", 1.0)),
                    "connectionStatus" => LoggedIn(("readWriteAnyDatabase", "admin"), On("", "", "find", "insert", "update", "remove",
                        "createCollection", "createIndex", "collStats")),
                    "fsync" or "getCmdLineOpts" or "replSetGetStatus" or "validate" or "hostInfo" or "getParameter" =>
                        HostedShape.Refused(8000, "AtlasError", $"user is not allowed to do action [{name}] on [admin.]"),
                    _ => null,
                },
            },
            "replica set of 1", "8.0.4", "as 'loader' (readWriteAnyDatabase): collection sizes yes, sizes as of the server's last "
            + "checkpoint (fsync needs role hostManager), server state in part (no cache, checkpoints or tickets)"),
        ["serverless: load balancer with a serviceId, nothing of the cluster"] = new(
            new HostedShape
            {
                Hello = _ => [("serviceId", ObjectId.Parse("64d1f0000000000000000001")), ("msg", "isdbgrid"), ("maxWireVersion", 25)],
                Answer = (name, body) => name switch
                {
                    "buildInfo" => Version("8.0.4"),
                    "connectionStatus" => LoggedIn(("readWriteAnyDatabase", "admin"), On("", "", "find", "insert", "update", "remove",
                        "createCollection", "createIndex", "collStats")),
                    "serverStatus" or "fsync" or "connPoolStats" or "getCmdLineOpts" or "listShards" or "balancerStatus" =>
                        HostedShape.Refused(8000, "AtlasError", $"{name} is not allowed or the syntax is incorrect, see the Atlas "
                            + "documentation for more information"),
                    "find" when body.FindString("$db") == "config" => HostedShape.Refused(8000, "AtlasError",
                        "user is not allowed to do action [find] on [config.shards]"),
                    _ => null,
                },
            },
            "sharded", "8.0.4", "a cluster behind 1 mongos, 8.0.4; as 'loader' (readWriteAnyDatabase): collection sizes yes, ",
            "the router's state no (the server does not tell), shards, their state, chunks and migrations no (the server "
            + "does not tell)") { Options = "loadBalanced=true" },
        ["dedicated: a whole set, no host commands"] = new(
            new HostedShape
            {
                Hello = address => [.. SetOf("atlas-d1-shard-0", address), ("maxWireVersion", 21)],
                Answer = (name, _) => name switch
                {
                    "buildInfo" => Version("7.0.15"),
                    "fsync" => HostedShape.Refused(13, "Unauthorized",
                        "not authorized on admin to execute command { fsync: 1, lsid: { id: UUID(\"0\") } }"),
                    "serverStatus" => BsonDocument.Of(("version", "7.0.15"), ("wiredTiger", BsonDocument.Of(("cache",
                        BsonDocument.Of(("maximum bytes configured", 1L << 30))))), ("ok", 1.0)),
                    "connectionStatus" => LoggedIn(("atlasAdmin", "admin"), On("", "", "find", "insert", "update", "remove",
                        "createCollection", "createIndex", "collStats", "validate"), OnCluster("serverStatus", "replSetGetStatus")),
                    _ => null,
                },
            },
            "replica set of 1", "7.0.15", "as 'loader' (atlasAdmin): collection sizes yes, sizes as of the server's last checkpoint "
            + "(fsync needs role hostManager), server state yes"),
        ["another vendor's engine: no $collStats, no checkpoint, features refused with 303"] = new(
            new HostedShape
            {
                Hello = address => [.. SetOf("rs0", address), ("maxWireVersion", 13)],
                Answer = (name, body) => name switch
                {
                    "buildInfo" => Version("5.0.0"),
                    "serverStatus" => BsonDocument.Of(("version", "5.0.0"), ("uptime", 100.0), ("ok", 1.0)),
                    "fsync" or "getCmdLineOpts" or "replSetGetStatus" or "validate" =>
                        HostedShape.Refused(303, "", $"Feature not supported: {name}"),
                    "aggregate" when body.FindDocument("pipeline.0.$collStats") is not null =>
                        HostedShape.Refused(304, "", "Aggregation stage not supported: '$collStats'"),
                    "connectionStatus" => Nobody,
                    _ => null,
                },
            },
            "replica set of 1", "5.0.0", "without a login: collection sizes yes, server state in part (no cache, checkpoints or tickets)",
            "sizes may be out of date: the server takes no checkpoint on request (fsync)"),
        ["document store over a relational one: a router by its hello, without shards"] = new(
            new HostedShape
            {
                Hello = _ => [("msg", "isdbgrid"), ("maxWireVersion", 21), ("internal",
                    BsonDocument.Of(("documentdb_versions", new[] { "1.111-0", "1.112.0" }), ("kind", "azuredocumentdb")))],
                Answer = (name, body) => name switch
                {
                    "buildInfo" => Version("7.0.0"),
                    "serverStatus" or "fsync" or "connPoolStats" or "getCmdLineOpts" or "listShards" or "balancerStatus" =>
                        HostedShape.Refused(115, "CommandNotSupported", $"Command {name} not supported."),
                    "find" when body.FindString("$db") == "config" => Cursor("config.shards"),
                    "connectionStatus" => Nobody,
                    _ => null,
                },
            },
            "sharded", "7.0.0", "DocumentDB 1.111-0", "the router's state no (the server does not tell), shards, their state, chunks and "
            + "migrations no (the server does not tell)"),
        ["request-unit store: knows isMaster and no hello, no connectionStatus"] = new(
            new HostedShape
            {
                Hello = address => [.. SetOf("globaldb", address), ("maxWireVersion", 9)],
                Answer = (name, body) => name switch
                {
                    "hello" => HostedShape.Refused(115, "CommandNotSupported", "Command Hello not supported prior to authentication"),
                    "buildInfo" => Version("4.2.0"),
                    "connectionStatus" or "serverStatus" or "fsync" or "getCmdLineOpts" or "replSetGetStatus" or "hostInfo" or "explain" =>
                        HostedShape.Refused(115, "CommandNotSupported", $"Command {name} not supported."),
                    "aggregate" when body.FindDocument("pipeline.0.$collStats") is not null =>
                        HostedShape.Refused(40324, "Location40324", "Unrecognized pipeline stage name: '$collStats'"),
                    _ => null,
                },
            },
            "replica set of 1", "4.2.0", "server state no (the server does not tell)",
            "q4: the server gives no query plan, so index and documents examined are unknown"),
        ["stand-in with a name of its own, no serverStatus"] = new(
            new HostedShape
            {
                Answer = (name, _) => name switch
                {
                    "buildInfo" => BsonDocument.Of(
                        ("version", "7.0.77"), ("ferretdb", BsonDocument.Of(("version", "v2.1.0"))), ("ok", 1.0)),
                    "serverStatus" or "fsync" or "replSetGetStatus" or "validate" =>
                        HostedShape.Refused(59, "CommandNotFound", $"no such command: '{name}'"),
                    "connectionStatus" => Nobody,
                    _ => null,
                },
            },
            "standalone", "7.0.77", "FerretDB v2.1.0"),
        ["managed set: owner of one database, nothing of the server"] = new(
            new HostedShape
            {
                Hello = address => [.. SetOf("RS-shop-0", address), ("maxWireVersion", 17)],
                Answer = (name, _) => name switch
                {
                    "buildInfo" => Version("6.0.16"),
                    "serverStatus" or "fsync" or "getCmdLineOpts" or "replSetGetStatus" or "hostInfo" =>
                        HostedShape.Refused(13, "Unauthorized", $"not authorized on admin to execute command {{ {name}: 1 }}"),
                    "connectionStatus" => LoggedIn(("dbOwner", "shop"), On("shop", "", "find", "insert", "update", "remove",
                        "createCollection", "createIndex", "collStats", "validate")),
                    _ => null,
                },
            },
            "replica set of 1", "6.0.16", "as 'loader' (dbOwner on shop): collection sizes yes",
            "server state no (needs role clusterMonitor)"),
        ["proxy that hides the members of the set"] = new(
            new HostedShape
            {
                Hello = _ => [("setName", "rs0"), ("hosts", null), ("primary", null), ("me", null), ("maxWireVersion", 17)],
                Answer = (name, _) => name switch
                {
                    "buildInfo" => Version("6.0.16"),
                    "getCmdLineOpts" or "replSetGetStatus" =>
                        HostedShape.Refused(13, "Unauthorized", $"not authorized on admin to execute command {{ {name}: 1 }}"),
                    _ => null,
                },
            },
            "replica set", "6.0.16", "server state in part"),
        ["service that tells nothing: no buildInfo, no statistics, no lists"] = new(
            new HostedShape
            {
                Hello = _ => [("maxWireVersion", 8), ("logicalSessionTimeoutMinutes", null)],
                Answer = (name, body) => name switch
                {
                    "buildInfo" or "serverStatus" or "collStats" or "listIndexes" or "connectionStatus" or "getCmdLineOpts" or "fsync"
                        or "explain" or "validate" => HostedShape.Refused(59, "CommandNotFound", $"no such command: '{name}'"),
                    "aggregate" when body.FindDocument("pipeline.0.$collStats") is not null =>
                        HostedShape.Refused(59, "CommandNotFound", "no such command: 'aggregate'"),
                    _ => null,
                },
            },
            "standalone", "unknown", "MongoDB (version unknown) standalone", "server state no (the server does not tell)",
            "no sizes of shop.series: the server does not tell them, or not to this user"),
        ["MongoDB newer than this program knows, with everything elsewhere"] = new(
            new HostedShape
            {
                Answer = (name, _) => name switch
                {
                    "buildInfo" => Version("9.1.0"),
                    "serverStatus" => BsonDocument.Of(("version", "9.1.0"), ("uptime", 100.0), ("wiredTiger", BsonDocument.Empty),
                        ("ok", 1.0)),
                    "connectionStatus" => Nobody,
                    _ => null,
                },
            },
            "standalone", "9.1.0", "warning: inserted documents, queries, ", "write conflicts: not found in serverStatus of MongoDB 9.1.0, "
            + "which is newer than 8.0, the newest that MongoPerf knows"),
        ["emulator that refuses without a code"] = new(
            new HostedShape
            {
                Answer = (name, body) => name switch
                {
                    "buildInfo" => Version("4.4.0"),
                    "serverStatus" or "connectionStatus" or "getCmdLineOpts" or "fsync" or "explain" or "validate" =>
                        HostedShape.Refused(0, "", "no such cmd: " + name),
                    "aggregate" when body.FindDocument("pipeline.0.$collStats") is not null =>
                        HostedShape.Refused(0, "", "unknown pipeline stage"),
                    _ => null,
                },
            },
            "standalone", "4.4.0", "server state no (the server does not tell)"),
    };

    private readonly RunsFolder _runs = new();

    public static TheoryData<string> Names => [.. Services.Keys];

    public void Dispose() => _runs.Dispose();

    [Theory]
    [MemberData(nameof(Names))]
    public void A_small_series_ends_well_and_says_what_it_did_without(string name)
    {
        Service service = Services[name];
        using var server = new HostedServer(service.Shape);
        ProgramResult result = ProgramRun.Run(
            "series", "--target", "600", "--step", "300", "--tests", "unack,batch,safe,q4,size", "--window", "0.4s", "--rate", "40",
            "--max-skipped", "100%", "--threads", "1", "--db", "shop", "--full", "--uri", $"mongodb://{server.Address}/?{service.Options}",
            "--out", _runs.Path).Expect(0);
        foreach (string said in service.Says)
            Assert.True(result.All.Contains(said, StringComparison.Ordinal), $"no {said} in {result.All}");
        foreach (string said in NeverSaid)
            Assert.DoesNotContain(said, result.All, StringComparison.Ordinal);
        JsonElement deployment = ProgramRun.Run("report", _runs.Id, "--format", "json", "--out", _runs.Path).Report()
            .GetProperty("deployment");
        Assert.Equal((service.Topology, service.Version), (Topology(deployment), deployment.Text("serverVersion")));
        Assert.False(deployment.GetProperty("isEmbedded").GetBoolean());
    }

    private static string Topology(JsonElement deployment) => deployment.Text("topology")
        + (deployment.GetProperty("members") is { ValueKind: JsonValueKind.Number } members ? $" of {members}" : "");

    private static (string, object?)[] SetOf(string name, string address) =>
        [("setName", name), ("hosts", new[] { address }), ("me", address), ("primary", address), ("secondary", false)];

    private static BsonDocument Version(string version) => BsonDocument.Of(("version", version), ("ok", 1.0));

    private static BsonDocument Cursor(string ns) => BsonDocument.Of(
        ("cursor", BsonDocument.Of(("firstBatch", Array.Empty<object>()), ("id", 0L), ("ns", ns))), ("ok", 1.0));

    private static BsonDocument LoggedIn((string Role, string Database) role, params BsonDocument[] privileges) =>
        BsonDocument.Of(("authInfo", BsonDocument.Of(
            ("authenticatedUsers", new[] { BsonDocument.Of(("user", "loader"), ("db", "admin")) }),
            ("authenticatedUserRoles", new[] { BsonDocument.Of(("role", role.Role), ("db", role.Database)) }),
            ("authenticatedUserPrivileges", privileges))), ("ok", 1.0));

    private static BsonDocument On(string database, string collection, params string[] actions) => BsonDocument.Of(
        ("resource", BsonDocument.Of(("db", database), ("collection", collection))), ("actions", actions));

    private static BsonDocument OnCluster(params string[] actions) =>
        BsonDocument.Of(("resource", BsonDocument.Of(("cluster", true))), ("actions", actions));

    /// <param name="Shape">What it answers.</param>
    /// <param name="Topology">What the run takes it for.</param>
    /// <param name="Version">Its version as it tells it.</param>
    /// <param name="Says">What a reader is told.</param>
    private sealed record Service(HostedShape Shape, string Topology, string Version, params string[] Says)
    {
        /// <summary>Options of the connection string.</summary>
        public string Options { get; init; } = "";
    }
}
