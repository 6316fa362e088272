using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Deployments;

/// <summary>Looks at a cluster of fake servers.</summary>
public sealed class ClusterSamplerTests : IDisposable
{
    private const long Began = 1_795_000_000_000;

    private readonly FakeCluster _cluster = new("s0", "s1", "s2");
    private readonly ClusterSampler _sampler;

    public ClusterSamplerTests()
    {
        _sampler = new ClusterSampler(
            () => _cluster.Cluster, ConnectionSettings.Default, new SampledNamespace("d", "c"),
            DateTimeOffset.FromUnixTimeMilliseconds(Began));
        _cluster.Parts["s0"] = (1000, 300);
        _cluster.Parts["s1"] = (250, 0);
        _cluster.Chunks["s0"] = 3;
        _cluster.Chunks["s1"] = 1;
        _cluster.Inserts["s0"] = 77;
    }

    public void Dispose()
    {
        _sampler.Dispose();
        _cluster.Dispose();
    }

    [Fact]
    public void Each_shard_has_its_documents_without_orphans_its_chunks_and_its_operations()
    {
        ClusterLook look = _sampler.Look();
        Assert.Equal(["s0", "s1", "s2"], look.Shards.Select(static shard => shard.Member));
        Assert.Equal([700, 250, 0], Values(look, "documents"));
        Assert.Equal([300, 0, 0], Values(look, "orphans"));
        Assert.Equal([3, 1, 0], Values(look, "chunks"));
        Assert.Equal([1000 * 1024, 250 * 1024, 0], Values(look, "data"));
        Assert.Equal([8192, 8192, 0], Values(look, "indexes"));
        Assert.Equal([77, 0, 0], Values(look, "opcounters_insert"));
        Assert.Equal([4, 4, 4], Values(look, "opcounters_getmore"));
        Assert.DoesNotContain(_cluster.Asked, static one => one.StartsWith("router", StringComparison.Ordinal));
    }

    [Fact]
    public void A_shard_that_is_down_leaves_the_others_alone_and_is_found_again()
    {
        _sampler.Look();
        _cluster.StopShard("s1");
        ClusterLook without = _sampler.Look();
        Assert.Equal([700, double.NaN, 0], Values(without, "documents"));
        // The map of chunks is the config server's.
        Assert.Equal([3, 1, 0], Values(without, "chunks"));

        _cluster.StartShard("s1");
        Assert.Equal([700, 250, 0], Values(Look(static look => !double.IsNaN(Values(look, "documents")[1])), "documents"));
        Assert.DoesNotContain(_cluster.Asked, static one => one.StartsWith("router", StringComparison.Ordinal));
    }

    /// <summary>Found when a primary was killed: 5,908 inserts of 1,000, since the next one had counted others before.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Another_process_goes_on_with_the_counters_of_the_one_before(bool isOther)
    {
        _cluster.Uptimes["s0"] = 1_000_000;
        Assert.Equal(77, Values(_sampler.Look(), "opcounters_insert")[0]);
        _cluster.Inserts["s0"] = 5000;
        if (isOther)
            _cluster.Uptimes["s0"] = 20_000;
        Assert.Equal(isOther ? 77 : 5000, Values(_sampler.Look(), "opcounters_insert")[0]);
        _cluster.Inserts["s0"] = 5020;
        Assert.Equal(isOther ? 97 : 5020, Values(_sampler.Look(), "opcounters_insert")[0]);
        Assert.Equal([700, 250, 0], Values(_sampler.Look(), "documents"));
    }

    [Fact]
    public void Another_member_goes_on_with_the_counters_of_the_primary_before()
    {
        _sampler.Look();
        _cluster.StopShard("s0");
        _sampler.Look();
        _cluster.Inserts["s0"] = 900;
        _cluster.StartShard("s0");
        Assert.Equal(77, Values(Look(static look => !double.IsNaN(Values(look, "documents")[0])), "opcounters_insert")[0]);
    }

