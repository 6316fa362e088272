using MongoPerf.Load.Keys;

namespace MongoPerf.Tests.Load.Keys;

public sealed class NumberSourceTests
{
    [Fact]
    public void Eight_threads_get_every_number_once()
    {
        const long First = 1_000;
        const long End = 201_003;
        var source = new NumberSource(First, End);
        int[] seen = new int[End - First];
        Thread[] threads = [.. Enumerable.Range(1, 8).Select(size => new Thread(() =>
        {
            int count;
            while ((count = source.Take(size, out long first)) > 0)
            {
                for (int i = 0; i < count; i++)
                    Interlocked.Increment(ref seen[first + i - First]);
            }
        }))];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Assert.All(seen, times => Assert.Equal(1, times));
        Assert.Equal(End, source.Next);
    }

    [Fact]
    public void The_last_block_is_cut_and_then_there_is_nothing()
    {
        var source = new NumberSource(5, 12);
        Assert.Equal(5, source.Take(5, out long first));
        Assert.Equal(5, first);
        Assert.Equal(10, source.Next);
        Assert.Equal(2, source.Take(5, out first));
        Assert.Equal(10, first);
        for (int i = 0; i < 3; i++)
            Assert.Equal(0, source.Take(5, out _));
        Assert.Equal(12, source.Next);
    }

    /// <summary>
    /// However many threads share however few numbers: nobody's are another's, none is left out, and nobody has much more than another.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Ranges_are_a_partition_into_nearly_equal_parts(int seed)
    {
        var random = new Random(seed);
        for (int i = 0; i < 500; i++)
        {
            long first = random.NextInt64(0, 1L << 40);
            var all = new NumberSource(first, first + random.NextInt64(0, i % 2 == 0 ? 50 : 1L << 50));
            int count = random.Next(1, 1000);
            NumberSource[] ranges = [.. Enumerable.Range(0, count).Select(index => all.Range(index, count))];
            Assert.Equal((all.First, all.End), (ranges[0].First, ranges[^1].End));
            Assert.All(ranges.Zip(ranges.Skip(1)), pair => Assert.Equal(pair.First.End, pair.Second.First));
            long[] lengths = [.. ranges.Select(r => r.End - r.First)];
            Assert.InRange(lengths.Max() - lengths.Min(), 0, 1);
        }
    }

    [Fact]
    public void An_empty_range_has_no_numbers() => Assert.Equal(0, new NumberSource(7, 7).Take(1, out _));
}
