using MongoPerf.Reporting.Charts;

namespace MongoPerf.Tests.Reporting.Charts;

public sealed class AxisScaleTests
{
    [Fact]
    public void Sizes_have_their_unit_at_the_ticks() =>
        Assert.Equal("(\"0\" 0, \"500 MB\" 500000000, \"1 GB\" 1000000000, \"1.5 GB\" 1500000000)", AxisScale.OfBytes(1.4e9, 3).Tics);

    [Theory]
    [InlineData(4_123_456, "4.1M")]
    [InlineData(96_700, "97k")]
    [InlineData(3.14, "3.1")]
    public void Interpolated_places_read_in_two_digits(double value, string expected) => Assert.Equal(expected, AxisScale.AboutText(value));

    [Fact]
    public void An_axis_of_rates_starts_at_0_and_ends_with_a_tick_above_the_largest()
    {
        var scale = AxisScale.OfCount(48_000);

        Assert.Equal(50_000, scale.Max);
        Assert.Equal("(\"0\" 0, \"10k\" 10000, \"20k\" 20000, \"30k\" 30000, \"40k\" 40000, \"50k\" 50000)", scale.Tics);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(double.NaN)]
    [InlineData(-1)]
    public void An_axis_of_nothing_still_has_a_length(double largest)
    {
        Assert.True(AxisScale.OfCount(largest).Max > 0);
        Assert.True(AxisScale.OfBytes(largest).Max > 0);
        Assert.True(AxisScale.OfDocuments(largest).Max > 0);
        Assert.True(AxisScale.OfTime(largest).Scale.Max > 0);
    }

    [Theory]
    [InlineData(0.003)]
    [InlineData(7)]
    [InlineData(123_456)]
    [InlineData(9.9e11)]
    public void An_axis_has_3_to_12_ticks_whatever_its_length(double largest) =>
        Assert.InRange(AxisScale.OfCount(largest).Tics.Count(static c => c == ',') + 1, 3, 12);

    [Theory]
    [InlineData(9, "seconds", "\"5\" 5")]
    [InlineData(400, "minutes:seconds", "\"1:30\" 90")]
    [InlineData(1800, "minutes", "\"5\" 300")]
    [InlineData(7200, "hours:minutes", "\"1:30\" 5400")]
    [InlineData(86_400, "hours", "\"6\" 21600")]
    [InlineData(1_728_000, "days", "\"4\" 345600")]
    public void Time_reads_in_the_unit_of_the_runs_length(double seconds, string unit, string tick)
    {
        var (scale, actual) = AxisScale.OfTime(seconds);

        Assert.Equal(unit, actual);
        Assert.Contains(tick, scale.Tics, StringComparison.Ordinal);
    }

    [Fact]
    public void Latency_spans_whole_decades()
    {
        var (min, scale) = AxisScale.OfLatency(120, 45_000);

        Assert.Equal(100, min);
        Assert.Equal("(\"100 µs\" 100, \"1 ms\" 1000, \"10 ms\" 10000, \"100 ms\" 100000)", scale.Tics);
    }

    [Fact]
    public void Bare_ticks_keep_their_places() => Assert.Equal("(\"\" 0, \"\" 1)", new AxisScale(1, "(\"0\" 0, \"1 ms\" 1)").BareTics);
}
