using MongoPerf.Reporting.Charts;

namespace MongoPerf.Tests.Reporting.Charts;

public sealed class AxisScaleTests
{
    [Theory]
    [InlineData(0, "0")]
    [InlineData(999, "999")]
    [InlineData(2500, "2.5k")]
    [InlineData(10_000_000, "10M")]
    [InlineData(1_250_000_000, "1.25G")]
    public void Large_counts_read_with_a_suffix(double value, string expected) => Assert.Equal(expected, AxisScale.CountText(value));

    [Theory]
    [InlineData(0, "0")]
    [InlineData(512, "512 B")]
    [InlineData(268_435_456, "256 MiB")]
    [InlineData(1_610_612_736, "1.5 GiB")]
    public void Sizes_name_powers_of_1024(double bytes, string expected) => Assert.Equal(expected, AxisScale.BytesText(bytes));

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
    [InlineData(604_800, "days", "\"3\" 259200")]
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
