using MongoPerf.Load.Keys;
using MongoPerf.Measurement;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Keys;

/// <summary>Every distribution against a table computed here, from its published definition and not from the code under test.</summary>
public sealed class KeyDistributionTests
{
    private const int Draws = 2_000_000;
    private const double Theta = 0.99;

    [Theory]
    [InlineData(1_000)]
    [InlineData(7)]
    public void Uniform_keys_are_equally_likely(int count) =>
        AssertDraws(new UniformKeys(new KeySpace(count)), [.. Enumerable.Repeat(1.0 / count, count)]);

    [Theory]
    [InlineData(2, Theta)]
    [InlineData(3, Theta)]
    [InlineData(100, Theta)]
    [InlineData(10_000, Theta)]
    [InlineData(1_000, 0.5)]
    public void Zipfian_keys_follow_the_formula_of_Gray(int count, double theta) =>
        AssertDraws(new ZipfianKeys(new KeySpace(count), theta), Gray(count, theta));

    /// <summary>
    /// YCSB's zipfian is an approximation of Zipf's law. This says how near it is, and that the two most popular keys are exact.
    /// </summary>
    [Fact]
    public void Zipfian_keys_are_near_Zipfs_law()
    {
        const int Count = 1_000;
        long[] counts = Draw(new ZipfianKeys(new KeySpace(Count)), Count);
        double zeta = Zeta(Count, Theta);
        double law = 0;
        double drawn = 0;
        for (int key = 0; key < Count; key++)
        {
            law += Math.Pow(key + 1, -Theta) / zeta;
            drawn += counts[key] / (double)Draws;
            Assert.Equal(law, drawn, key < 2 ? 0.002 : 0.02);
        }
    }

    /// <summary>The popular ranks are enumerated; the many that are left, hashed over the keys, come to the same for each.</summary>
    [Fact]
    public void Scrambled_zipfian_keys_are_hashes_of_zipfian_ranks()
    {
        const int Count = 200;
        const int Enumerated = 2_000_000;
        double[] shares = new double[Count];
        double popular = 0;
        foreach ((long rank, double share) in GrayRanks(ScrambledZipfianKeys.Ranks, Theta, Zeta(ScrambledZipfianKeys.Ranks, Theta))
            .Take(Enumerated))
        {
            shares[FowlerNollVo.Hash(rank) % Count] += share;
            popular += share;
        }

        Assert.InRange(popular, 0.5, 0.7);
        AssertDraws(new ScrambledZipfianKeys(new KeySpace(Count), Count), [.. shares.Select(share => share + ((1 - popular) / Count))]);
    }

    [Fact]
    public void Latest_keys_are_zipfian_from_the_newest()
    {
        double[] shares = Gray(1_000, Theta);
        Array.Reverse(shares);
        AssertDraws(new LatestKeys(new KeySpace(1_000)), shares);
    }

    [Fact]
    public void Latest_keys_move_with_the_inserts()
    {
        var keys = new KeySpace(10);
        var latest = new LatestKeys(keys);
        Draw(latest, 10);
        keys.Acknowledge(keys.Take(490), 490);
        double[] shares = Gray(500, Theta);
        Array.Reverse(shares);
        AssertDraws(latest, shares);
    }

    [Theory]
    [InlineData(1_000, 0.2, 0.8)]
    [InlineData(10, 0.25, 0.5)]
    [InlineData(100, 0.5, 0)]
    [InlineData(100, 0.001, 0.9)]
    [InlineData(100, 1, 0.3)]
    public void Hotspot_keys_are_uniform_in_two_parts(int count, double hotKeys, double hotOperations)
    {
        int hot = Math.Max(1, (int)(count * hotKeys));
        double hotShare = hot == count ? 1 : hotOperations;
        AssertDraws(new HotspotKeys(new KeySpace(count), hotKeys, hotOperations),
            [.. Enumerable.Range(0, count).Select(key => key < hot ? hotShare / hot : (1 - hotShare) / (count - hot))]);
    }

