using MongoPerf.Learning.Sampling;
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
        const double Budget = 2;
        _server.Answer = exchange => exchange.Reply(Batch(0));
        using MongoConnection connection = Connect();
        DatabaseReader reader = Reader(connection, Budget);
        Thread.Sleep(TimeSpan.FromSeconds(Budget));
        SamplingCost cost = reader.Read("shop").Cost;
        Assert.InRange(cost.Seconds, 0, Budget - 0.1);
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

    private static BsonDocument Batch(long id, params string[] names) => BsonDocument.Of(("cursor", BsonDocument.Of(
        ("id", id), ("ns", "shop.c"), ("firstBatch", names.Select(name => BsonDocument.Of(("name", name))).ToArray()),
        ("nextBatch", Array.Empty<object>()))), ("ok", 1.0));

    private static DatabaseReader Reader(MongoConnection connection, double seconds) =>
        new(connection, new SamplingBudget(Seconds: seconds), new ReadPreference(ReadMode.Primary));

    private MongoConnection Connect() => MongoConnection.Open(_server.Address, ConnectionSettings.Default);
}
