using MongoPerf.Deployments.Sampling;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Deployments;

/// <summary>How far members of a replica set are behind, as a primary tells it.</summary>
public sealed class ReplicaSamplerTests : IDisposable
{
    private const long Now = 1_795_000_000_000;

    private readonly LyingServer _primary = new();
    private BsonDocument _status = Status(Now, Now, ("b:1", Now - 300, 1));

    private volatile int _asked;

    public ReplicaSamplerTests() => _primary.Answer = exchange =>
    {
        bool isStatus = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray()).First().Key == "replSetGetStatus";
        exchange.Reply(isStatus ? _status : BsonDocument.Of(("oplog", BsonDocument.Of(
            ("latestOptime", Timestamp(7_600)), ("earliestOptime", Timestamp(400)))), ("ok", 1.0)));
        _asked += isStatus ? 1 : 0;
    };

    public void Dispose() => _primary.Dispose();

    [Fact]
    public void Each_secondary_has_its_lag_and_the_primary_the_rest()
    {
        _status = Status(Now, Now, ("b:1", Now - 300, 1), ("c:1", Now - 4_300, 1));
        using ReplicaSampler sampler = Open();
        IReadOnlyList<MetricSample> samples = sampler.Sample();
        Assert.Equal(["a:1", "b:1", "c:1"], samples.Select(sample => sample.Member));
        Assert.Equal([double.NaN, 100, 7_200, 5], samples[0].Values);
        Assert.Equal([300, double.NaN, double.NaN, double.NaN], samples[1].Values);
        Assert.Equal(4_300, samples[2].Values[0]);
    }

    [Fact]
    public void A_secondary_that_has_all_of_the_last_look_is_behind_by_no_more_than_the_time_since()
    {
        using ReplicaSampler sampler = Open();
        _status = Status(Now, Now - 9_000, ("b:1", Now - 9_000, 1));
        Assert.Equal(0, sampler.Sample()[1].Values[0]);
        // The primary was idle for ten seconds and has just written.
        _status = Status(Now + 1_000, Now + 1_000, ("b:1", Now - 9_000, 1));
        Assert.Equal(1_000, sampler.Sample()[1].Values[0]);
    }

    [Fact]
    public void A_member_that_is_away_has_no_lag_and_an_arbiter_no_sample()
    {
        _status = Status(Now, Now, ("b:1", Now - 300, 0), ("c:1", null, 1));
        using ReplicaSampler sampler = Open();
        IReadOnlyList<MetricSample> samples = sampler.Sample();
        Assert.Equal(["a:1", "b:1"], samples.Select(sample => sample.Member));
        Assert.Equal(double.NaN, samples[1].Values[0]);
    }

    /// <summary>Found by a review: it was 56 years behind, and each phase waited ten minutes for it.</summary>
    [Fact]
    public void A_member_that_still_copies_what_there_is_has_no_lag_and_is_not_waited_for()
    {
        _status = Status(Now, Now, ("b:1", 0, 1));
        using ReplicaSampler sampler = Open();
        Assert.Equal(double.NaN, sampler.Sample()[1].Values[0]);
        Assert.True(sampler.Await(TimeSpan.FromMinutes(10), TestContext.Current.CancellationToken));
    }

    [Theory]
    [InlineData(2)]
    [InlineData(null)]
    public void Who_is_no_primary_or_does_not_tell_leaves_no_samples(int? state)
    {
        _status = state is null ? FakeMongos.Refusal(13, "not authorized") : BsonDocument.Of(("myState", state), ("ok", 1.0));
        using ReplicaSampler sampler = Open();
        Assert.Empty(sampler.Sample());
    }

    /// <summary>Found by a review: such a reply ended the sampling of the run, or filled its disk.</summary>
    [Fact]
    public void A_primary_that_lies_about_members_leaves_no_samples_or_as_many_as_a_set_can_have()
    {
        BsonDocument honest = Status(Now, Now, [.. Enumerable.Range(0, 999).Select(i => ($"b:{i}", (long?)Now, 1))]);
        _status = honest;
        using ReplicaSampler sampler = Open();
        Assert.Equal(50, sampler.Sample().Count);
        _status = BsonDocument.Of(("myState", 1),
            ("members", new object[] { honest.FindDocument("members.0")!, 7 }), ("ok", 1.0));
        Assert.Empty(sampler.Sample());
    }

    /// <summary>Found by a review: each phase waited for ten minutes.</summary>
    [Fact]
    public void Nobody_waits_for_a_set_that_does_not_tell_this_user()
    {
        _status = FakeMongos.Refusal(13, "not authorized");
        using ReplicaSampler sampler = Open();
        Assert.True(sampler.Await(TimeSpan.FromMinutes(10), TestContext.Current.CancellationToken));
        Assert.False(sampler.IsTold);
    }

    [Fact]
    public async Task Secondaries_are_waited_for_until_they_have_what_was_written_before()
    {
        using ReplicaSampler sampler = Open();
        Assert.False(sampler.Await(TimeSpan.FromMilliseconds(1), TestContext.Current.CancellationToken));
        _status = Status(Now + 5_000, Now + 5_000, ("b:1", Now - 1, 1));
        int before = _asked;
        Task<bool> waiting = Task.Run(
            () => sampler.Await(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken), TestContext.Current.CancellationToken);
        Eventually.Is(() => _asked > before);
        // Others write more meanwhile, and a member that is away is waited for by nobody.
        _status = Status(Now + 9_000, Now + 9_000, ("b:1", Now + 6_000, 1), ("d:1", Now - 60_000, 0));
        Assert.True(await waiting);
    }

    private ReplicaSampler Open() => new([() => _primary.Address], ConnectionSettings.Default);

    /// <summary>The primary has applied all until then, and a majority what came 100 ms before.</summary>
    private static BsonDocument Status(long at, long applied, params (string Name, long? Applied, int Health)[] others) =>
        BsonDocument.Of(
            ("date", DateOf(at)), ("myState", 1), ("term", 5L),
            ("optimes", BsonDocument.Of(("lastCommittedWallTime", DateOf(applied - 100)))),
            ("members", others.Select(one => BsonDocument.Of(
                ("name", one.Name), ("health", (double)one.Health), ("state", one.Applied is null ? 7 : 2),
                ("lastAppliedWallTime", DateOf(one.Applied ?? 0)))).Prepend(BsonDocument.Of(
                    ("name", "a:1"), ("health", 1.0), ("state", 1), ("self", true), ("lastAppliedWallTime", DateOf(applied))))),
            ("ok", 1.0));

    private static DateTime DateOf(long milliseconds) => DateTimeOffset.FromUnixTimeMilliseconds(milliseconds).UtcDateTime;

    private static BsonValue Timestamp(uint seconds) =>
        new(BsonType.Timestamp, (byte[])[1, 0, 0, 0, .. BitConverter.GetBytes(seconds)]);
}
