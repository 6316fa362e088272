using System.Text;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Deployments.Clusters;

/// <summary>What is said to servers while a cluster is put together, and that no step is done twice.</summary>
public sealed class ClusterFormationTests : IDisposable
{
    private static readonly BsonDocument Done = BsonDocument.Of(("ok", 1.0));
    private static readonly ServerAddress Shard = new("127.0.0.1", 21_002);

    private readonly LyingServer _server = new();
    private readonly LyingServer _router = new();
    private readonly Lock _lock = new();
    private readonly List<string> _said = [];
    private BsonDocument _last = BsonDocument.Empty;

    public void Dispose()
    {
        _server.Dispose();
        _router.Dispose();
    }

    [Fact]
    public void A_mongos_is_told_by_its_own_commands()
    {
        Answer(_server,
            command => command.Find("listShards") is null ? Done : BsonDocument.Of(("shards", Array.Empty<BsonDocument>()), ("ok", 1.0)));
        new ShardRegistry(RouterKind.Mongos, _server.Address).Add("s0", [Shard, Shard with { Port = 21_003 }]);
        Assert.Equal(["listShards 1", "addShard s0/127.0.0.1:21002,127.0.0.1:21003 name s0"], _said);
    }

    [Fact]
    public void A_config_server_is_told_what_mongos_would_tell_it()
    {
        Answer(_server, command => command.Find("find") is null ? Done : Cursor());
        new ShardRegistry(RouterKind.RoutingMongod, _server.Address).Add("s0", [Shard]);
        Assert.Equal(["find shards", "_configsvrAddShard s0/127.0.0.1:21002 name s0 writeConcern"], _said);
    }

    [Theory]
    [InlineData(RouterKind.Mongos)]
    [InlineData(RouterKind.RoutingMongod)]
    public void A_shard_that_is_known_is_not_added_again(RouterKind router)
    {
        BsonDocument s0 = BsonDocument.Of(("_id", "s0"));
        Answer(_server, _ => router == RouterKind.Mongos ? BsonDocument.Of(("shards", new[] { s0 }), ("ok", 1.0)) : Cursor(s0));
        new ShardRegistry(router, _server.Address).Add("s0", [Shard]);
        Assert.Single(_said);
    }

    [Theory]
    [InlineData(RouterKind.Mongos, "n=mongoperf,")]
    [InlineData(RouterKind.RoutingMongod, "n=__system,")]
    public void A_mongos_is_logged_in_to_as_a_user_and_a_config_server_as_servers_do_it_among_themselves(RouterKind router, string user)
    {
        using var folder = new TemporaryFolder();
        Directory.CreateDirectory(folder.Path);
        var security = new SecurityFiles(folder.Path, auth: true, tls: false);
        security.Ensure();
        string heard = "";
        _server.Handshake = exchange =>
        {
            heard += Encoding.Latin1.GetString(exchange.Request);
            exchange.Reply(LyingServer.Hello(17));
        };
        _server.Answer = exchange =>
        {
            heard += Encoding.Latin1.GetString(exchange.Request);
            exchange.Reply(FakeMongos.Refusal(20, "Can't use 'local' database through mongos"));
        };
        // Once is enough to see who comes.
        Assert.Throws<DeploymentException>(() => new ShardRegistry(
            router, _server.Address, () => throw DeploymentException.WrongUsage("it has ended", "start it"), security).Add("s0", [Shard]));
        Assert.Contains(user, heard, StringComparison.Ordinal);
    }

    [Fact]
    public void A_refusal_that_passes_is_asked_again()
    {
        int refusals = 2;
        Answer(_server, command => command.Find("find") is not null ? Cursor()
            : refusals-- > 0
            ? BsonDocument.Of(("ok", 0.0), ("code", 133), ("codeName", "FailedToSatisfyReadPreference"), ("errmsg", "no primary yet"))
            : Done);
        new ShardRegistry(RouterKind.RoutingMongod, _server.Address).Add("s0", [Shard]);
        Assert.Equal(3, _said.Count(said => said.StartsWith("_configsvrAddShard", StringComparison.Ordinal)));
    }

    [Fact]
    public void A_router_of_its_own_is_added_and_removed_until_that_is_complete()
    {
        bool isShard = false;
        int removals = 0;
        Answer(_router, _ => Cursor());
        Answer(_server, command =>
        {
            if (command.Find("find") is not null)
                return isShard ? Cursor(BsonDocument.Of(("_id", "router"))) : Cursor();
            isShard = true;
            return command.Find("_configsvrRemoveShard") is null ? Done
                : BsonDocument.Of(("state", ++removals < 2 ? "started" : "completed"), ("ok", 1.0));
        });
        new ShardRegistry(RouterKind.RoutingMongod, _server.Address).Introduce("router", _router.Address);
        Assert.Equal("find system.version filter limit 1 singleBatch true", _said[0]);
        Assert.Equal(
            [
                $"_configsvrAddShard router/{_router.Address} name router writeConcern",
                "_configsvrRemoveShard router writeConcern",
                "_configsvrRemoveShard router writeConcern",
            ],
            _said.Where(said => said.StartsWith('_')));
    }

