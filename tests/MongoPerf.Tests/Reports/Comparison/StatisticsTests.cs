using MongoPerf.Measurement;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Tests.Reports.Comparison;

public sealed class StatisticsTests
{
    [Fact]
    public void Holm_multiplies_the_smallest_by_all_and_never_falls()
    {
        // The textbook example: 0.01, 0.04, 0.03, 0.005 of four tests.
        double[] adjusted = Holm.Adjust([0.01, 0.04, 0.03, 0.005]);
        Assert.Equal([0.03, 0.06, 0.06, 0.02], adjusted.Select(p => Math.Round(p, 10)));
        Assert.Equal([1.0, 1.0], Holm.Adjust([0.8, 0.9]));
        Assert.Empty(Holm.Adjust([]));
    }

    /// <summary>Found where w:0 loads had seconds without a document: "0.74, NaN to NaN" was printed.</summary>
    [Theory]
    [InlineData(double.NaN, 1.2)]
    [InlineData(0.0, double.NaN)]
    [InlineData(0.1, double.PositiveInfinity)]
    public void Interval_with_a_bound_that_is_no_number_is_none(double low, double high)
    {
        Assert.Null(new Ratio(0.74, new Interval(low, high)).Interval);
        Assert.NotNull(new Ratio(0.74, new Interval(0.5, 1.2)).Interval);
    }

    [Theory]
    [InlineData(0.0)]
    [InlineData(0.5)]
    [InlineData(0.8)]
    public void Correlation_is_found_again_also_in_short_windows(double correlation)
    {
        var noise = new NoisySamples(5, correlation: correlation);
        double estimated = Autocorrelation.OfFirstOrder(Enumerable.Range(0, 300).Select(_ => noise.Window(30)));
        Assert.InRange(estimated, correlation - 0.04, correlation + 0.04);
    }

    [Fact]
    public void Correlation_of_what_never_varies_or_alternates_is_none()
    {
        Assert.Equal(0, Autocorrelation.OfFirstOrder([[5, 5, 5, 5]]));
        Assert.Equal(0, Autocorrelation.OfFirstOrder([]));
        Assert.Equal(0, Autocorrelation.OfFirstOrder([[.. Enumerable.Range(0, 40).Select(i => 100.0 + (i % 2))]]));
    }

    [Theory]
    [InlineData(0.5, 1000, 3.0)]
    [InlineData(0.0, 50, 1.0)]
    [InlineData(0.5, 1, 1.0)]
    [InlineData(0.5, 2, 1.5)]
    public void Variance_of_a_mean_grows_with_correlation_as_the_process_says(double correlation, int samples, double inflation) =>
        Assert.Equal(inflation, Autocorrelation.VarianceInflation(correlation, samples), 0.005);

    [Theory]
    [InlineData(0.5, 50, 6)]
    [InlineData(0.0, 50, 1)]
    [InlineData(0.95, 50, 12)]
    [InlineData(0.5, 1000, 14)]
    public void Blocks_grow_with_correlation_and_window_and_stay_below_a_quarter(double correlation, int samples, int length) =>
        Assert.Equal(length, Autocorrelation.BlockLength(correlation, samples));

    [Fact]
    public void Rank_test_of_uncorrelated_samples_is_the_textbook_one()
    {
        // Rank sum 16 where 27.5 is the mean and 4.787 the deviation: z = 2.402, here held against t with 8 degrees of freedom.
        double p = MannWhitney.PValue([new SamplePair([1, 4, 2, 6, 3], [5, 9, 7, 10, 8])]);
        Assert.Equal(0.0430, p, 0.0002);
        Assert.Equal(1, MannWhitney.PValue([new SamplePair([3, 3, 3], [3, 3, 3])]));
    }

