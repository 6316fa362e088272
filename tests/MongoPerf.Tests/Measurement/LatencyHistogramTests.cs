using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Measurement;

public sealed class LatencyHistogramTests
{
    [Theory]
    // Of 1 to 1000: the least value that at least p % of the values don't exceed.
    [InlineData(0, 1)]
    [InlineData(0.01, 1)]
    [InlineData(50, 500)]
    [InlineData(50.01, 501)]
    [InlineData(99, 990)]
    [InlineData(99.9, 999)]
    [InlineData(99.91, 1000)]
    [InlineData(100, 1000)]
    public void Rank_of_a_percentile_rounds_up(double percent, long expected)
    {
        var histogram = new LatencyHistogram();
        for (int i = 1; i <= 1000; i++)
            histogram.Record(i);
        Assert.InRange(histogram.ValueAtPercentile(percent)!.Value, expected, UpperEnd(expected));
    }

    [Fact]
    public void Ten_thousand_fast_operations_and_one_long_pause_give_the_classical_figures()
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 10_000; i++)
            histogram.Record(1000);
        histogram.Record(100_000_000);
        Assert.Equal(10_001, histogram.TotalCount);
        Assert.InRange(histogram.ValueAtPercentile(50)!.Value, 1000, 1001);
        Assert.InRange(histogram.ValueAtPercentile(99.99)!.Value, 1000, 1001);
        Assert.InRange(histogram.ValueAtPercentile(99.999)!.Value, 100_000_000, 100_100_000);
        Assert.InRange(histogram.Maximum!.Value, 100_000_000, 100_100_000);
        Assert.InRange(histogram.Minimum!.Value, 999, 1000);
        double exact = ((10_000 * 1000.0) + 100_000_000) / 10_001;
        Assert.InRange(histogram.Mean!.Value, exact * 0.999, exact * 1.001);
    }

    [Fact]
    public void Empty_histogram_has_no_figures()
    {
        var histogram = new LatencyHistogram();
        Assert.Null(histogram.ValueAtPercentile(99));
        Assert.Null(histogram.Minimum);
        Assert.Null(histogram.Maximum);
        Assert.Null(histogram.Mean);
        Assert.Equal(new LatencySummary(), LatencySummaries.From(histogram));
    }

    [Fact]
    public void Summary_has_the_histogram_s_own_figures()
    {
        var histogram = new LatencyHistogram();
        for (int i = 1; i <= 1000; i++)
            histogram.Record(i);
        // Upper ends of their buckets, which are 256 ns wide at 500 µs and 512 ns at 1 ms.
        Assert.Equal(
            new LatencySummary { Min = 1, Mean = 500.5, P50 = 500.2, P90 = 900.1, P95 = 950.3, P99 = 990.2, P999 = 999.4, Max = 1000.4 },
            LatencySummaries.From(histogram));
    }

    [Fact]
    public void Every_bucket_begins_where_the_one_before_ends()
    {
        for (int i = 0; i < LatencyHistogram.CountsLength; i++)
        {
            long lowest = LatencyHistogram.LowestAt(i);
            long highest = LatencyHistogram.HighestAt(i);
            Assert.Equal(i, LatencyHistogram.IndexOf(lowest));
            Assert.Equal(i, LatencyHistogram.IndexOf(highest));
            Assert.True(i == 0 || LatencyHistogram.HighestAt(i - 1) == lowest - 1);
            Assert.True(highest - lowest < Math.Max(LatencyHistogram.LowestNanoseconds, lowest / 1000.0),
                $"bucket {i}: {lowest} to {highest}");
        }

        // Where a 32-bit shift would have wrapped.
        Assert.True(LatencyHistogram.HighestAt(LatencyHistogram.CountsLength - 1) > LatencyHistogram.HighestNanoseconds);
        Assert.True(LatencyHistogram.HighestAt(LatencyHistogram.CountsLength - 1) > int.MaxValue);
    }

    [Fact]
    public void Longer_than_an_hour_counts_as_overflow_and_is_in_no_bucket()
    {
        var histogram = new LatencyHistogram();
        histogram.RecordNanoseconds(LatencyHistogram.HighestNanoseconds);
        histogram.RecordNanoseconds(LatencyHistogram.HighestNanoseconds + 1);
        histogram.RecordNanoseconds(long.MaxValue);
        Assert.Equal(1, histogram.TotalCount);
        Assert.Equal(2, histogram.OverflowCount);
        Assert.InRange(histogram.Maximum!.Value, LatencyHistogram.HighestNanoseconds / 1000.0,
            LatencyHistogram.HighestNanoseconds * 1.001 / 1000);
    }

    [Fact]
    public void Negative_durations_count_as_the_shortest()
    {
        var histogram = new LatencyHistogram();
        histogram.RecordNanoseconds(-1);
        histogram.RecordNanoseconds(long.MinValue);
        histogram.RecordNanoseconds(0);
        Assert.Equal(3, histogram.TotalCount);
        Assert.Equal(0.1, histogram.Maximum);
        Assert.Equal(0.1, histogram.Minimum);
    }

    [Fact]
    public void Difference_holds_what_came_since()
    {
        var now = new LatencyHistogram();
        var before = new LatencyHistogram();
        var difference = new LatencyHistogram();
        now.Record(5);
        now.RecordNanoseconds(long.MaxValue);
        now.AddTo(before);
        now.Record(7);
        now.RecordNanoseconds(long.MaxValue);
        difference.Record(1);
        difference.SetToDifference(now, before);
        Assert.Equal(1, difference.TotalCount);
        Assert.Equal(1, difference.OverflowCount);
        Assert.InRange(difference.Minimum!.Value, 6.9, 7);
        Assert.InRange(difference.Maximum!.Value, 7, 7.1);
    }

    [Fact]
    public void The_shortest_durations_count_like_any_other()
    {
        var now = new LatencyHistogram();
        now.RecordNanoseconds(0);
        now.Record(5);
        var difference = new LatencyHistogram();
        difference.SetToDifference(now, new LatencyHistogram());
        Assert.Equal(2, difference.TotalCount);
        Assert.Equal([(0.1, 1L)], now.Buckets().Take(1));
        Assert.Equal([(0, 1L), (78, 1L)], now.Counts());
    }

    [Fact]
    public void Clearing_forgets_everything()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(5);
        histogram.RecordNanoseconds(long.MaxValue);
        histogram.Clear();
        Assert.Equal(0, histogram.TotalCount + histogram.OverflowCount);
        Assert.Null(histogram.Maximum);
    }

    /// <summary>Of unacknowledged inserts, which the socket takes in a microsecond or two.</summary>
    [Fact]
    public void Durations_of_less_than_a_microsecond_are_told_apart()
    {
        var histogram = new LatencyHistogram();
        foreach (int nanoseconds in (int[])[150, 350, 900, 1250])
            histogram.RecordNanoseconds(nanoseconds);
        Assert.Equal(4, histogram.Buckets().Count());
        Assert.Equal((0.1, 0.4, 1.3),
            (LatencySummaries.From(histogram).Min, LatencySummaries.From(histogram).P50, LatencySummaries.From(histogram).Max));
    }

    [Theory]
    [InlineData(-0.1)]
    [InlineData(100.1)]
    [InlineData(double.NaN)]
    public void A_percentile_outside_0_to_100_is_refused(double percent) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new LatencyHistogram().ValueAtPercentile(percent));

    [Theory]
    [InlineData(11)]
    [InlineData(12)]
    [InlineData(13)]
    public void Percentiles_of_random_durations_are_within_a_thousandth_of_the_sorted_ones(int seed)
    {
        var random = new Random(seed);
        for (int round = 0; round < 20; round++)
        {
            long[] values = new long[random.Next(1, 20_000)];
            var histogram = new LatencyHistogram();
            for (int i = 0; i < values.Length; i++)
            {
                values[i] = (long)Math.Exp(random.NextDouble() * Math.Log(LatencyHistogram.HighestNanoseconds));
                histogram.RecordNanoseconds(values[i]);
            }

            Array.Sort(values);
            foreach (double percent in new[] { 0, 0.1, 10, 50, 90, 95, 99, 99.9, 99.99, 100 })
            {
                int rank = Math.Max(1, (int)Math.Ceiling((decimal)percent / 100 * values.Length));
                long exact = values[rank - 1];
                Assert.InRange(histogram.ValueAtPercentile(percent)!.Value, exact / 1000.0, UpperEnd(exact / 1000.0));
            }

            Assert.InRange(histogram.Mean!.Value, values.Average() * 0.000999, values.Average() * 0.001001);
        }
    }

    /// <summary>Of the bucket that counts a duration; microseconds.</summary>
    private static double UpperEnd(double microseconds) => Math.Max(0.1, Math.Max(microseconds * 1.001, microseconds + 0.064));
}
