using MongoPerf.Learning.Sampling;
using MongoPerf.Load.Keys;
using MongoPerf.Measurement;

namespace MongoPerf.Tests.Learning;

/// <summary>How many different values there are, and how unevenly they come, from a sample.</summary>
public sealed class CardinalityTests
{
    private const int Sampled = 20_000;

    [Theory]
    [InlineData(50, 0)]
    [InlineData(2_000, 0)]
    [InlineData(100_000, 0)]
    [InlineData(50, 0.8)]
    [InlineData(2_000, 0.6)]
    [InlineData(2_000, 0.99)]
    [InlineData(30_000, 0.9)]
    public void Sample_tells_number_and_skew(int distinct, double theta)
    {
        var random = new RandomStream(7);
        var keys = theta > 0 ? new ZipfianKeys(new KeySpace(distinct), theta) : null;
        var counts = new Dictionary<long, long>();
        for (int i = 0; i < Sampled; i++)
        {
            long value = keys?.Next(ref random) ?? random.Next(distinct);
            counts[value] = counts.GetValueOrDefault(value) + 1;
        }

        Cardinality found = Cardinality.Of(counts.Values, 2_000_000);
        Assert.InRange(found.Drawn, distinct * 0.85, distinct * 1.15);
        Assert.InRange(found.Theta, theta - 0.06, theta + 0.06);
    }

    [Fact]
    public void Values_that_are_all_different_stay_so_in_the_whole_collection() =>
        Assert.Equal(2_000_000, Cardinality.Of([.. Enumerable.Repeat(1L, Sampled)], 2_000_000).Distinct);

    [Fact]
    public void Of_a_whole_collection_the_number_is_exact() =>
        Assert.Equal(3, Cardinality.Of([10, 10, 10], 30).Distinct);
}
