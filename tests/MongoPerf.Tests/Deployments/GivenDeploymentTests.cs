using MongoPerf.Deployments;
using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

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
        Assert.Equal(DeploymentFault.WrongUsage, e.Fault);
        Assert.StartsWith($"{mongod.Address} is no mongos, and --topology sharded needs one", e.Message, StringComparison.Ordinal);
        Assert.Null(deployment.Cluster);
    }

    [Fact]
    public void The_shards_behind_a_mongos_are_found_with_their_primaries()
    {
        using var mongos = new FakeMongos();
        using var secondary = new LyingServer { Handshake = exchange => exchange.Reply(BsonDocument.Of(("secondary", true), ("maxWireVersion", 17), ("ok", 1.0))) };
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
        Assert.Equal([new ShardAddress("s0", primary.Address), new ShardAddress("s1", new ServerAddress("127.0.0.1", 1))], cluster.Shards);
        Assert.Same(CommandDialect.Plain, cluster.Dialect);
    }

    [Fact]
    public void A_server_that_is_no_mongos_has_no_shards()
    {
        using var mongod = new FakeMongos(isMongos: false);
        var deployment = new GivenDeployment([mongod.Address], ConnectionSettings.Default);
        deployment.EnsureRunning();
        Assert.Null(deployment.Cluster);
    }
}