    [Fact]
    public void Rank_test_does_not_care_for_units_nor_for_which_side_is_first()
    {
        var noise = new NoisySamples(9);
        var pair = new SamplePair(noise.Window(40), noise.Window(40, 960));
        double p = MannWhitney.PValue([pair]);
        Assert.Equal(
            p, MannWhitney.PValue([new SamplePair([.. pair.Baseline.Select(v => v * 1000)], [.. pair.Candidate.Select(v => v * 1000)])]),
            1e-9);
        Assert.Equal(p, MannWhitney.PValue([new SamplePair(pair.Candidate, pair.Baseline)]), 1e-9);
    }

    [Fact]
    public void Rank_test_over_sizes_compares_each_size_with_itself_only()
    {
        // Sizes far apart, no difference at either: mixed together, the samples of one size would drown the other's.
        var noise = new NoisySamples(11);
        double p = MannWhitney.PValue([new SamplePair(noise.Window(200, 1000), noise.Window(40, 1000)),
            new SamplePair(noise.Window(40, 9000), noise.Window(200, 9000))]);
        Assert.InRange(p, 0.05, 1);
    }

    [Fact]
    public void Correlated_samples_count_for_less()
    {
        double[] slow = [.. Enumerable.Range(0, 60).Select(i => 1000 + (40 * Math.Sin(i / 5.0)))];
        double[] other = [.. slow.Select(v => v * 1.02)];
        var shuffled = new SamplePair([.. slow.OrderBy(v => Mixing.Mix((ulong)(v * 1e6)))],
            [.. other.OrderBy(v => Mixing.Mix((ulong)(v * 1e6)))]);
        Assert.True(MannWhitney.PValue([new SamplePair(slow, other)]) > 10 * MannWhitney.PValue([shuffled]));
    }

