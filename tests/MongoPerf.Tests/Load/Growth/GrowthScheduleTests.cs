using MongoPerf.Load.Growth;
using MongoPerf.Load.Plans;

namespace MongoPerf.Tests.Load.Growth;

public sealed class GrowthScheduleTests
{
    [Theory]
    [InlineData(1, 1)]
    [InlineData(7, 1)]
    [InlineData(1_000, 100)]
    [InlineData(50_000, 5_000)]
    [InlineData(1_000_000, 100_000)]
    [InlineData(5_000_000, 500_000)]
    [InlineData(10_000_000, 500_000)]
    [InlineData(20_000_000, 1_000_000)]
    [InlineData(50_000_000, 1_000_000)]
    [InlineData(100_000_000, 1_000_000)]
    [InlineData(500_000_000, 1_000_000)]
    [InlineData(1_000_000_000, 1_000_000)]
    public void The_default_step_is_a_round_part_of_the_target_and_a_million_at_most(long target, long step) =>
        Assert.Equal(step, GrowthSchedule.DefaultStep(target));

    [Fact]
    public void Steps_cover_the_target_once_whatever_was_asked_for()
    {
        var random = new Random(42);
        for (int round = 0; round < 300; round++)
        {
            long target = random.Next(1, 5000);
            GrowthPlan growth = Growth(
                GrowthSchedule.Sizes(target, random.Next(1, 6000)),
                [random.Next(1, 101), random.NextDouble(), random.Next(1, 101)],
                [("users", 1), ("orders", random.Next(1, 8))]);
            var next = new Dictionary<string, long> { ["users"] = 0, ["orders"] = 0 };
            for (int step = 1; step <= growth.Sizes.Count; step++)
            {
                foreach (WriteRange write in GrowthSchedule.WritesOf(growth, step))
                {
                    Assert.Equal(next[write.Collection.Name], write.Range.First);
                    Assert.True(write.Range.Count > 0);
                    next[write.Collection.Name] = write.Range.End;
                }

                Assert.All(growth.Collections, c => Assert.Equal(growth.Sizes[step - 1] * c.Factor, next[c.Name]));
            }

            Assert.Equal(target, next["users"]);
        }
    }

    [Fact]
    public void Each_collection_is_written_in_all_ways_before_the_next()
    {
        GrowthPlan growth = Growth([10, 20], [1, 3], [("users", 1), ("orders", 5)]);
        Assert.Equal(
            ["users w1 10-12", "users w2 12-20", "orders w1 50-62", "orders w2 62-100"],
            GrowthSchedule.WritesOf(growth, 2).Select(w => $"{w.Collection.Name} {w.Write.Name} {w.Range.First}-{w.Range.End}"));
    }

    [Fact]
    public void Shares_are_parts_of_a_step_in_the_order_of_the_writes() =>
        Assert.Equal(["w1 1000-1200", "w2 1200-1700", "w3 1700-2000"], RangesOf(Growth(GrowthSchedule.Sizes(3000, 1000), [20, 50, 30]), 2));

    [Fact]
    public void Shares_need_not_be_percent() =>
        Assert.Equal(["w1 0-250", "w2 250-1000"], RangesOf(Growth([1000], [1, 3]), 1));

    [Fact]
    public void A_share_too_small_for_a_document_writes_none() =>
        Assert.Equal(["w2 0-3"], RangesOf(Growth([3], [1, 99]), 1));

    [Fact]
    public void Chosen_sizes_are_the_steps() =>
        Assert.Equal(
            [["w1 0-7"], ["w1 7-100"], ["w1 100-101"]], Enumerable.Range(1, 3).Select(step => RangesOf(Growth([7, 100, 101], [1]), step)));

    [Theory]
    [InlineData(2200, 1000, "1000,2000,2200")]
    [InlineData(2000, 1000, "1000,2000")]
    [InlineData(5, 10, "5")]
    [InlineData(1, 1, "1")]
    public void The_last_size_is_the_target(long target, long step, string sizes) =>
        Assert.Equal(sizes, string.Join(',', GrowthSchedule.Sizes(target, step)));

    [Theory]
    [InlineData(0, 1)]
    [InlineData(999, 1)]
    [InlineData(1000, 2)]
    [InlineData(1500, 2)]
    [InlineData(2100, 3)]
    [InlineData(2200, 4)]
    public void Starting_in_the_middle_begins_with_the_step_that_holds_it(long documents, int step) =>
        Assert.Equal(step, GrowthSchedule.StepBeyond(Growth([1000, 2000, 2200], [1]), documents));

    private static string[] RangesOf(GrowthPlan growth, int step) =>
        [.. GrowthSchedule.WritesOf(growth, step).Select(w => $"{w.Write.Name} {w.Range.First}-{w.Range.End}")];

    private static GrowthPlan Growth(IReadOnlyList<long> sizes, double[] shares, (string Name, long Factor)[]? collections = null) => new()
    {
        Collections = [.. (collections ?? [("c", 1)]).Select(c => new GrowingCollection(c.Name, c.Factor))],
        Sizes = sizes,
        Writes = [.. shares.Select((share, i) => new GrowthWrite($"w{i + 1}", share, new Dictionary<string, PhaseGroup>()))],
        Each = [],
    };
}