    [Fact]
    public void Where_no_shard_can_be_reached_the_router_is_asked_and_asked_again_when_its_map_is_stale()
    {
        foreach (string shard in new[] { "s0", "s1", "s2" })
            _cluster.StopShard(shard);
        _cluster.StaleReplies = 2;
        ClusterLook look = _sampler.Look();
        Assert.Equal([700, 250, 0], Values(look, "documents"));
        Assert.Equal([3, 1, 0], Values(look, "chunks"));
        Assert.All(Values(look, "opcounters_insert"), static value => Assert.True(double.IsNaN(value)));
        Assert.Equal(3, _cluster.Asked.Count(static one => one == "router clusterAggregate"));
    }

    [Fact]
    public void Shards_that_do_not_know_the_user_are_never_asked_and_the_router_tells_their_parts_and_their_work()
    {
        using var sampler = new ClusterSampler(
            () => _cluster.Cluster with { Direct = DirectAccess.NoUser }, ConnectionSettings.Default, new SampledNamespace("d", "c"),
            DateTimeOffset.FromUnixTimeMilliseconds(Began));
        _cluster.Reads["s0"] = 12;
        ClusterLook look = sampler.Look();
        Assert.Equal([700, 250, 0], Values(look, "documents"));
        Assert.Equal([12, 0, 0], Values(look, "collection_reads"));
        Assert.DoesNotContain(_cluster.Asked, static one => one.StartsWith('s'));
    }

    [Fact]
    public void A_shard_that_shows_its_state_and_nothing_else_is_asked_for_that_alone_and_the_router_for_the_rest()
    {
        _cluster.HidesParts = true;
        ClusterLook look = _sampler.Look();
        Assert.Equal([77, 0, 0], Values(look, "opcounters_insert"));
        Assert.Equal([700, 250, 0], Values(look, "documents"));
        _sampler.Look();
        Assert.Equal((1, 2), (_cluster.Asked.Count(static one => one == "s0 aggregate"),
            _cluster.Asked.Count(static one => one == "s0 serverStatus")));
    }

    [Fact]
    public void Where_the_list_of_shards_may_not_be_read_those_that_hold_something_are_known()
    {
        using var sampler = new ClusterSampler(
            () => _cluster.Cluster with { Direct = DirectAccess.NotAllowed, Shards = [] }, ConnectionSettings.Default,
            new SampledNamespace("d", "c"), DateTimeOffset.FromUnixTimeMilliseconds(Began));
        ClusterLook look = sampler.Look();
        Assert.Equal(["s0", "s1"], look.Shards.Select(static shard => shard.Member));
        Assert.Equal([700, 250], Values(look, "documents"));
    }

    [Fact]
    public void A_map_that_stays_stale_is_given_up_until_the_next_look()
    {
        foreach (string shard in new[] { "s0", "s1", "s2" })
            _cluster.StopShard(shard);
        _cluster.StaleReplies = 3;
        Assert.All(Values(_sampler.Look(), "documents"), static value => Assert.True(double.IsNaN(value)));
        Assert.Equal([700, 250, 0], Values(Look(static look => !double.IsNaN(Values(look, "documents")[0])), "documents"));
    }

    [Fact]
    public void Without_a_cluster_there_is_nothing_to_see()
    {
        using var sampler = new ClusterSampler(
            () => null, ConnectionSettings.Default, new SampledNamespace("d", "c"), DateTimeOffset.UnixEpoch);
        Assert.Empty(sampler.Look().Shards);
    }

    [Fact]
    public void A_migration_is_told_when_it_begins_and_again_when_it_has_ended()
    {
        Add(1, "moveChunk.start", 100, "s0", Move("s0", "s1"));
        ChunkEvent begun = Assert.Single(_sampler.Look().ChunkEvents);
        Assert.Equal((ChunkEventOutcome.Running, "s0", "s1"), (begun.Outcome, begun.From, begun.To!));
        Assert.Null(begun.Seconds);
        Assert.Empty(_sampler.Look().ChunkEvents);

        Add(2, "moveChunk.commit", 1100, "s0", Move("s0", "s1", ("counts", BsonDocument.Of(("cloned", 500L), ("clonedBytes", 512_000L)))));
        Add(3, "moveChunk.from", 1200, "s0", Move("s0", "s1", ("note", "success")));
        ChunkEvent ended = _sampler.Look().ChunkEvents[^1];
        Assert.Equal(
            begun with { Outcome = ChunkEventOutcome.Done, EndMilliseconds = Began + 1200, Documents = 500, Bytes = 512_000 }, ended);
    }

