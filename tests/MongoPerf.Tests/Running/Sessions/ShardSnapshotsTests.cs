using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Sharding;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Running.Sessions;

/// <summary>What a run tells of its collections' reshardings, looking at a cluster of fake servers.</summary>
public sealed class ShardSnapshotsTests : IDisposable
{
    private readonly FakeCluster _cluster = new("s0");
    private readonly ManualClock _clock = new();
    private readonly TemporaryFolder _folder = new();
    private readonly RunStore _store;
    private readonly List<RunEvent> _events = [];

    public ShardSnapshotsTests() => _store = RunStore.Create(_folder.At("run"), RunParts.Run("run"), RunParts.Settings());

    private long Now => _clock.UtcNow.ToUnixTimeMilliseconds();

    public void Dispose()
    {
        _store.Dispose();
        _folder.Dispose();
        _cluster.Dispose();
    }

    /// <summary>Found on 8.0: eight seconds of resharding, of which the run told nothing.</summary>
    [Fact]
    public void A_resharding_is_one_event_with_its_keys_its_length_and_the_time_without_writes()
    {
        using (Open())
        {
            _clock.Advance(1);
            long begun = Now;
            _cluster.Changelog.Add(FakeCluster.Reshard(1, begun, "unused", "initializing"));
            _clock.Advance(4);
            Assert.Empty(_events);
            _cluster.Key = BsonDocument.Of(("u", 1), ("_id", 1));
            _cluster.Changelog.Add(FakeCluster.Reshard(2, begun + 5900, "applying", "blocking-writes"));
            _cluster.Changelog.Add(FakeCluster.Reshard(3, begun + 7000, "blocking-writes", "committing"));
            _clock.Advance(2);
            Assert.Empty(_events);
            _cluster.Changelog.Add(FakeCluster.Reshard(5, begun + 8100, "committing", "quiesced"));
            _clock.Advance(10);
            _cluster.Changelog.Add(FakeCluster.Reshard(4, begun + 9000, "quiesced", "done"));
            _clock.Advance(10);
        }

        RunEvent told = Assert.Single(_events);
        Assert.Equal((RunEvent.Resharding, 8.1), (told.Kind, told.Seconds));
        Assert.Equal("c was resharded from {_id: hashed} to {u: 1, _id: 1} in 8.1 s; it took no writes for 2.2 s", told.Text);
    }

    [Fact]
    public void One_that_lasts_is_told_when_the_run_ends()
    {
        using (Open())
        {
            _cluster.Changelog.Add(FakeCluster.Reshard(1, Now, "unused", "initializing"));
            _clock.Advance(5);
        }

        Assert.Equal("c was still being resharded from {_id: hashed} when the run ended, after 5.0 s", Assert.Single(_events).Text);
    }

    /// <summary>A run that is resumed reads the log since its first start.</summary>
    [Fact]
    public void One_that_ended_before_is_told_no_more()
    {
        _cluster.Changelog.Add(FakeCluster.Reshard(1, Now - 5000, "unused", "initializing"));
        _cluster.Changelog.Add(FakeCluster.Reshard(2, Now - 1000, "blocking-writes", "committing"));
        using (Open())
            _clock.Advance(5);
        Assert.Empty(_events);
    }

    private ShardSnapshots Open() => new(
        _clock,
        new ClusterSampler(
            () => _cluster.Cluster, ConnectionSettings.Default, new SampledNamespace("d", "c"), _clock.UtcNow.AddMinutes(-1)),
        _store, _events.Add);
}
