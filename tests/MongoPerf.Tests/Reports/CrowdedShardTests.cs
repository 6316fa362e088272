using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Reports;

/// <summary>Shards of which one holds nearly all documents measure one server, and nobody must take them for several.</summary>
public sealed class CrowdedShardTests
{
    [Theory]
    [InlineData(950, 50, true)]
    [InlineData(940, 60, false)]
    [InlineData(500, 500, false)]
    [InlineData(99, 0, false)]
    public void Nearly_all_documents_on_one_shard_are_told_unless_there_are_hardly_any(long first, long second, bool isTold) =>
        Assert.Equal(isTold, ShardVerdict.Crowded(Orders("{customer: 1}", false, first, second)) is not null);

    [Fact]
    public void It_says_which_shard_and_why() => Assert.Equal(
        "orders: shard s1 holds 100% of 2,000 documents by its shard key {customer: 1}; the figures are those of one shard, not of 2",
        ShardVerdict.Crowded(Orders("{customer: 1}", false, 0, 2000))?.Replace(" %", "%", StringComparison.Ordinal));

    [Fact]
    public void A_collection_that_nobody_sharded_is_told_too() =>
        Assert.Contains("since it is not sharded", ShardVerdict.Crowded(Orders(null, false, 2000, 0)), StringComparison.Ordinal);

    [Fact]
    public void What_a_scenario_asked_for_or_nobody_counted_is_not_told()
    {
        Assert.Null(ShardVerdict.Crowded(Orders("{_id: 1}", true, 2000, 0)));
        Assert.Null(ShardVerdict.Crowded(Orders("{_id: 1}", false, 2000, null)));
        Assert.Null(ShardVerdict.Crowded(Orders("{_id: 1}", false, 2000)));
    }

    private static CollectionSharding Orders(string? key, bool isPlaced, params long?[] documents) =>
        new("orders", isPlaced, [.. documents.Select((count, index) => new ShardPart($"s{index}", count, 1))], key);
}
