using MongoPerf.Deployments;
using MongoPerf.Load.Sharding;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Deployments;

/// <summary>What is found out about a server that was given.</summary>
public sealed class GivenDeploymentTests
{
    [Fact]
    public void A_mongod_where_a_mongos_is_needed_is_refused()
    {
        using var mongod = new FakeMongos(isMongos: false);
        var deployment = new GivenDeployment([mongod.Address], ConnectionSettings.Default, mustBeMongos: true);
        var e = Assert.Throws<DeploymentException>(() => deployment.EnsureRunning());
        Assert.Equal(Fault.WrongUsage, e.Fault);
        Assert.StartsWith($"{mongod.Address} is not a mongos, which --topology sharded needs", e.Message, StringComparison.Ordinal);
        Assert.Null(deployment.Cluster);
    }

    [Fact]
    public void The_shards_behind_a_mongos_are_found_with_their_primaries()
    {
        using var mongos = new FakeMongos();
        using var secondary = new LyingServer
        {
            Handshake = exchange => exchange.Reply(BsonDocument.Of(("secondary", true), ("maxWireVersion", 17), ("ok", 1.0))),
        };
        using var primary = new FakeMongos(isMongos: false);
        mongos.Documents["config.shards"] =
        [
            BsonDocument.Of(("_id", "s0"), ("host", $"s0/{secondary.Address},{primary.Address}")),
            BsonDocument.Of(("_id", "s1"), ("host", "s1/127.0.0.1:1,127.0.0.1:2")),
        ];
        var deployment = new GivenDeployment([mongos.Address], ConnectionSettings.Default);
        Assert.False(deployment.EnsureRunning());
        ShardedCluster cluster = deployment.Cluster!;
        Assert.Equal((RouterKind.Mongos, mongos.Address, mongos.Address), (cluster.Router, cluster.RouterAddress, cluster.ConfigAddress));
        // Of a shard that can't be reached from here the first member is named.
        Assert.Equal(
            [new ShardAddress("s0", primary.Address, 2), new ShardAddress("s1", new ServerAddress("127.0.0.1", 1), 2)], cluster.Shards);
        Assert.Same(CommandDialect.Plain, cluster.Dialect);
    }

    [Fact]
    public void A_mongos_without_shards_is_refused_in_one_sentence()
    {
        using var mongos = new FakeMongos();
        var e = Assert.Throws<DeploymentException>(() => new GivenDeployment([mongos.Address], ConnectionSettings.Default).EnsureRunning());
        Assert.Equal($"the cluster of the mongos at {mongos.Address} has no shards, so it can store nothing\n"
            + "hint:  add one with sh.addShard(\"SET/HOST:PORT\")", e.Message);
    }

    [Fact]
    public void A_shard_that_is_down_from_the_start_is_named_at_once()
    {
        using var mongos = new FakeMongos();
        mongos.Documents["config.shards"] = [.. ((string[])["s0", "s1"])
            .Select(name => BsonDocument.Of(("_id", name), ("host", $"{name}/127.0.0.1:1")))];
        BsonDocument recorded = BsonDocument.Of(("replicaSets", BsonDocument.Of(
            ("s0", BsonDocument.Of(("hosts", new[]
            {
                BsonDocument.Of(("addr", "127.0.0.1:48201"), ("ok", false)), BsonDocument.Of(("addr", "127.0.0.1:48211"), ("ok", true)),
            }))),
            ("s1", BsonDocument.Of(("hosts", new[] { BsonDocument.Of(("addr", "127.0.0.1:48202"), ("ok", false)) }))))), ("ok", 1.0));
        mongos.Replies["connPoolStats"] = _ => recorded;
        var deployment = new GivenDeployment([mongos.Address], ConnectionSettings.Default);
        var e = Assert.Throws<DeploymentException>(() => deployment.EnsureRunning());
        Assert.Equal($"shard s1 is down: the mongos at {mongos.Address} reaches none of its members (127.0.0.1:48202)\n"
            + "hint:  start it; a run needs all shards", e.Message);
        mongos.Replies["connPoolStats"] = _ => FakeMongos.Refusal(13, "not authorized on admin to execute command");
        Assert.False(deployment.EnsureRunning());
    }

