using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Sharding;

/// <summary>
/// What a cluster hears of a scenario's operations that are no router's: the balancer, and commands to all owners of a collection.
/// </summary>
public sealed class ClusterControlTests : IDisposable
{
    private static readonly DatabaseCommand Build = new("build", "docs", DocumentValue.Of(
        ExtendedJson.Parse("""{"createIndexes": "docs", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}"""))) { IsForOwners = true };

    private readonly FakeMongos _router = new() { KeepsSettings = true };
    private readonly FakeMongos _s0 = new(isMongos: false);
    private readonly FakeMongos _s1 = new(isMongos: false);
    private readonly FakeMongos _s2 = new(isMongos: false);
    private readonly ManualClock _clock = new();
    private readonly List<string> _told = [];

    public ClusterControlTests()
    {
        _router.Documents["config.collections"] = [BsonDocument.Of(("_id", "perf.docs"), ("timestamp", 1L), ("uuid", new byte[16]))];
        Own("s0", "s1");
    }

    public void Dispose()
    {
        foreach (FakeMongos server in (FakeMongos[])[_router, _s0, _s1, _s2])
            server.Dispose();
    }

    [Fact]
    public void A_window_opens_now_closes_when_all_is_balanced_and_what_was_is_put_back()
    {
        int asked = 0;
        _router.Documents["config.settings"] = [BsonDocument.Of(("_id", "balancer"), ("mode", "full"))];
        _router.Replies["balancerCollectionStatus"] = _ => BsonDocument.Of(("balancerCompliant", ++asked > 3), ("ok", 1.0));
        ClusterControl control = Open(RouterKind.Mongos);
        Assert.True(Run(control, Balance("now", 60)).Succeeded);
        Assert.Equal(1.5, _clock.Seconds, 6);
        Assert.Equal(["balancer: on", "balancer: balanced after 1.5 s", "balancer: off"], _told);
        Assert.Equal(["update", "balancerStart", .. Enumerable.Repeat("balancerCollectionStatus", 4), "balancerStop"], _router.HeardNames);
        control.Restore();
        // Both documents that balancerStop wrote: automerge left off would be the user's loss for good.
        Assert.Equal(
            [
                """config {"update": "settings", "updates": [{"q": {"_id": "balancer"}, "u": {"_id": "balancer", "mode": "full"}, "upsert": true}], "writeConcern": {"w": "majority"}}""",
                """config {"delete": "settings", "deletes": [{"q": {"_id": "automerge"}, "limit": 1}], "writeConcern": {"w": "majority"}}""",
            ],
            _router.Heard.TakeLast(2));
        Assert.Equal("balancer: restored", _told[^1]);
        int heard = _router.Heard.Count;
        control.Restore();
        Assert.Equal(heard, _router.Heard.Count);
    }

    [Fact]
    public void What_can_not_be_put_back_is_shown_with_the_command_that_repairs_it()
    {
        ClusterControl control = Open(RouterKind.Mongos);
        Assert.True(Run(control, Balance("off", 0)).Succeeded);
        _router.IgnoresDeletes = true;
        control.Restore();
        Assert.Equal(
            """config.settings 'automerge' is {"_id": "automerge", "enabled": false} and was not set; to repair it: db.getSiblingDB("config").settings.deleteOne({_id: "automerge"})""",
            _told[^1]);
        Assert.DoesNotContain("balancer: restored", _told);
    }

    [Fact]
    public void A_cluster_that_is_not_balanced_in_time_is_no_failure()
    {
        _router.Replies["balancerCollectionStatus"] = _ => BsonDocument.Of(("balancerCompliant", false), ("ok", 1.0));
        Assert.True(Run(Open(RouterKind.Mongos), Balance("22:00-06:00", 3)).Succeeded);
        Assert.Equal(3, _clock.Seconds, 6);
        Assert.Equal(["balancer: 22:00-06:00", "balancer: still not balanced after 3.0 s"], _told);
        // It stays open: only 'now' closes it.
        Assert.DoesNotContain("balancerStop", _router.HeardNames);
    }

