using MongoPerf.Deployments;
using MongoPerf.Load.Sharding;
using MongoPerf.Reports.Access;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Deployments;

/// <summary>What is found out about a deployment and its user when a run begins, and how it is told in a line.</summary>
public sealed class AccessTests : IDisposable
{
    private readonly FakeMongos _mongos = new();
    private readonly FakeMongos _shard = new(isMongos: false);

    public AccessTests() =>
        _mongos.Documents["config.shards"] = [.. ((string[])["s0", "s1", "s2"])
            .Select(name => BsonDocument.Of(("_id", name), ("host", $"{name}/{_shard.Address}")))];

    public void Dispose()
    {
        _mongos.Dispose();
        _shard.Dispose();
    }

    [Fact]
    public void A_user_of_the_cluster_alone_is_told_what_the_shards_do_not_tell_him()
    {
        LogIn(_mongos, [("readWrite", "shop"), ("clusterMonitor", "admin")],
            On("shop", "insert", "find", "collStats"), OnCluster("serverStatus"), On("config", "find"));
        _shard.Replies["saslStart"] = _ => FakeMongos.Refusal(18, "Authentication failed.");
        Assert.Equal(
            "3 shards behind 1 mongos, (version unknown); as 'loader' (readWrite on shop, clusterMonitor): sizes by shard yes, sizes "
            + "as of the server's last checkpoint (fsync needs role hostManager), server state by shard no (needs a user on the shards: "
            + "--shard-user), use of indexes and orphaned bytes by shard no (needs role clusterMonitor), checkpoints read back "
            + "(appendOplogNote needs role clusterManager)",
            AccessText.Of(Inspect(Login).Info));
    }

    [Fact]
    public void A_user_of_the_shards_sees_their_state()
    {
        LogIn(_mongos, [("root", "admin")], Anything("collStats", "fsync", "appendOplogNote", "serverStatus",
            "find", "indexStats", "shardedDataDistribution"));
        Assert.Equal("3 shards behind 1 mongos, (version unknown); as 'loader' (root): sizes by shard yes, server state by shard yes",
            AccessText.Of(Inspect(ConnectionSettings.Default).Info));
        Assert.Equal(DirectAccess.Allowed, Find(ConnectionSettings.Default).Cluster!.Direct);
    }

    [Fact]
    public void Shards_are_logged_in_to_as_their_own_user_where_one_is_named()
    {
        string? user = null;
        _shard.Replies["saslStart"] = command =>
        {
            user = System.Text.Encoding.UTF8.GetString(command.Find("payload")!.Value.Bytes.Span);
            return FakeMongos.Refusal(18, "Authentication failed.");
        };
        ConnectionSettings settings = ConnectionSettings.Default with { ShardCredential = MongoCredential.OfAdmin("monitor", "secret") };
        Assert.Equal(DirectAccess.NoUser, Find(settings).Cluster!.Direct);
        Assert.Contains("n=monitor", user, StringComparison.Ordinal);
    }