    [Theory]
    [InlineData(false, "config server cfg is down: the mongos at {0} reaches none of its members (127.0.0.1:48200)\n"
        + "hint:  start it; a run needs it")]
    [InlineData(true, "config server cfg has no primary: the mongos at {0} reaches only secondaries (127.0.0.1:48200)\n"
        + "hint:  start its other members; without a primary nothing can be created, sharded or moved")]
    public void A_config_server_without_a_primary_is_named_before_anything_is_made(bool isUp, string message)
    {
        using var mongos = new FakeMongos();
        mongos.Documents["config.shards"] = [BsonDocument.Of(("_id", "first"), ("host", "s0/127.0.0.1:1"))];
        mongos.Replies["connPoolStats"] = _ => BsonDocument.Of(("replicaSets", BsonDocument.Of(
            ("s0", Hosts(BsonDocument.Of(("addr", "127.0.0.1:1"), ("ok", true), ("ismaster", true)))),
            ("cfg", Hosts(BsonDocument.Of(("addr", "127.0.0.1:48200"), ("ok", isUp), ("ismaster", false)))))), ("ok", 1.0));
        var e = Assert.Throws<DeploymentException>(() => new GivenDeployment([mongos.Address], ConnectionSettings.Default).EnsureRunning());
        Assert.Equal(string.Format(System.Globalization.CultureInfo.InvariantCulture, message, mongos.Address), e.Message);
        Assert.All(mongos.HeardNames, name => Assert.Contains(name, (string[])["ping", "connPoolStats", "getShardMap"]));

        static BsonDocument Hosts(BsonDocument host) => BsonDocument.Of(("hosts", new[] { host }));
    }

    [Fact]
    public void A_shards_new_primary_is_found_when_it_is_looked_for()
    {
        using var mongos = new FakeMongos();
        using var one = new FakeMongos(isMongos: false);
        using var other = new LyingServer
        {
            Handshake = exchange => exchange.Reply(BsonDocument.Of(("secondary", true), ("maxWireVersion", 17), ("ok", 1.0))),
        };
        mongos.Documents["config.shards"] = [BsonDocument.Of(("_id", "s0"), ("host", $"s0/{one.Address},{other.Address}"))];
        var deployment = new GivenDeployment([mongos.Address], ConnectionSettings.Default);
        deployment.EnsureRunning();
        Assert.Equal(one.Address, Assert.Single(deployment.Cluster!.Shards).Primary);
        one.Dispose();
        deployment.Refresh();
        Assert.Equal(one.Address, Assert.Single(deployment.Cluster!.Shards).Primary);
        other.Handshake = exchange => exchange.Reply(LyingServer.Hello(17));
        deployment.Refresh();
        Assert.Equal(other.Address, Assert.Single(deployment.Cluster!.Shards).Primary);
    }

    [Fact]
    public void A_sets_new_primary_is_found_when_it_is_looked_for()
    {
        using var set = new FakeSet(2);
        var deployment = new GivenDeployment(set.Addresses, FakeSet.Settings);
        Assert.Empty(deployment.WatchedSets);
        deployment.EnsureRunning();
        Assert.Equal([new WatchedSet("replica set rs0", set[0].Address)], deployment.WatchedSets);
        (set[0].IsPrimary, set[1].IsPrimary) = (false, true);
        deployment.Refresh();
        Assert.Equal([new WatchedSet("replica set rs0", set[1].Address)], deployment.WatchedSets);
        set[1].IsPrimary = false;
        deployment.Refresh();
        Assert.Equal([new WatchedSet("replica set rs0", set[1].Address)], deployment.WatchedSets);
    }

    [Fact]
    public void A_server_that_is_no_mongos_has_no_shards()
    {
        using var mongod = new FakeMongos(isMongos: false);
        var deployment = new GivenDeployment([mongod.Address], ConnectionSettings.Default);
        deployment.EnsureRunning();
        Assert.Null(deployment.Cluster);
    }

