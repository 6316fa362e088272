namespace MongoPerf.Tests.Support;

/// <summary>A test that lets everything pass would show nothing about the distributions.</summary>
public sealed class ChiSquareTests
{
    [Fact]
    public void The_statistic_is_that_of_a_die_thrown_by_hand()
    {
        (double statistic, int freedom) = ChiSquare.Compare([.. Enumerable.Repeat(1 / 6.0, 6)], [16, 18, 16, 14, 12, 44]);
        Assert.Equal(5, freedom);
        // Of 120 throws 20 each: (16 + 4 + 16 + 36 + 64 + 576) / 20.
        Assert.Equal(35.6, statistic, 9);
    }

    [Fact]
    public void Small_bins_are_pooled_and_cost_their_degrees_of_freedom()
    {
        (double statistic, int freedom) = ChiSquare.Compare([0.5, 0.3, 0.02, 0.04, 0.04, 0.1], [50, 30, 4, 4, 2, 10]);
        Assert.Equal(3, freedom);
        Assert.Equal(0, statistic, 9);
    }

    [Theory]
    [InlineData(1, 15.14, 0.08)]
    [InlineData(10, 35.56, 0.02)]
    [InlineData(100, 161.3, 0.01)]
    [InlineData(1000, 1174.9, 0.01)]
    public void The_quantile_is_that_of_the_tables(int freedom, double tabulated, double tolerance) =>
        Assert.InRange(ChiSquare.Quantile(freedom) / tabulated, 1 - tolerance, 1 + tolerance);

    [Fact]
    public void A_bias_of_a_fiftieth_is_found_in_a_million_draws()
    {
        long[] counts = new long[100];
        for (int i = 0; i < 1_000_000; i++)
            counts[i % 100]++;
        counts[7] += 400;
        counts[8] -= 400;
        double[] even = [.. Enumerable.Repeat(0.01, 100)];
        ChiSquare.AssertAgrees(even, [.. Enumerable.Repeat(10_000L, 100)]);
        (double statistic, int freedom) = ChiSquare.Compare(even, counts);
        Assert.Equal(32, statistic, 9);
        counts[7] += 1000;
        counts[8] -= 1000;
        Assert.True(ChiSquare.Compare(even, counts).Statistic > ChiSquare.Quantile(freedom));
    }
}