    [Fact]
    public void More_entries_than_a_look_fetches_at_first_are_all_read_once()
    {
        Add(0, "split", 1, "s0", BsonDocument.Empty);
        Assert.Single(_sampler.Look().ChunkEvents);
        for (int i = 1; i <= 100; i++)
            Add(i, "split", 1 + i, "s0", BsonDocument.Empty);
        Assert.Equal(Enumerable.Range(1, 100).Select(static i => $"host-{i}"), _sampler.Look().ChunkEvents.Select(static one => one.Id));
        Assert.Empty(_sampler.Look().ChunkEvents);
    }

    [Fact]
    public void What_ended_before_the_run_and_what_happened_in_other_databases_is_left_out()
    {
        Add(1, "split", -5000, "s0", BsonDocument.Empty);
        Add(2, "moveChunk.start", -4000, "s0", Move("s0", "s1"));
        Add(3, "moveChunk.from", -3000, "s0", Move("s0", "s1", ("note", "success")));
        Add(4, "moveChunk.start", -2000, "s0", Move("s0", "s2"));
        _cluster.Changelog.Add(FakeCluster.Entry(5, "split", Began + 10, "s0", BsonDocument.Empty, "dd.other"));
        _cluster.Changelog.Add(FakeCluster.Entry(6, "split", Began + 10, "s0", BsonDocument.Empty, "d.other"));
        Assert.Equal(["host-4", "host-6"], _sampler.Look().ChunkEvents.Select(static one => one.Id));
    }

    [Fact]
    public void A_resharding_has_the_keys_before_and_after()
    {
        _sampler.Look();
        _cluster.Changelog.Add(FakeCluster.Reshard(1, Began + 10, "unused", "initializing"));
        ChunkEvent running = Assert.Single(_sampler.Look().ChunkEvents);
        Assert.Equal(("{_id: hashed}", null), (running.KeyBefore, running.KeyAfter));
        _cluster.Key = BsonDocument.Of(("u", 1));
        _sampler.Look();
        _cluster.Changelog.Add(FakeCluster.Reshard(2, Began + 5010, "blocking-writes", "committing"));
        ChunkEvent done = Assert.Single(_sampler.Look().ChunkEvents);
        Assert.Equal(("host-1", "{_id: hashed}", "{u: 1}", 5.0), (done.Id, done.KeyBefore, done.KeyAfter, done.Seconds!.Value));
    }

    /// <summary>It began and ended between two looks.</summary>
    [Fact]
    public void A_short_resharding_has_the_key_of_the_look_before()
    {
        _sampler.Look();
        _cluster.Key = BsonDocument.Of(("u", 1));
        _cluster.Changelog.Add(FakeCluster.Reshard(1, Began + 10, "unused", "initializing"));
        _cluster.Changelog.Add(FakeCluster.Reshard(2, Began + 900, "blocking-writes", "committing"));
        ChunkEvent done = Assert.Single(_sampler.Look().ChunkEvents);
        Assert.Equal(("{_id: hashed}", "{u: 1}"), (done.KeyBefore, done.KeyAfter));
    }

    [Fact]
    public void One_that_ended_before_the_first_look_has_no_key_before()
    {
        _cluster.Changelog.Add(FakeCluster.Reshard(1, Began + 10, "unused", "initializing"));
        _cluster.Changelog.Add(FakeCluster.Reshard(2, Began + 900, "blocking-writes", "committing"));
        Assert.Null(Assert.Single(_sampler.Look().ChunkEvents).KeyBefore);
    }

    private void Add(int id, string what, long afterBegan, string shard, BsonDocument details) =>
        _cluster.Changelog.Add(FakeCluster.Entry(id, what, Began + afterBegan, shard, details));

    private static BsonDocument Move(string from, string to, params (string, object?)[] more) =>
        BsonDocument.Of([("from", from), ("to", to), .. more]);

    /// <summary>Looks until it is so; a server that failed is left alone for a quarter of a second.</summary>
    private ClusterLook Look(Func<ClusterLook, bool> condition)
    {
        ClusterLook look = _sampler.Look();
        Eventually.Is(() => condition(look) || condition(look = _sampler.Look()));
        return look;
    }

    private static double[] Values(ClusterLook look, string metric) =>
        [.. look.Shards.Select(shard => shard.Values[MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric)])];
}
