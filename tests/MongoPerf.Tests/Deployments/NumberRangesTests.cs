using MongoPerf.Deployments.Null;
using MongoPerf.Load.Keys;

namespace MongoPerf.Tests.Deployments;

public sealed class NumberRangesTests
{
    [Fact]
    public void Half_a_billion_numbers_in_a_row_are_one_range()
    {
        var ranges = new NumberRanges();
        for (long at = 0; at < 500_000_000; at += 500_000)
            ranges.Add(new NumberRange(at, at + 500_000));
        Assert.Equal(1, ranges.RangeCount);
        Assert.Equal(500_000_000, ranges.Count);
        Assert.Equal(500_000_000, ranges.End);
    }

    [Fact]
    public void A_hole_is_found_and_filling_it_joins_its_neighbours()
    {
        var ranges = new NumberRanges();
        ranges.Add(new NumberRange(0, 10));
        ranges.Add(new NumberRange(12, 20));
        Assert.True(ranges.TryFindRun(new NumberRange(10, 15), out NumberRange run));
        Assert.Equal(new NumberRange(12, 15), run);
        ranges.Add(new NumberRange(9, 13));
        Assert.Equal(1, ranges.RangeCount);
        Assert.Equal(20, ranges.Count);
        Assert.False(ranges.TryFindRun(new NumberRange(20, 30), out _));
    }

    [Fact]
    public void Ranges_agree_with_a_plain_set_over_random_additions()
    {
        var random = new Random(7);
        for (int round = 0; round < 50; round++)
        {
            var ranges = new NumberRanges();
            var plain = new SortedSet<long>();
            for (int i = 0; i < 60; i++)
            {
                long from = random.Next(1000);
                long to = from + random.Next(1, 12);
                ranges.Add(new NumberRange(from, to));
                for (long number = from; number < to; number++)
                    plain.Add(number);
                Assert.Equal((plain.Count, plain.Max + 1), (ranges.Count, ranges.End));
                Assert.Equal(plain.Contains(to), ranges.Contains(to));
                long low = random.Next(1000);
                var asked = new NumberRange(low, low + random.Next(1, 100));
                SortedSet<long> inside = plain.GetViewBetween(asked.First, asked.End - 1);
                Assert.Equal(inside.Count > 0, ranges.TryFindLast(asked, out long last));
                Assert.Equal(inside.Count > 0, ranges.TryFindRun(asked, out NumberRange run));
                if (inside.Count == 0)
                    continue;
                Assert.Equal((inside.Min, inside.Max), (run.First, last));
                long end = run.First;
                while (inside.Contains(end))
                    end++;
                Assert.Equal(end, run.End);
            }
        }
    }
}
