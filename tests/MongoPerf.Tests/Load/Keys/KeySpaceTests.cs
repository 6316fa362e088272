using MongoPerf.Load.Keys;

namespace MongoPerf.Tests.Load.Keys;

public sealed class KeySpaceTests
{
    [Fact]
    public void A_key_exists_once_all_before_it_are_acknowledged()
    {
        var keys = new KeySpace(10);
        Assert.Equal(10, keys.Take());
        Assert.Equal(11, keys.Take(3));
        Assert.Equal(14, keys.Take());
        Assert.Equal(15, keys.Next);
        keys.Acknowledge(14);
        keys.Acknowledge(12, 2);
        Assert.Equal(10, keys.Count);
        keys.Acknowledge(10);
        Assert.Equal(11, keys.Count);
        keys.Acknowledge(11);
        Assert.Equal(15, keys.Count);
    }

    [Fact]
    public void Eight_threads_acknowledge_every_key()
    {
        const int Each = 200_000;
        var keys = new KeySpace(5);
        bool aheadOfTaken = false;
        Thread[] threads = [.. Enumerable.Range(1, 8).Select(size => new Thread(() =>
        {
            for (int i = 0; i < Each; i += size)
            {
                keys.Acknowledge(keys.Take(size), size);
                aheadOfTaken |= keys.Count > keys.Next;
            }
        }))];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Assert.False(aheadOfTaken);
        Assert.Equal(keys.Next, keys.Count);
        Assert.Equal(5 + Enumerable.Range(1, 8).Sum(size => (Each + size - 1) / size * size), keys.Count);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4_095)]
    [InlineData(4_096)]
    [InlineData(100_000)]
    [InlineData(3_000_000)]
    public void One_insert_that_takes_its_time_holds_up_the_count_however_many_others_are_acknowledged(int others)
    {
        var keys = new KeySpace(7);
        for (int round = 0; round < 3; round++)
        {
            long slow = keys.Take();
            for (int i = 0; i < others; i++)
                keys.Acknowledge(keys.Take());
            Assert.Equal(slow, keys.Count);
            long gap = keys.Take();
            keys.Acknowledge(keys.Take());
            keys.Acknowledge(slow);
            Assert.Equal(gap, keys.Count);
            keys.Acknowledge(gap);
            Assert.Equal(keys.Next, keys.Count);
        }
    }

    [Fact]
    public void Keys_that_nobody_took_are_not_acknowledged()
    {
        var keys = new KeySpace(3);
        Assert.Throws<ArgumentOutOfRangeException>(() => keys.Acknowledge(2));
        Assert.Throws<ArgumentOutOfRangeException>(() => keys.Acknowledge(3));
        Assert.Throws<ArgumentOutOfRangeException>(() => keys.Acknowledge(4));
    }
}
