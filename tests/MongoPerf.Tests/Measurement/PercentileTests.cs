using MongoPerf.Measurement;

namespace MongoPerf.Tests.Measurement;

/// <summary>Percentiles by their names.</summary>
public sealed class PercentileTests
{
    [Theory]
    [InlineData("p5", 5)]
    [InlineData("p50", 50)]
    [InlineData("p75", 75)]
    [InlineData("p999", 99.9)]
    [InlineData("p9999", 99.99)]
    [InlineData("P995", 99.5)]
    [InlineData("p999999", 99.9999)]
    public void Digits_behind_the_second_are_decimals(string name, double percent)
    {
        Assert.True(Percentile.TryParse(name, out double read));
        Assert.Equal(percent, read);
    }

    [Theory]
    [InlineData("")]
    [InlineData("p")]
    [InlineData("p0")]
    [InlineData("p05")]
    [InlineData("p100")]
    [InlineData("p990")]
    [InlineData("p9999999")]
    [InlineData("p9.9")]
    [InlineData("99")]
    [InlineData("max")]
    public void Another_text_is_none(string name) => Assert.False(Percentile.TryParse(name, out _));
}