    [Fact]
    public void A_router_that_knows_its_cluster_is_not_added_again_and_one_that_is_a_shard_still_is_removed()
    {
        bool isShard = false;
        Answer(_router, _ => Cursor(BsonDocument.Of(("_id", "shardIdentity"))));
        Answer(_server, command => command.Find("find") is null ? BsonDocument.Of(("state", "completed"), ("ok", 1.0))
            : isShard ? Cursor(BsonDocument.Of(("_id", "router"))) : Cursor());
        var registry = new ShardRegistry(RouterKind.RoutingMongod, _server.Address);
        registry.Introduce("router", _router.Address);
        Assert.DoesNotContain(_said, said => said.StartsWith('_'));
        // Killed between the two steps.
        isShard = true;
        registry.Introduce("router", _router.Address);
        Assert.Equal(["_configsvrRemoveShard router writeConcern"], _said.Where(said => said.StartsWith('_')));
    }

    [Fact]
    public void A_new_replica_set_is_initiated_once_and_waited_for()
    {
        bool isInitiated = false;
        _server.Handshake = exchange => exchange.Reply(isInitiated
            ? LyingServer.Hello(17)
            : BsonDocument.Of(("ismaster", false), ("isreplicaset", true), ("maxWireVersion", 17), ("ok", 1.0)));
        Answer(_server, _ =>
        {
            isInitiated = true;
            return Done;
        });
        Assert.Equal(_server.Address, new ReplicaSet("cfg", [_server.Address], isConfigServer: true).EnsurePrimary());
        Assert.Equal(["replSetInitiate"], _said);
        Assert.Equal(
            $$"""{ "_id": "cfg", "configsvr": true, "members": [ { "_id": 0, "host": "{{_server.Address}}" } ] }"""
                .Replace(" ", "", StringComparison.Ordinal),
            ExtendedJson.Write(_last.FindDocument("replSetInitiate")!.Bytes).Replace(" ", "", StringComparison.Ordinal));
    }

    [Fact]
    public void Members_that_wait_for_one_another_are_asked_to_stand_for_election()
    {
        bool isElected = false;
        BsonDocument secondary = BsonDocument.Of(
            ("ismaster", false), ("secondary", true), ("setName", "s0"), ("maxWireVersion", 17), ("ok", 1.0));
        _server.Handshake = exchange => exchange.Reply(isElected ? LyingServer.Hello(17) : secondary);
        _router.Handshake = exchange => exchange.Reply(secondary);
        Answer(_server, _ =>
        {
            isElected = true;
            return Done;
        });
        Assert.Equal(_server.Address, new ReplicaSet("s0", [_server.Address, _router.Address], isConfigServer: false).EnsurePrimary());
        Assert.Equal(["replSetStepUp 1"], _said);
    }

    [Fact]
    public void An_arbiter_is_a_member_of_the_configuration_that_holds_nothing()
    {
        bool isInitiated = false;
        _server.Handshake = exchange => exchange.Reply(isInitiated
            ? LyingServer.Hello(17)
            : BsonDocument.Of(("ismaster", false), ("isreplicaset", true), ("maxWireVersion", 17), ("ok", 1.0)));
        Answer(_server, _ =>
        {
            isInitiated = true;
            return Done;
        });
        Assert.Equal(
            _server.Address, new ReplicaSet("s0", [_server.Address], isConfigServer: false, arbiter: _router.Address).EnsurePrimary());
        BsonDocument configuration = _last.FindDocument("replSetInitiate")!;
        Assert.EndsWith($$"""{"_id":1,"host":"{{_router.Address}}","arbiterOnly":true}]}""",
            ExtendedJson.Write(configuration.Bytes).Replace(" ", "", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("implicit", new[] { "getDefaultRWConcern 1", "setDefaultRWConcern 1 defaultWriteConcern writeConcern" })]
    [InlineData("global", new[] { "getDefaultRWConcern 1" })]
    public void A_cluster_with_arbiters_gets_a_default_write_concern_unless_it_has_one(string source, string[] said)
    {
        Answer(_server, command => command.Find("getDefaultRWConcern") is null
            ? Done
            : BsonDocument.Of(
                ("defaultWriteConcern", BsonDocument.Of(("w", "majority"))), ("defaultWriteConcernSource", source), ("ok", 1.0)));
        new ShardRegistry(RouterKind.RoutingMongod, _server.Address).EnsureDefaultWriteConcern();
        Assert.Equal(said, _said);
    }

    private static BsonDocument Cursor(params BsonDocument[] documents) =>
        BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", documents), ("id", 0L), ("ns", "config.shards"))), ("ok", 1.0));

    private void Answer(LyingServer server, Func<BsonDocument, BsonDocument> reply) => server.Answer = exchange =>
    {
        var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
        lock (_lock)
            _said.Add(Describe(_last = command));
        exchange.Reply(reply(command));
    };

    /// <summary>Without what is the same in all: "{name: value, …}" becomes "name value …", of documents the names only.</summary>
    private static string Describe(BsonDocument command) => string.Join(' ', command
        .Where(element => element.Key is not ("$db" or "readConcern"))
        .Select(element => element.Value.Type is BsonType.Document or BsonType.Array ? element.Key : $"{element.Key} {element.Value}"));
}
