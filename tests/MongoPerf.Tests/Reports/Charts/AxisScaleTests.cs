using MongoPerf.Reports.Charts;

namespace MongoPerf.Tests.Reports.Charts;

public sealed class AxisScaleTests
{
    [Fact]
    public void Sizes_have_their_unit_at_the_ticks() =>
        Assert.Equal([new(0, "0"), new(5e8, "500 MB"), new(1e9, "1 GB"), new(1.5e9, "1.5 GB")], AxisScale.OfBytes(1.4e9, 3).Ticks);

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
        Assert.Equal(["0", "10k", "20k", "30k", "40k", "50k"], scale.Ticks.Select(static tick => tick.Text));
    }

    [Theory]
    [InlineData(0, "0", "1", "2")]
    [InlineData(2, "0", "1", "2", "3")]
    [InlineData(5, "0", "2", "4", "6")]
    [InlineData(48_000, "0", "20k", "40k", "60k")]
    public void An_axis_of_things_has_whole_numbers(double largest, params string[] texts) =>
        Assert.Equal(texts, AxisScale.OfWholeCount(largest, 4).Ticks.Select(static tick => tick.Text));

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
        Assert.InRange(AxisScale.OfCount(largest).Ticks.Count, 3, 12);

    [Theory]
    [InlineData(9, "seconds", "5", 5)]
    [InlineData(400, "minutes:seconds", "1:30", 90)]
    [InlineData(1800, "minutes", "5", 300)]
    [InlineData(7200, "hours:minutes", "1:30", 5400)]
    [InlineData(86_400, "hours", "6", 21600)]
    [InlineData(1_728_000, "days", "4", 345600)]
    public void Time_reads_in_the_unit_of_the_runs_length(double seconds, string unit, string text, double at)
    {
        var (scale, actual) = AxisScale.OfTime(seconds);

        Assert.Equal(unit, actual);
        Assert.Contains(new Tick(at, text), scale.Ticks);
    }

    [Fact]
    public void Latency_spans_whole_decades()
    {
        AxisScale scale = AxisScale.OfLatency(120, 45_000);

        Assert.True(scale.IsLogarithmic);
        Assert.Equal((100, 100_000), (scale.Min, scale.Max));
        Assert.Equal([new(100, "100 µs"), new(1000, "1 ms"), new(10_000, "10 ms"), new(100_000, "100 ms")], scale.Ticks);
    }

    [Theory]
    [InlineData(200, 300, new[] { "100 µs", "200 µs", "500 µs", "1 ms" })]
    [InlineData(200, 3000, new[] { "100 µs", "300 µs", "1 ms", "3 ms", "10 ms" })]
    public void Few_decades_have_ticks_between_them(double least, double largest, string[] ticks) =>
        Assert.Equal(ticks, AxisScale.OfLatency(least, largest).Ticks.Select(tick => tick.Text));

    [Fact]
    public void Latency_below_a_microsecond_is_within_its_axis()
    {
        AxisScale scale = AxisScale.OfLatency(0.4, 6);

        Assert.Equal((0.1, 10.0), (scale.Min, scale.Max));
        Assert.Equal("0.1 µs", scale.Ticks[0].Text);
    }

    [Fact]
    public void A_place_has_its_share_of_a_linear_a_logarithmic_and_an_inverted_axis()
    {
        Assert.Equal(0.25, new AxisScale(300, []) { Min = 100 }.Share(150));
        Assert.Equal(0.5, new AxisScale(10_000, []) { Min = 100, IsLogarithmic = true }.Share(1000), 9);
        Assert.Equal(0.75, new AxisScale(0, []) { Min = 4 }.Share(1));
    }
}
