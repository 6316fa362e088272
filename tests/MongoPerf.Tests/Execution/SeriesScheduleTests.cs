using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Tests.Execution;

public sealed class SeriesScheduleTests
{
    [Theory]
    [InlineData(1, 1)]
    [InlineData(7, 1)]
    [InlineData(1_000, 100)]
    [InlineData(50_000, 5_000)]
    [InlineData(1_000_000, 100_000)]
    [InlineData(5_000_000, 500_000)]
    [InlineData(10_000_000, 500_000)]
    [InlineData(50_000_000, 2_000_000)]
    [InlineData(100_000_000, 1_000_000)]
    [InlineData(500_000_000, 5_000_000)]
    [InlineData(1_000_000_000, 10_000_000)]
    public void The_default_step_is_a_round_part_of_the_target(long target, long step) => Assert.Equal(step, SeriesSchedule.DefaultStep(target));

    [Fact]
    public void Steps_cover_the_target_once_whatever_was_asked_for()
    {
        var random = new Random(42);
        for (int round = 0; round < 300; round++)
        {
            long target = random.Next(1, 5000);
            long step = random.Next(1, 6000);
            int unack = random.Next(0, 101);
            int safe = random.Next(0, 101 - unack);
            long next = 0;
            int number = 1;
            foreach (SeriesStep s in SeriesSchedule.Steps(target, step, [unack, 100 - unack - safe, safe], SeriesTests.All))
            {
                Assert.Equal(number++, s.Step);
                Assert.Equal(next, s.Range.First);
                foreach (InsertRange insert in s.Inserts)
                {
                    Assert.Equal(next, insert.Range.First);
                    Assert.True(insert.Range.Count > 0);
                    next = insert.Range.End;
                }

                Assert.Equal(next, s.Range.End);
            }

            Assert.Equal(target, next);
        }
    }

    [Fact]
    public void Shares_are_percentages_of_a_step_in_the_order_of_the_tests()
    {
        SeriesStep second = SeriesSchedule.Steps(3000, 1000, [20, 50, 30], SeriesTests.All).ElementAt(1);
        Assert.Equal(
            [new("unack", new(1000, 1200)), new("batch", new(1200, 1700)), new("safe", new(1700, 2000))],
            second.Inserts);
    }

    [Theory]
    [InlineData("safe q4", "batch 0 700;safe 700 1000")]
    [InlineData("unack batch", "unack 0 200;batch 200 1000")]
    [InlineData("q7", "batch 0 1000")]
    public void The_share_of_a_test_that_was_not_asked_for_goes_to_batch(string tests, string expected)
    {
        SeriesStep step = SeriesSchedule.Steps(1000, 1000, [20, 50, 30], tests.Split(' ')).Single();
        Assert.Equal(expected, string.Join(';', step.Inserts.Select(i => $"{i.Test} {i.Range.First} {i.Range.End}")));
    }

    [Theory]
    [InlineData(0, 1, 0)]
    [InlineData(999, 1, 0)]
    [InlineData(1000, 2, 1000)]
    [InlineData(1500, 2, 1000)]
    [InlineData(2100, 3, 2000)]
    public void Starting_in_the_middle_begins_with_the_step_that_holds_it(long start, int number, long first)
    {
        SeriesStep step = SeriesSchedule.Steps(2200, 1000, [20, 60, 20], SeriesTests.All, start).First();
        Assert.Equal(number, step.Step);
        Assert.Equal(first, step.Range.First);
        Assert.Equal(SeriesSchedule.Steps(2200, 1000, [20, 60, 20], SeriesTests.All).ElementAt(number - 1).Inserts, step.Inserts);
    }

    [Fact]
    public void At_the_target_no_step_is_left() => Assert.Empty(SeriesSchedule.Steps(2000, 1000, [20, 60, 20], SeriesTests.All, 2000));
}
