using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Deployments;

/// <summary>What a router tells of collections when a run ends: replies as recorded of a mongos on the way to 8.0.</summary>
public sealed class ShardingFactsTests : IDisposable
{
    private readonly FakeMongos _mongos = new();

    public ShardingFactsTests()
    {
        _mongos.Documents["perf.docs"] = [Uses("s0", 4, 100), Uses("s1", 7, 100)];
        _mongos.Documents["admin.1"] =
        [
            ExtendedJson.Parse("""
                {"ns": "perf.docs", "shards": [
                 {"shardName": "s1", "numOrphanedDocs": 30, "numOwnedDocuments": 6001, "ownedSizeBytes": 6007001,
                  "orphanedSizeBytes": 30030},
                 {"shardName": "s0", "numOrphanedDocs": 0, "numOwnedDocuments": 0, "ownedSizeBytes": null, "orphanedSizeBytes": null}]}
                """),
        ];
    }

    public void Dispose() => _mongos.Dispose();

    [Fact]
    public void What_each_shard_used_while_the_run_lasted_is_the_difference_of_its_counters()
    {
        ShardingFacts facts = Facts();
        IndexCounters before = facts.ReadIndexCounters();
        // Shard s1 was started again meanwhile, and counts from 0.
        _mongos.Documents["perf.docs"] = [Uses("s0", 14, 100), Uses("s1", 3, 200)];
        IndexUse use = Assert.Single(Assert.Single(facts.Read(before)).Indexes);
        Assert.Equal(("Number_1", 10L, 3L), (use.Index, use.Operations["s0"], use.Operations["s1"]));
    }

    [Fact]
    public void Of_a_shard_with_another_primary_nobody_knows_what_it_used()
    {
        ShardingFacts facts = Facts();
        IndexCounters before = facts.ReadIndexCounters();
        _mongos.Documents["perf.docs"] = [Uses("s0", 14, 100), Uses("s1", 9000, 50, host: "s1-b:27018")];
        Assert.Empty(Assert.Single(facts.Read(before)).Indexes);
    }

    [Fact]
    public void Whether_somebody_has_sharded_them_is_known_before_the_run()
    {
        Assert.False(Facts().AreSharded());
        _mongos.Documents["config.collections"] =
            [BsonDocument.Of(("_id", "perf.docs"), ("key", BsonDocument.Of(("_id", "hashed"))), ("uuid", "u"))];
        Assert.True(Facts().AreSharded());
    }

    [Fact]
    public void Without_a_look_before_the_run_nobody_knows_what_it_used() =>
        Assert.Empty(Assert.Single(Facts().Read(IndexCounters.None)).Indexes);

    [Fact]
    public void Orphans_and_bytes_come_by_shard_and_null_is_unknown()
    {
        IReadOnlyList<ShardPart> parts = Assert.Single(Facts().Read(IndexCounters.None)).Parts;
        Assert.Equal([("s0", 0L, null, null), ("s1", 30L, 6_007_001L, 30_030L)],
            parts.Select(part => (part.Shard, part.Orphans, part.OwnedBytes, part.OrphanedBytes)));
    }

    /// <summary>Refused for want of a right, unknown before 6.0.3, or answered by somebody who lies.</summary>
    [Theory]
    [InlineData("""{"ok": 0.0, "code": 13, "errmsg": "not authorized"}""")]
    [InlineData("""{"ok": 0.0, "code": 40324, "errmsg": "Unrecognized pipeline stage name"}""")]
    [InlineData("""{"ok": 1.0, "cursor": {"id": {"$numberLong": "0"}, "ns": "a.b", "firstBatch": [{"ns": "perf.docs", "shards": 7}]}}""")]
    [InlineData("""{"ok": 1.0, "cursor": {"id": {"$numberLong": "0"}, "ns": "a.b", "firstBatch": [{"ns": ""}, {"ns": 7}, {"ns": ""}]}}""")]
    [InlineData("""
        {"ok": 1.0, "cursor": {"id": {"$numberLong": "0"}, "ns": "a.b", "firstBatch": [
         {"name": "_id_", "shard": "s0", "accesses": {"ops": {"$numberLong": "9223372036854775807"}},
          "ns": "perf.docs", "shards": [{"shardName": "s0", "ownedSizeBytes": {"$numberLong": "9223372036854775807"}}]}]}}
        """)]
    public void A_run_does_without_what_is_not_told(string reply)
    {
        _mongos.Replies["aggregate"] = _ => ExtendedJson.Parse(reply);
        CollectionSharding collection = Assert.Single(Facts().Read(Facts().ReadIndexCounters()));
        Assert.Empty(collection.Indexes);
        Assert.All(collection.Parts, part => Assert.Null(part.OwnedBytes));
    }

    private static BsonDocument Uses(string shard, long operations, long since, string? host = null) => BsonDocument.Of(
        ("name", "Number_1"), ("host", host ?? $"{shard}:27018"),
        ("accesses", BsonDocument.Of(("ops", operations), ("since", DateTimeOffset.FromUnixTimeMilliseconds(since).UtcDateTime))),
        ("shard", shard));

    private ShardingFacts Facts() => new(
        new ShardedCluster(RouterKind.Mongos, _mongos.Address, _mongos.Address, [new("s0", _mongos.Address), new("s1", _mongos.Address)])
        {
            Direct = DirectAccess.NotAllowed,
        },
        ConnectionSettings.Default, "perf",
        [new PlanCollection { Name = "docs", Count = 0, Documents = new DocumentTemplate(DocumentValue.Empty, 42, "docs") }]);
}