    [Theory]
    [InlineData(1_000, 95, 0.8571428571)]
    [InlineData(1_000, 50, 0.1)]
    [InlineData(20, 99, 1)]
    public void Exponential_keys_have_the_distances_of_an_exponential(int count, double percentile, double fraction)
    {
        double gamma = -Math.Log(1 - (percentile / 100)) / (count * fraction);
        double within = 1 - Math.Exp(-gamma * count);
        AssertDraws(new ExponentialKeys(new KeySpace(count), percentile, fraction),
            [.. Enumerable.Range(0, count).Select(key => count - 1 - key)
                .Select(distance => (Math.Exp(-gamma * distance) - Math.Exp(-gamma * (distance + 1))) / within)]);
    }

    [Fact]
    public void Exponential_keys_lie_within_the_fraction_as_often_as_the_percentile_says()
    {
        long[] counts = Draw(new ExponentialKeys(new KeySpace(100_000), 95, 0.1), 100_000);
        Assert.Equal(0.95, counts.Skip(90_000).Sum() / (double)Draws, 0.001);
    }

    [Fact]
    public void First_keys_are_uniform_over_the_hot_set() =>
        AssertDraws(new FirstKeys(new KeySpace(1_000), 50), [.. Enumerable.Repeat(1.0 / 50, 50), .. Enumerable.Repeat(0.0, 950)]);

    [Fact]
    public void Sequential_keys_come_in_order_and_again()
    {
        var chooser = new SequentialKeys(new KeySpace(3));
        var random = new RandomStream(1);
        long[] drawn = new long[7];
        for (int i = 0; i < drawn.Length; i++)
            drawn[i] = chooser.Next(ref random);
        Assert.Equal([0, 1, 2, 0, 1, 2, 0], drawn);
    }

    [Fact]
    public void Sequential_keys_come_equally_often_over_all_workers()
    {
        const int Count = 1_000;
        const int Rounds = 50;
        var chooser = new SequentialKeys(new KeySpace(Count));
        long[] counts = new long[Count];
        Thread[] threads = [.. Enumerable.Range(0, 4).Select(worker => new Thread(() =>
        {
            KeyChooser own = chooser.ForWorker();
            var random = new RandomStream((ulong)worker);
            for (int i = 0; i < Count * Rounds / 4; i++)
                Interlocked.Increment(ref counts[own.Next(ref random)]);
        }))];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Assert.All(counts, times => Assert.Equal(Rounds, times));
    }

    private static void AssertDraws(KeyChooser chooser, double[] shares) => ChiSquare.AssertAgrees(shares, Draw(chooser, shares.Length));

    private static long[] Draw(KeyChooser chooser, int count)
    {
        long[] counts = new long[count];
        var random = RandomStream.For(42, RandomPurpose.Choice, 0);
        for (int i = 0; i < Draws; i++)
            counts[chooser.Next(ref random)]++;
        return counts;
    }

    private static double[] Gray(int count, double theta) => [.. GrayRanks(count, theta, Zeta(count, theta)).Select(rank => rank.Share)];

    /// <summary>
    /// Gray et al., section 3: u below 1 / ζ gives the first, then up to (1 + 2^−θ) / ζ the second, and above n (ηu − η + 1)^(1 / (1 − θ)),
    /// cut to a whole number.
    /// </summary>
    private static IEnumerable<(long Rank, double Share)> GrayRanks(long count, double theta, double zeta)
    {
        double eta = (1 - Math.Pow(2.0 / count, 1 - theta)) / (1 - ((1 + Math.Pow(0.5, theta)) / zeta));
        yield return (0, 1 / zeta);
        if (count > 1)
            yield return (1, Math.Pow(0.5, theta) / zeta);
        for (long rank = 2; rank < count; rank++)
            yield return (rank, Reached(rank + 1) - Reached(rank));

        // The u at which the formula reaches a rank: its inverse.
        double Reached(long rank) => (Math.Pow(rank / (double)count, 1 - theta) - 1 + eta) / eta;
    }

    /// <summary>Term after term as far as that takes no time; beyond, YCSB's own constant.</summary>
    private static double Zeta(long count, double theta) =>
        count == ScrambledZipfianKeys.Ranks ? ZetaTests.Ycsb : Enumerable.Range(1, (int)count).Sum(i => Math.Pow(i, -theta));
}