    [Fact]
    public void Off_is_set_and_waited_for_by_nobody()
    {
        Run(Open(RouterKind.Mongos), Balance("off", 0));
        Assert.Equal(["balancerStop"], _router.HeardNames);
    }

    [Fact]
    public void What_was_never_set_is_not_put_back()
    {
        Open(RouterKind.Mongos).Restore();
        Assert.Empty(_router.HeardNames);
    }

    [Fact]
    public void An_index_is_built_on_every_owner_and_on_no_other_shard()
    {
        Assert.True(Run(Open(RouterKind.RoutingMongod), Build).Succeeded);
        Assert.Equal(["createIndexes"], _s0.HeardNames);
        Assert.Equal(_s0.Heard, _s1.Heard);
        Assert.Empty(_s2.Heard);
        Assert.DoesNotContain("createIndexes", _router.HeardNames);
    }

    [Fact]
    public void Owners_build_at_the_same_time()
    {
        using var both = new CountdownEvent(2);
        // Each answers only when the other has begun.
        foreach (FakeMongos shard in (FakeMongos[])[_s0, _s1])
        {
            shard.Replies["createIndexes"] = _ =>
            {
                both.Signal();
                return both.Wait(TimeSpan.FromSeconds(30)) ? BsonDocument.Of(("ok", 1.0)) : FakeMongos.Refusal(1, "alone");
            };
        }

        Assert.True(Run(Open(RouterKind.RoutingMongod), Build).Succeeded);
    }

    [Fact]
    public void A_shard_that_becomes_an_owner_meanwhile_follows()
    {
        _s1.Replies["createIndexes"] = _ =>
        {
            Own("s0", "s1", "s2");
            return BsonDocument.Of(("ok", 1.0));
        };
        Assert.True(Run(Open(RouterKind.RoutingMongod), Build).Succeeded);
        Assert.Equal((1, 1, 1), (_s0.Heard.Count, _s1.Heard.Count, _s2.Heard.Count));
    }

    [Fact]
    public void What_one_of_them_refuses_is_the_operations_error()
    {
        _s1.Replies["createIndexes"] = _ => FakeMongos.Refusal(86, "another index has that name");
        IPreparedOperation operation = Prepare(Open(RouterKind.RoutingMongod), Build);
        Assert.False(operation.Execute().Succeeded);
        Assert.Equal((86, "another index has that name"), (operation.LastError!.Code, operation.LastError.Message));
    }

    [Fact]
    public void An_owner_that_is_away_breaks_the_operation_as_a_lost_connection_does()
    {
        _s1.Dispose();
        Assert.ThrowsAny<ConnectionFailedException>(() => Run(Open(RouterKind.RoutingMongod), Build));
    }

    [Fact]
    public void A_mongos_is_told_and_passes_it_on()
    {
        Run(Open(RouterKind.Mongos), Build);
        Assert.Equal(["createIndexes"], _router.HeardNames);
        Assert.Empty(_s0.Heard);
    }

    private static SetBalancer Balance(string mode, double seconds) => new("balancer", mode, ["docs"], seconds);

    private void Own(params string[] shards) =>
        _router.Documents["config.chunks"] = [.. shards.Select(shard => BsonDocument.Of(("_id", shard), ("chunks", 1)))];

    /// <summary>One server is router and config server at once.</summary>
    private ClusterControl Open(RouterKind router)
    {
        var cluster = new ShardedCluster(
            router, _router.Address, _router.Address, [new("s0", _s0.Address), new("s1", _s1.Address), new("s2", _s2.Address)]);
        return new ClusterControl(() => cluster, ConnectionSettings.Default with { Dialect = cluster.Dialect }, "perf",
            ("run", "token"), _clock, _told.Add);
    }

    private OperationOutcome Run(ClusterControl control, Operation operation) => Prepare(control, operation).Execute();

    private IPreparedOperation Prepare(ClusterControl control, Operation operation)
    {
        using var executor = new WireExecutor(_ => _router.Address, ConnectionSettings.Default, "perf") { Cluster = control };
        IPreparedOperation prepared = executor.Prepare(operation, new OperationContext(42, 0, null));
        Assert.True(prepared.Draw());
        return prepared;
    }
}
