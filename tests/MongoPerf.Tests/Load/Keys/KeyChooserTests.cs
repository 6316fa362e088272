using MongoPerf.Load.Keys;
using MongoPerf.Measurement;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Keys;

/// <summary>What holds for every way of choosing.</summary>
public sealed class KeyChooserTests
{
    private static readonly Dictionary<string, Func<KeySpace, KeyChooser>> Choosers = new(StringComparer.Ordinal)
    {
        ["uniform"] = keys => new UniformKeys(keys),
        ["zipfian"] = keys => new ZipfianKeys(keys),
        ["scrambled"] = keys => new ScrambledZipfianKeys(keys, keys.Count),
        ["latest"] = keys => new LatestKeys(keys),
        ["hotspot"] = keys => new HotspotKeys(keys, 0.2, 0.8),
        ["exponential"] = keys => new ExponentialKeys(keys, 95, 0.8571428571),
        ["sequential"] = keys => new SequentialKeys(keys),
        ["first"] = keys => new FirstKeys(keys, 100),
    };

    public static TheoryData<string> Names => [.. Choosers.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public void Every_key_exists(string name)
    {
        foreach (long count in (long[])[1, 2, 3, 1_000, 10_000_000_000, long.MaxValue / 4])
        {
            KeyChooser chooser = Choosers[name](new KeySpace(count));
            var random = new RandomStream(7);
            for (int i = 0; i < 20_000; i++)
                Assert.InRange(chooser.Next(ref random), 0, count - 1);
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Both_of_two_keys_are_drawn(string name)
    {
        KeyChooser chooser = Choosers[name](new KeySpace(2));
        var random = new RandomStream(7);
        long sum = 0;
        for (int i = 0; i < 10_000; i++)
            sum += chooser.Next(ref random);
        Assert.InRange(sum, 1_000, 9_000);
    }

    [Theory]
    [InlineData("uniform")]
    [InlineData("zipfian")]
    [InlineData("scrambled")]
    [InlineData("hotspot")]
    [InlineData("exponential")]
    [InlineData("latest")]
    public void Huge_ranges_are_used_to_their_ends(string name)
    {
        const long Count = 10_000_000_000;
        KeyChooser chooser = Choosers[name](new KeySpace(Count));
        var random = new RandomStream(7);
        long least = Count;
        long greatest = 0;
        for (int i = 0; i < 200_000; i++)
        {
            long key = chooser.Next(ref random);
            (least, greatest) = (Math.Min(least, key), Math.Max(greatest, key));
        }

        Assert.InRange(least, 0, Count / 1000);
        Assert.InRange(greatest, Count - (Count / 1000), Count);
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_seed_gives_the_same_keys_again(string name)
    {
        Assert.Equal(First(1), First(1));
        if (name != "sequential")
            Assert.NotEqual(First(1), First(2));

        long[] First(ulong seed)
        {
            KeyChooser chooser = Choosers[name](new KeySpace(1_000)).ForWorker();
            var random = new RandomStream(seed);
            long[] keys = new long[50];
            for (int i = 0; i < keys.Length; i++)
                keys[i] = chooser.Next(ref random);
            return keys;
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_key_allocates_nothing_though_the_keys_grow(string name)
    {
        var keys = new KeySpace(1_000);
        KeyChooser chooser = Choosers[name](keys);
        var random = new RandomStream(7);
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 10_000; i++)
            {
                keys.Acknowledge(keys.Take());
                chooser.Next(ref random);
            }
        }));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Without_a_key_to_choose_from_the_first_to_come_is_drawn(string name)
    {
        var keys = new KeySpace(0);
        var random = new RandomStream(7);
        KeyChooser chooser = name == "scrambled" ? new ScrambledZipfianKeys(keys, 1) : Choosers[name](keys);
        Assert.Equal(0, chooser.Next(ref random));
    }

    [Fact]
    public void Scrambled_zipfian_keys_keep_their_popular_ones_while_keys_are_inserted()
    {
        const int Expected = 1_000;
        var keys = new KeySpace(500);
        var chooser = new ScrambledZipfianKeys(keys, Expected);
        long before = MostPopular();
        keys.Acknowledge(keys.Take(500), 500);
        long[] counts = Count();
        Assert.True(counts[before] > counts.Sum() / 100,
            $"key {before} was the most popular and is now drawn {counts[before]} times of {counts.Sum()}");
        Assert.Contains(counts[500..], times => times > 0);

        long MostPopular()
        {
            long[] counts = Count();
            Assert.All(counts[500..], times => Assert.Equal(0, times));
            return Array.IndexOf(counts, counts.Max());
        }

        long[] Count()
        {
            long[] counts = new long[Expected];
            var random = new RandomStream(7);
            for (int i = 0; i < 100_000; i++)
                counts[chooser.Next(ref random)]++;
            return counts;
        }
    }

    [Theory]
    [InlineData(-0.1, 0.5)]
    [InlineData(1.1, 0.5)]
    [InlineData(0.5, double.NaN)]
    public void A_hotspot_of_impossible_shares_is_refused(double hotKeys, double hotOperations) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new HotspotKeys(new KeySpace(5), hotKeys, hotOperations));

    [Theory]
    [InlineData(0, 0.5)]
    [InlineData(100, 0.5)]
    [InlineData(95, 0)]
    [InlineData(95, double.PositiveInfinity)]
    public void An_impossible_exponential_is_refused(double percentile, double fraction) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new ExponentialKeys(new KeySpace(5), percentile, fraction));

    [Fact]
    public void An_empty_hot_set_is_refused() => Assert.Throws<ArgumentOutOfRangeException>(() => new FirstKeys(new KeySpace(5), 0));
}