    [Fact]
    public void A_host_that_is_named_directly_is_used_whatever_it_is_and_no_primary_is_looked_for()
    {
        using var set = new FakeSet(2);
        (FakeSet.Member primary, FakeSet.Member secondary) = (set[0], set[1]);
        var deployment = new GivenDeployment([secondary.Address], ConnectionSettings.Default with { IsDirect = true });
        deployment.EnsureRunning();
        Assert.Equal(secondary.Address, deployment.Address);
        var following = new GivenDeployment([secondary.Address], ConnectionSettings.Default);
        following.EnsureRunning();
        Assert.Equal(primary.Address, following.Address);
    }

    [Theory]
    [InlineData("rs0", "other", "this server's replica set is 'rs0', not 'other' (replicaSet=)")]
    [InlineData(null, "other", "this server is not a member of any replica set (replicaSet=other)")]
    [InlineData("rs0", "rs0", null)]
    [InlineData("rs0", null, null)]
    public void Another_replica_set_than_asked_for_is_refused_with_its_name(string? real, string? asked, string? refusal)
    {
        using var set = new FakeSet(1) { SetName = real };
        FakeSet.Member server = set[0];
        var deployment = new GivenDeployment([server.Address], ConnectionSettings.Default with { RequiredSetName = asked });
        if (refusal is null)
            deployment.EnsureRunning();
        else
            Assert.Equal($"{server.Address}: {refusal}", Assert.Throws<DeploymentException>(() => deployment.EnsureRunning()).Message);
    }

    [Fact]
    public void Writes_go_to_the_primary_and_reads_where_their_preference_says()
    {
        using var set = new FakeSet(2);
        var deployment = new GivenDeployment([set[1].Address], FakeSet.Settings);
        Assert.False(deployment.EnsureRunning());
        Assert.Equal(set[0].Address, deployment.Address);
        Assert.Equal(set[0].Address, deployment.Select(ReadPreference.Primary, 0));
        Assert.Equal(set[1].Address, deployment.Select(ReadPreference.Of("secondary"), 0));
    }

    [Fact]
    public void A_set_that_loses_its_primary_in_the_middle_of_a_run_is_read_from_all_the_same()
    {
        using var set = new FakeSet(2);
        var deployment = new GivenDeployment([set[0].Address], FakeSet.Settings);
        deployment.EnsureRunning();
        set[0].IsPrimary = false;
        deployment.EnsureRunning();
        Assert.Contains("no primary, so no member accepts writes",
            Assert.Throws<NoServerException>(() => deployment.Select(ReadPreference.Primary, 0)).Message, StringComparison.Ordinal);
        Assert.Equal(set[0].Address,
            deployment.Select(ReadPreference.Of("secondary") with { TagSets = [new Dictionary<string, string> { ["n"] = "0" }] }, 0));
        // A run that begins needs one.
        var late = new GivenDeployment([set[0].Address], FakeSet.Settings);
        Assert.Contains("no primary, so no member accepts writes",
            Assert.Throws<DeploymentException>(() => late.EnsureRunning()).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_hint_comes_with_names_that_lead_nowhere()
    {
        using var set = new FakeSet(1) { Names = ["nowhere.invalid:27017"] };
        var e = Assert.Throws<DeploymentException>(() => new GivenDeployment([set[0].Address], FakeSet.Settings).EnsureRunning());
        Assert.Equal(Fault.CannotConnect, e.Fault);
        Assert.Contains($"\nhint:  make these names resolve on this machine, or add directConnection=true to use {set[0].Address} alone",
            e.Message, StringComparison.Ordinal);
        new GivenDeployment([set[0].Address], FakeSet.Settings with { IsDirect = true }).EnsureRunning();
    }

    [Fact]
    public void A_server_without_the_compressors_asked_for_is_remarked_on()
    {
        using var server = new LyingServer();
        ConnectionSettings settings = ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?compressors=zlib"));
        var deployment = new GivenDeployment([server.Address], settings);
        deployment.EnsureRunning();
        Assert.Equal("the server supports none of the requested compressors (zlib): messages are not compressed",
            Assert.Single(deployment.Remarks));
        var plain = new GivenDeployment([server.Address], ConnectionSettings.Default);
        plain.EnsureRunning();
        Assert.Empty(plain.Remarks);
    }
}
