using MongoPerf.Learning.Sampling;
using MongoPerf.Measurement;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Learning;

/// <summary>Reading a deployment: what it costs, and servers that lie.</summary>
public sealed class DatabaseReaderTests : IDisposable
{
    private readonly LyingServer _server = new();

    public void Dispose() => _server.Dispose();

    [Fact]
    public void Time_before_reading_does_not_count()
    {
        var clock = new ManualClock();
        _server.Answer = exchange =>
        {
            clock.Advance(2);
            exchange.Reply(Batch(0));
        };
        using MongoConnection connection = Connect();
        DatabaseReader reader = Reader(connection, 60, clock);
        clock.Advance(500);
        SamplingCost cost = reader.Read("shop").Cost;
        Assert.Equal(2.0 * cost.Commands, cost.Seconds);
    }

    [Fact]
    public void Collections_with_names_that_break_a_scenario_are_told()
    {
        _server.Answer = exchange => exchange.Reply(Batch(0, "orders\n", "a\nphases: []", "^word", "a$(b)"));
        using MongoConnection connection = Connect();
        DatabaseSample sample = Reader(connection, 60).Read("shop");
        Assert.Empty(sample.Collections);
        Assert.Contains("collections with names that a scenario can't have: 4", sample.NotLearned);
    }

    [Fact]
    public void A_list_that_never_ends_is_an_error()
    {
        _server.Answer = exchange => exchange.Reply(Batch(7));
        using MongoConnection connection = Connect();
        Assert.Contains("empty batches in a row",
            Assert.Throws<WireProtocolException>(() => Reader(connection, 60).Read("shop")).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Shards_of_a_zone_are_numbered_by_their_names_whatever_else_a_router_says()
    {
        using var mongos = new FakeMongos();
        mongos.Documents["shop.$cmd"] = [BsonDocument.Of(("name", "orders"))];
        mongos.Documents["config.collections"] = [BsonDocument.Of(("_id", "shop.orders"), ("key", BsonDocument.Of(("k", 1))))];
        mongos.Documents["config.shards"] =
        [
            BsonDocument.Of(("_id", "s2"), ("tags", new object[] { "eu", "eu", 5 })), BsonDocument.Of(("_id", "s0")),
            BsonDocument.Of(("_id", "s1"), ("tags", new object[] { "us", "eu" })), BsonDocument.Of(("tags", "none")),
        ];
        mongos.Documents["config.tags"] =
        [
            BsonDocument.Of(("tag", "eu"), ("min", BsonDocument.Of(("k", 1))), ("max", BsonDocument.Of(("k", 2)))),
            BsonDocument.Of(("tag", "us")), BsonDocument.Of(("tag", "asia")), BsonDocument.Of(("min", 5)),
        ];
        using MongoConnection connection = MongoConnection.Open(mongos.Address, ConnectionSettings.Default);
        CollectionSample orders = Assert.Single(Reader(connection, 60).Read("shop").Collections);
        // The one without a name comes first.
        Assert.Equal(["3,4", "3", "", ""], orders.Zones.Select(zone => string.Join(',', zone.Shards)));
        Assert.Equal((2, 0), ((int)orders.Zones[0].To.FindInt64("k")!, orders.Zones[1].To.Count()));
    }

    private static BsonDocument Batch(long id, params string[] names) => BsonDocument.Of(("cursor", BsonDocument.Of(
        ("id", id), ("ns", "shop.c"), ("firstBatch", names.Select(name => BsonDocument.Of(("name", name))).ToArray()),
        ("nextBatch", Array.Empty<object>()))), ("ok", 1.0));

    private static DatabaseReader Reader(MongoConnection connection, double seconds, IClock? clock = null) =>
        new(connection, new SamplingBudget(Seconds: seconds), new ReadPreference(ReadMode.Primary), clock ?? SystemClock.Instance);

    private MongoConnection Connect() => MongoConnection.Open(_server.Address, ConnectionSettings.Default);
}