    [Fact]
    public void T_tests_are_those_of_the_tables()
    {
        // t = 2.0 / (sqrt(2.5) / sqrt(5)) = 2.828 with 4 degrees of freedom.
        Assert.Equal(0.0474, UnitComparison.PairedP([0, 1, 2, 3, 4]), 0.0001);
        // Means 3 and 8, variances 2.5 each, 8 degrees of freedom, t = 5.
        Assert.Equal(0.00105, UnitComparison.WelchP([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 0.00001);
        Assert.Equal(1, UnitComparison.PairedP([0, 0, 0]));
    }

    /// <summary>An interval that is honest holds the truth in 95 of 100, and 200 windows can tell that from 90.</summary>
    [Theory]
    [InlineData(1, 50, 0.5)]
    [InlineData(3, 20, 0.5)]
    [InlineData(1, 100, 0.7)]
    public void Intervals_hold_the_true_ratio(int sizes, int samples, double correlation)
    {
        var noise = new NoisySamples(23, correlation: correlation);
        const int times = 200;
        int held = 0;
        for (int i = 0; i < times; i++)
        {
            SamplePair[] pairs = [.. Enumerable.Range(1, sizes)
                .Select(size => new SamplePair(noise.Window(samples, size * 1000), noise.Window(samples, size * 900)))];
            Interval interval = Bootstrap.OfSamples(pairs).At(0.95);
            held += interval.Low <= 0.9 && interval.High >= 0.9 ? 1 : 0;
        }

        Assert.InRange(held, times * 0.915, times * 0.98);
    }

    [Theory]
    [InlineData(6, 2)]
    [InlineData(10, 6)]
    [InlineData(12, 4)]
    public void Bend_is_found_where_a_row_begins_to_fall(int count, int from)
    {
        var bend =
            Bend.Of([.. Enumerable.Range(0, count).Select(i => 1000 * Math.Exp(-0.5 * Math.Max(0, i - from)) * (1 + (0.01 * (i % 2))))]);
        Assert.Equal(from, bend!.From);
        Assert.InRange(bend.Ratio, Math.Exp(-0.5 * (count - 1 - from)) * 0.97, Math.Exp(-0.5 * (count - 1 - from)) * 1.03);
        Assert.True(bend.P < 0.001, $"p {bend.P}");
    }

    [Fact]
    public void Bend_is_not_seen_in_a_level_row_more_often_than_its_level_says()
    {
        const int times = 2000;
        var noise = new NoisySamples(9, correlation: 0);
        int seen = Enumerable.Range(0, times).Count(_ => Bend.Of(noise.Window(10))!.P < 0.05);
        Assert.InRange(seen, 1, times * 0.06);
        Assert.Null(Bend.Of([1, 2, 3, 4, 5]));
        Assert.Null(Bend.Of([.. Enumerable.Repeat(7.0, 10)]));
    }

    [Fact]
    public void Interval_of_few_runs_is_wider_than_that_of_many()
    {
        double[] few = [0.00, 0.02, 0.04];
        double[] many = [.. Enumerable.Range(0, 30).Select(i => few[i % 3])];
        Interval ofFew = Bootstrap.OfRuns(few, [.. few.Select(v => v - 0.1)]).At(0.95);
        Interval ofMany = Bootstrap.OfRuns(many, [.. many.Select(v => v - 0.1)]).At(0.95);
        Assert.True(ofFew.High - ofFew.Low > 3 * (ofMany.High - ofMany.Low));
        Assert.InRange(Math.Exp(-0.1), ofMany.Low, ofMany.High);
    }

    /// <summary>Where seconds don't depend on each other no interval leaves what was measured, nor is it mirrored.</summary>
    [Fact]
    public void Intervals_of_percentiles_lie_where_the_seconds_do()
    {
        // Fifty seconds, every tenth of them a hundred times as slow.
        var seconds = new JoinedHistograms([.. Enumerable.Range(0, 50).Select(i => Of(i % 10 == 7 ? 10_000 : 100))]);
        RequireNear((100, 10_000), (seconds.Percentile(50), seconds.Percentile(95)));
        RequireNear((100, 10_000), PercentileBootstrap.Of(seconds, 92).At(0.95));
        RequireNear((100, 100), PercentileBootstrap.Of(seconds, 50).At(0.95));
        // Against seconds that are all alike only the one side moves.
        var steady = new JoinedHistograms([.. Enumerable.Range(0, 50).Select(_ => Of(100))]);
        RequireNear((1, 100), PercentileBootstrap.Of([new HistogramPair(steady, seconds)], 92).At(0.95));

        static LatencyHistogram Of(double microseconds)
        {
            var histogram = new LatencyHistogram();
            histogram.Record(microseconds);
            return histogram;
        }

        static void RequireNear((double, double) expected, object actual)
        {
            (double low, double high) = actual is Interval interval ? (interval.Low, interval.High) : ((double, double))actual;
            Assert.Equal((1.0, 1.0), (Math.Round(low / expected.Item1, 1), Math.Round(high / expected.Item2, 1)));
        }
    }

    [Fact]
    public void One_thing_alone_says_nothing_of_how_far_others_lie()
    {
        // From the least to the greatest of what was drawn; of more things the tails are as Student's t has them.
        Assert.Equal(
            new Interval(1, Math.Exp(10)), new Drawn([.. Enumerable.Range(0, 11).Select(i => (double)i)], 1).At(0.95));
        // With 5 things the share 0.025 is that of a normal value beyond sqrt(5/4) times t(4) = -3.1041: 0.000954.
        Interval five = new Drawn([.. Enumerable.Range(0, 10_001).Select(i => i / 10_000.0)], 5).At(0.95);
        Assert.Equal((0.000954, 1 - 0.000954), (Math.Round(Math.Log(five.Low), 6), Math.Round(Math.Log(five.High), 6)));
    }

    [Fact]
    public void Percentiles_of_joined_histograms_are_those_of_all_durations()
    {
        LatencyHistogram[] blocks = [new(), new()];
        for (int i = 1; i <= 1000; i++)
            blocks[i % 2].Record(i);
        var joined = new JoinedHistograms(blocks);
        Assert.InRange(joined.Percentile(50), 499.5, 500.5);
        Assert.InRange(joined.Percentile(99), 989, 991);
        var random = new RandomStream(1);
        Assert.InRange(joined.DrawPercentile(50, 1, ref random), 498, 502);
    }
}
