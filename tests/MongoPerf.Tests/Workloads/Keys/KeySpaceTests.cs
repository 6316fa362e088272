using MongoPerf.Engine.Workloads.Keys;

namespace MongoPerf.Tests.Workloads.Keys;

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

    [Fact]
    public void The_window_may_be_filled_and_is_used_again()
    {
        var keys = new KeySpace(0);
        for (int round = 0; round < 3; round++)
        {
            long first = keys.Take(KeySpace.Window);
            keys.Acknowledge(first + 1, KeySpace.Window - 1);
            Assert.Equal(first, keys.Count);
            keys.Acknowledge(first);
            Assert.Equal(keys.Next, keys.Count);
        }
    }

    [Fact]
    public void A_key_that_is_never_acknowledged_is_named()
    {
        var keys = new KeySpace(3);
        keys.Take(KeySpace.Window);
        long beyond = keys.Take();
        Assert.Contains("key 3 was never acknowledged", Assert.Throws<InvalidOperationException>(() => keys.Acknowledge(beyond)).Message, StringComparison.Ordinal);
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
