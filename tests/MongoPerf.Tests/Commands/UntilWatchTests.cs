using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

public sealed class UntilWatchTests
{
    [Fact]
    public void Measuring_ends_when_the_percentile_is_known_well_enough()
    {
        var watch = new UntilWatch(UntilReader.Parse("p50 ±3 %"), "q4");
        int seconds = Feed(watch, 600);
        Assert.True(watch.IsReached);
        Assert.InRange(seconds, 20, 300);
        Assert.Matches("^q4: p50 ±3 % asked for; known to ±[12](\\.[0-9]+)? % after [0-9]+ s$", watch.Describe());
    }

    [Fact]
    public void What_is_not_reached_in_time_is_said_with_how_long_it_would_take()
    {
        var watch = new UntilWatch(UntilReader.Parse("p99 +-0.5%"), "q4");
        Assert.Equal(40, Feed(watch, 40));
        Assert.False(watch.IsReached);
        Assert.Matches("^q4: p99 ±0.5 % asked for; known to ±[0-9.]+ % after 40 s: it would take about .* to get there \\(--duration\\)$",
            watch.Describe());
    }

    [Fact]
    public void The_warm_up_and_less_than_20_seconds_are_never_enough()
    {
        var watch = new UntilWatch(UntilReader.Parse("p50 ±50 %"), "q4");
        Assert.False(watch.Add([Second(1, 0) with { IsWarmup = true }]));
        Assert.Equal(20, Feed(watch, 600));
        Assert.Equal(
            "q4: p99 ±1 % asked for; its precision can't be determined: 0 s were measured after the warm-up; 20 s are needed (--duration)",
            new UntilWatch(UntilReader.Parse("p99 1%"), "q4").Describe());
    }

    /// <summary>Looks are rare; at the end there is one more.</summary>
    [Fact]
    public void What_turned_out_to_be_known_when_the_time_was_over_counts_as_reached()
    {
        var watch = new UntilWatch(UntilReader.Parse("p50 ±50 %"), "q4");
        Feed(watch, 19);
        Assert.Equal((false, false), (watch.IsReached, watch.IsKnown));
        var late = new UntilWatch(UntilReader.Parse("p50 ±3 %"), "q4");
        int needed = Feed(new UntilWatch(UntilReader.Parse("p50 ±3 %"), "q4"), 600);
        Feed(late, needed - 1);
        Assert.False(late.IsReached);
        Assert.Equal(late.IsKnown, !late.Describe().Contains("it would take", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("p99")]
    [InlineData("p0 ±2 %")]
    [InlineData("p990 ±2 %")]
    [InlineData("p1234567 ±2 %")]
    [InlineData("p99 ±0 %")]
    [InlineData("p99 ±60 %")]
    [InlineData("rate ±2 %")]
    public void Other_texts_are_refused(string text) => Assert.Throws<FormatException>(() => UntilReader.Parse(text));

    [Theory]
    [InlineData("p99 ±2 %", 99, 0.02)]
    [InlineData("p999 +/-10%", 99.9, 0.1)]
    [InlineData("p50 1.5 %", 50, 0.015)]
    [InlineData("p75 ±2 %", 75, 0.02)]
    [InlineData("p9999 ±5 %", 99.99, 0.05)]
    public void Texts_are_read(string text, double percent, double share)
    {
        Until until = UntilReader.Parse(text);
        Assert.Equal((percent, share), (until.Percent, Math.Round(until.Share, 10)));
    }

    /// <returns>After how many seconds it was enough.</returns>
    private static int Feed(UntilWatch watch, int most)
    {
        double[] levels = new NoisySamples(3).Window(most);
        var random = new RandomStream(4);
        for (int second = 1; second <= most; second++)
        {
            if (watch.Add([Second(levels[second - 1], random.Next(1000))]))
                return second;
        }

        return most;
    }

    private static Sample Second(double level, int shift)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 200; i++)
            histogram.Record((long)(level * Math.Exp(Math.Sin(i + shift))));
        return RunParts.Sample(1, "q4") with { IsWarmup = false, Histogram = HistogramEncoding.EncodeCompressed(histogram) };
    }
}
