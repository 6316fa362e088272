using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Learning;

/// <summary>To how many documents learned collections grow.</summary>
public sealed class WrittenGrowthTests
{
    /// <summary>Without anything seen, in the proportions of today; what the server empties by itself does not grow.</summary>
    [Fact]
    public void Documents_are_shared_out_as_they_are_today()
    {
        WrittenGrowth growth = WrittenGrowth.ToDocuments(
            Shop(("users", 1000, "{}"), ("orders", 3000, "{}"), ("log", 500, "{\"capped\": true}"), ("none", 0, "{}")), null, 40_000);
        Assert.Equal((10_000L, 1000L), (growth.Size, growth.Step));
        Assert.Equal([("users", 1L), ("orders", 3L)], growth.Factors.Select(one => (one.Key, one.Value)));
        Assert.Equal("grows to 10,000 USERS, 30,000 ORDERS: 40,000 documents in all, in the proportions of today",
            growth.Describe(name => name.ToUpperInvariant()));
    }

    /// <summary>Three to two are whole numbers of a half.</summary>
    [Fact]
    public void Factors_are_close_to_what_collections_are_to_have()
    {
        WrittenGrowth growth = WrittenGrowth.ToDocuments(Shop(("a", 200, "{}"), ("b", 300, "{}")), null, 50_000);
        Assert.Equal((long[])[2, 3], growth.Factors.Values);
        Assert.Equal(10_000, growth.Size);
    }

    /// <summary>What was inserted, less what was removed: deletes, failures and upserts count as their replies say.</summary>
    [Fact]
    public void Years_are_taken_at_the_rate_that_was_seen()
    {
        OperationMix mix = Seen(
            new LearnedOperation("shop", "orders", "insert", 200) { Replies = Replies(0.5, 0) },
            new LearnedOperation("shop", "orders", "delete", 100) { Replies = Replies(0.25, 0) },
            new LearnedOperation("shop", "orders", "update", 100) { IsUpsert = true, Replies = Replies(1, 0.25) },
            new LearnedOperation("shop", "users", "delete", 100) { Replies = Replies(1, 0) });
        WrittenGrowth growth = WrittenGrowth.OfYears(Shop(("users", 1000, "{}"), ("orders", 3000, "{}")), mix, 2);
        // One a second: 100 - 25 + 25 in 100 s.
        Assert.Equal(3000 + (2 * 31_557_600), growth.Size);
        Assert.Equal([("orders", 1L)], growth.Factors.Select(one => (one.Key, one.Value)));
    }

    [Fact]
    public void What_was_seen_to_grow_grows_by_its_rate()
    {
        OperationMix mix = Seen(new LearnedOperation("shop", "orders", "insertMany", 10) { DocumentsPerOperation = 90 },
            new LearnedOperation("shop", "users", "insert", 100));
        WrittenGrowth growth = WrittenGrowth.ToDocuments(
            Shop(("users", 1000, "{}"), ("orders", 0, "{}"), ("countries", 200, "{}")), mix, 101_000);
        Assert.Equal([("orders", 90_000L), ("users", 11_000L)],
            growth.Factors.Select(one => (one.Key, Near: one.Value * growth.Size)).Select(one =>
                (one.Key, one.Near is > 85_000 and < 95_000 ? 90_000L : one.Near is > 10_400 and < 11_600 ? 11_000L : one.Near)).Order());
    }

    [Fact]
    public void What_can_t_grow_is_told()
    {
        DatabaseSample shop = Shop(("users", 1000, "{}"));
        Assert.Contains("have 1,000 already", Refusal(() => WrittenGrowth.ToDocuments(shop, null, 1000)), StringComparison.Ordinal);
        Assert.Contains("no collection that can grow",
            Refusal(() => WrittenGrowth.ToDocuments(Shop(("log", 5, "{\"capped\": true}")), null, 1000)), StringComparison.Ordinal);
        Assert.Contains("so there is no rate", Refusal(() => WrittenGrowth.OfYears(
            shop, Seen(new LearnedOperation("shop", "users", "find", 10)), 1)), StringComparison.Ordinal);
        Assert.Contains("documents", Refusal(() => WrittenGrowth.OfYears(
            shop, Seen(new LearnedOperation("shop", "users", "insert", 1e9)), 100)), StringComparison.Ordinal);
    }

    private static string Refusal(Action action) => Assert.Throws<MongoPerfException>(action).Message;

    private static ObservedReplies Replies(double documents, double nothing) =>
        new(100, documents, 0, nothing, null, new Dictionary<int, double>());

    private static OperationMix Seen(params LearnedOperation[] operations) => new("a test", 100,
        [new ObservedPhase(100, [.. operations.Select(one => new PhaseOperation(one, one.Count, null))])], []);

    private static DatabaseSample Shop(params (string Name, long Count, string Options)[] collections) => new("shop",
        [.. collections.Select(one => new CollectionSample(one.Name, one.Count, [], AreInOrder: true)
        {
            Options = ExtendedJson.Parse(one.Options),
        })], new SamplingCost(0, 0, 0, 0), "here", "", []);
}
