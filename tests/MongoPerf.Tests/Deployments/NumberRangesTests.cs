using MongoPerf.Deployments.Null;

namespace MongoPerf.Tests.Deployments;

public sealed class NumberRangesTests
{
    [Fact]
    public void Half_a_billion_numbers_in_a_row_are_one_range()
    {
        var ranges = new NumberRanges();
        for (long at = 0; at < 500_000_000; at += 500_000)
            Assert.Equal(500_000, ranges.Add(at, at + 500_000));
        Assert.Equal(1, ranges.RangeCount);
        Assert.Equal(500_000_000, ranges.Count);
    }

    [Fact]
    public void A_hole_is_found_and_filling_it_joins_its_neighbours()
    {
        var ranges = new NumberRanges();
        ranges.Add(0, 10);
        ranges.Add(12, 20);
        Assert.True(ranges.TryFindNext(10, out long next));
        Assert.Equal(12, next);
        Assert.Equal(2, ranges.Add(9, 13));
        Assert.Equal(1, ranges.RangeCount);
        Assert.False(ranges.TryFindNext(20, out _));
    }

    [Fact]
    public void Ranges_agree_with_a_plain_set_over_random_changes()
    {
        var ranges = new NumberRanges();
        var plain = new SortedSet<long>();
        var random = new Random(7);
        for (int i = 0; i < 5000; i++)
        {
            long from = random.Next(300);
            long to = from + random.Next(1, 12);
            if (i % 3 == 0)
            {
                Assert.Equal(plain.Remove(from), ranges.Remove(from));
            }
            else
            {
                long added = 0;
                for (long number = from; number < to; number++)
                    added += plain.Add(number) ? 1 : 0;
                Assert.Equal(added, ranges.Add(from, to));
            }

            Assert.Equal(plain.Count, ranges.Count);
            Assert.Equal(plain.Contains(to), ranges.Contains(to));
            Assert.Equal(plain.GetViewBetween(from, to).Count, ranges.CountIn(from, to + 1));
        }
    }
}