    [Fact]
    public void A_user_who_may_not_read_config_runs_all_the_same_and_is_told_so()
    {
        LogIn(_mongos, [("readWrite", "shop")], On("shop", "insert", "find", "collStats"));
        _mongos.Replies["find"] = _ => FakeMongos.Refusal(13, "not authorized on config to execute command { find: \"shards\" }");
        _mongos.Replies["serverStatus"] = _ => FakeMongos.Refusal(13, "not authorized on admin to execute command { serverStatus: 1 }");
        DeploymentInfo info = Inspect(ConnectionSettings.Default).Info;
        Assert.Equal((Topology.Sharded, null, null), (info.Topology, info.ShardCount, info.Members));
        Assert.Equal(
            [AccessFeature.FreshSizes, AccessFeature.ServerState, AccessFeature.ShardState, AccessFeature.ShardList,
                AccessFeature.IndexUse, AccessFeature.DataDistribution, AccessFeature.DurableNotes],
            info.Access!.Missing.Select(one => one.Feature));
        Assert.StartsWith("a cluster behind 1 mongos, (version unknown); as 'loader' (readWrite on shop): collection sizes yes, sizes as "
            + "of the server's last checkpoint (fsync needs role hostManager), the router's state no (needs role clusterMonitor), "
            + "shards, their state, chunks and migrations no (needs role clusterMonitor), ", AccessText.Of(info), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("6.0.5", "use of indexes by shard no (needs role clusterMonitor), checkpoints")]
    [InlineData("5.0.30", "shard no (needs role clusterMonitor), orphaned bytes by shard no (the server does not tell), checkpoints")]
    public void Orphaned_bytes_came_with_6(string version, string line)
    {
        LogIn(_mongos, [("custom", "admin")], On("shop", "collStats"), OnCluster("fsync", "serverStatus", "shardedDataDistribution"),
            On("config", "find"));
        _mongos.Replies["buildInfo"] = _ => BsonDocument.Of(("version", version), ("ok", 1.0));
        Assert.Contains(line, AccessText.Of(Inspect(ConnectionSettings.Default).Info), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("8.0.4", "7.0.12", "the mongos is MongoDB 8.0.4, and shard s0 7.0.12: figures are of that mixture, which MongoDB supports "
        + "during an upgrade only")]
    [InlineData("8.0.4", "8.0.1", null)]
    [InlineData("8.0.4", "newest", null)]
    public void A_mongos_of_another_version_than_its_shards_is_remarked_on(string mongos, string shard, string? remark)
    {
        _mongos.Replies["buildInfo"] = _ => BsonDocument.Of(("version", mongos), ("ok", 1.0));
        _shard.Replies["serverStatus"] = _ => BsonDocument.Of(("version", shard), ("ok", 1.0));
        Assert.Equal(remark, Inspect(ConnectionSettings.Default).Info.Remarks.SingleOrDefault());
    }

    [Fact]
    public void A_shard_that_is_listed_twice_is_one()
    {
        BsonDocument shard = BsonDocument.Of(("_id", "s0"), ("host", $"s0/{_shard.Address}"));
        _mongos.Documents["config.shards"] = [shard, shard];
        Assert.Equal("s0", Assert.Single(Find(ConnectionSettings.Default).Cluster!.Shards).Name);
    }

    [Fact]
    public void Shards_that_this_client_can_not_reach_are_asked_for_nothing()
    {
        _mongos.Documents["config.shards"] = [BsonDocument.Of(("_id", "s0"), ("host", "s0/127.0.0.1:1"))];
        Assert.Contains("server state by shard no (the shards can't be reached from here)",
            AccessText.Of(Inspect(ConnectionSettings.Default).Info), StringComparison.Ordinal);
    }

    [Fact]
    public void A_single_server_says_what_its_user_lacks_and_one_that_lacks_nothing_says_nothing()
    {
        using var mongod = new FakeMongos(isMongos: false);
        mongod.Replies["serverStatus"] = _ => BsonDocument.Of(("wiredTiger", BsonDocument.Empty), ("ok", 1.0));
        var deployment = new GivenDeployment([mongod.Address], ConnectionSettings.Default);
        Assert.Null(AccessText.Of(Inspect(deployment, ConnectionSettings.Default).Info));
        LogIn(mongod, [("readWrite", "shop")], On("shop", "insert", "find", "collStats"));
        mongod.Replies["serverStatus"] = _ => FakeMongos.Refusal(13, "not authorized on admin to execute command { serverStatus: 1 }");
        Assert.Equal("as 'loader' (readWrite on shop): collection sizes yes, sizes as of the server's last checkpoint (fsync needs role "
            + "hostManager), server state no (needs role clusterMonitor)",
            AccessText.Of(Inspect(deployment, ConnectionSettings.Default).Info));
        LogIn(mongod, [("limited", "shop")], On("shop", "insert", "find"));
        Assert.Equal(
            "as 'loader' (limited on shop): collection sizes no (needs role read on shop), server state no (needs role clusterMonitor)",
            AccessText.Of(Inspect(deployment, ConnectionSettings.Default).Info));
    }

    [Fact]
    public void A_stand_in_is_called_by_its_own_name_and_its_gaps_are_not_the_users()
    {
        using var server = new FakeMongos(isMongos: false);
        server.Replies["buildInfo"] = _ =>
            BsonDocument.Of(("version", "7.0.42"), ("ferretdb", BsonDocument.Of(("version", "v2.1.0"))), ("ok", 1.0));
        server.Replies["serverStatus"] = _ => FakeMongos.Refusal(59, "no such command: 'serverStatus'");
        DeploymentInfo info = Inspect(new GivenDeployment([server.Address], ConnectionSettings.Default), ConnectionSettings.Default).Info;
        Assert.Equal(("FerretDB v2.1.0", "7.0.42"), (info.StandIn, info.ServerVersion));
        Assert.Equal("without a login: collection sizes yes, server state no (the server does not tell)", AccessText.Of(info));
    }

    [Fact]
    public void A_server_that_refuses_buildInfo_and_connectionStatus_is_run_on_all_the_same()
    {
        using var server = new FakeMongos(isMongos: false);
        foreach (string command in (string[])["buildInfo", "connectionStatus", "getCmdLineOpts", "serverStatus"])
            server.Replies[command] = _ => FakeMongos.Refusal(13, $"not authorized on admin to execute command {{ {command}: 1 }}");
        Inspection inspection = Inspect(new GivenDeployment([server.Address], ConnectionSettings.Default), ConnectionSettings.Default);
        Assert.Equal(("unknown", null), (inspection.Info.ServerVersion, inspection.Info.Auth));
        Assert.False(inspection.Rights.AreKnown);
        // It may run here: whose time the other processes use is not known then, and not said.
        Assert.True(inspection.Info.MayBeHere);
    }

    private ConnectionSettings Login => ConnectionSettings.Default with { ShardCredential = MongoCredential.OfAdmin("loader", "secret") };

    private GivenDeployment Find(ConnectionSettings settings)
    {
        var deployment = new GivenDeployment([_mongos.Address], settings);
        deployment.EnsureRunning();
        return deployment;
    }

    private Inspection Inspect(ConnectionSettings settings) => Inspect(Find(settings), settings);

    private static Inspection Inspect(GivenDeployment deployment, ConnectionSettings settings)
    {
        deployment.EnsureRunning();
        return DeploymentInspector.Inspect(deployment, settings, "shop.docs");
    }

    /// <summary>As a mongod of 6.0 answers connectionStatus.</summary>
    private static void LogIn(FakeMongos server, (string Role, string Database)[] roles, params BsonDocument[] privileges) =>
        server.Replies["connectionStatus"] = _ => BsonDocument.Of(
            ("authInfo", BsonDocument.Of(
                ("authenticatedUsers", new[] { BsonDocument.Of(("user", "loader"), ("db", "admin")) }),
                ("authenticatedUserRoles", roles.Select(role => BsonDocument.Of(("role", role.Role), ("db", role.Database))).ToArray()),
                ("authenticatedUserPrivileges", privileges))),
            ("ok", 1.0));

    private static BsonDocument On(string database, params string[] actions) => BsonDocument.Of(
        ("resource", BsonDocument.Of(("db", database), ("collection", ""))), ("actions", actions));

    private static BsonDocument OnCluster(params string[] actions) =>
        BsonDocument.Of(("resource", BsonDocument.Of(("cluster", true))), ("actions", actions));

    private static BsonDocument Anything(params string[] actions) =>
        BsonDocument.Of(("resource", BsonDocument.Of(("anyResource", true))), ("actions", actions));
}
